//! Fullness of the last blocks and gas prices of their transactions.

use crate::archive::record::BlockRecord;
use rhizome_primitives::U256;
use std::collections::VecDeque;

/// Blocks over which the fullness is averaged.
const BLOCK_WINDOW: usize = 50;

/// Number of transactions whose prices are remembered.
const PRICE_WINDOW: usize = 512;

/// Average fullness from which a market for fees is assumed.
const FULLNESS_OF_MARKET: f64 = 0.9;

/// A window over the last blocks of the best chain.
#[derive(Default)]
pub(super) struct FeeMarket {
    fullness: VecDeque<f64>,
    prices: VecDeque<U256>,
}

impl FeeMarket {
    pub(super) fn add(&mut self, record: &BlockRecord) {
        let header = &record.block.header;
        let fullness = header.gas_used as f64 / f64::from(header.gas_limit_value());
        push(&mut self.fullness, fullness, BLOCK_WINDOW);
        let count = record.block.transactions.len();
        for (index, transaction) in record.block.transactions.iter().enumerate() {
            if index + 1 < count || !transaction.has_remasc_form() {
                push(&mut self.prices, transaction.gas_price(), PRICE_WINDOW);
            }
        }
    }

    /// The 25th percentile of the last prices, while the last 50 blocks were at least 90 percent full.
    pub(super) fn price(&self) -> Option<U256> {
        let is_market = self.fullness.len() == BLOCK_WINDOW
            && self.fullness.iter().sum::<f64>() / BLOCK_WINDOW as f64 >= FULLNESS_OF_MARKET;
        if !is_market || self.prices.len() < PRICE_WINDOW {
            return None;
        }
        let mut sorted: Vec<U256> = self.prices.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(PRICE_WINDOW / 4).copied()
    }
}

fn push<T>(window: &mut VecDeque<T>, value: T, size: usize) {
    if window.len() == size {
        window.pop_front();
    }
    window.push_back(value);
}
