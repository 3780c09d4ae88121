//! `eth_feeHistory`, for tools that ask every chain. This chain has no base fee that is burnt: its place is taken by the
//! minimum gas price of a block, and what a transaction paid above it is its reward.

use crate::block_id::{BlockId, BlockRef};
use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_primitives::{Block, Receipt, U256};

/// Most blocks of one answer; more are cut off, as elsewhere.
const MOST_BLOCKS: u64 = 1024;
/// Most percentiles of one question.
const MOST_PERCENTILES: usize = 100;

/// Returns minimum gas prices, gas used ratios and rewards of the blocks up to the last one, oldest first. The price after
/// them is the price of the child on the main chain; without a child, the price of the last block.
///
/// Fails with -32602 for a count of zero and for percentiles that do not ascend from 0 to 100; with -32600 for an unknown
/// block.
pub fn answer(node: &Node, count: &U256, newest: &BlockId<'_>, percentiles: &[f64]) -> Answer {
    if count.is_zero() {
        return Err(RpcError::invalid_params("Invalid block count: at least 1 is expected"));
    }
    check_percentiles(percentiles)?;
    let count = usize::try_from(count.saturating_to::<u64>().min(MOST_BLOCKS)).map_err(RpcError::internal)?;
    let newest = newest.locate(node)?;
    let next = next_price(node, &newest)?;
    let (mut fees, mut oldest) = (Vec::with_capacity(count), 0);
    let mut current = Some(newest);
    while let Some(block) = current.take() {
        fees.push(Fees::of(node, &block, percentiles)?);
        oldest = block.block().header.number;
        if fees.len() < count {
            let parent = block.block().header.parent();
            current = parent.map(|parent| node.chain().block(&parent)).transpose()?.flatten().map(BlockRef::Mined);
        }
    }
    fees.reverse();
    Ok(written(oldest, &fees, &next, !percentiles.is_empty()))
}

/// Gas prices and gas use of a block.
struct Fees {
    minimum: U256,
    used_share: f64,
    rewards: Vec<U256>,
}

impl Fees {
    fn of(node: &Node, block: &BlockRef, percentiles: &[f64]) -> Result<Self, RpcError> {
        let header = &block.block().header;
        let limit: u64 = header.gas_limit_value().saturating_to();
        let rewards = match (percentiles.is_empty(), block) {
            (true, _) => Vec::new(),
            (false, BlockRef::Pending(pending)) => rewards(&pending.block, &pending.receipts, percentiles),
            (false, BlockRef::Mined(record)) => match node.chain().receipts(&record.hash)? {
                Some(receipts) => rewards(&record.block, &receipts, percentiles),
                None => rewards(&record.block, &[], percentiles),
            },
        };
        let used_share = if limit == 0 { 0.0 } else { header.gas_used as f64 / limit as f64 };
        Ok(Self { minimum: header.min_gas_price(), used_share, rewards })
    }
}

/// For each percentile of the gas used by ordinary transactions, in order of reward, the reward that is reached there.
fn rewards(block: &Block, receipts: &[Receipt], percentiles: &[f64]) -> Vec<U256> {
    let minimum = block.header.min_gas_price();
    let paying = block.transactions.iter().zip(receipts).filter(|(transaction, _)| transaction.is_signed());
    let mut paid: Vec<(U256, u64)> = paying
        .map(|(transaction, receipt)| (transaction.gas_price().saturating_sub(minimum), receipt.gas_used))
        .collect();
    paid.sort_unstable();
    let total = paid.iter().fold(0u64, |sum, (_, gas)| sum.saturating_add(*gas));
    let at = |percentile: &f64| {
        let threshold = (total as f64 * percentile / 100.0) as u64;
        let mut sum = 0u64;
        let reached = paid.iter().find(|(_, gas)| {
            sum = sum.saturating_add(*gas);
            sum >= threshold
        });
        reached.map_or(U256::ZERO, |(reward, _)| *reward)
    };
    percentiles.iter().map(at).collect()
}

/// The minimum gas price of the block after `newest`.
fn next_price(node: &Node, newest: &BlockRef) -> Result<U256, RpcError> {
    let own = newest.block().header.min_gas_price();
    let BlockRef::Mined(record) = newest else { return Ok(own) };
    let child = node.chain().main_block(record.number().saturating_add(1))?;
    let child = child.filter(|child| child.parent() == Some(record.hash));
    Ok(child.map_or(own, |child| child.block.header.min_gas_price()))
}

fn check_percentiles(percentiles: &[f64]) -> Result<(), RpcError> {
    if percentiles.len() > MOST_PERCENTILES {
        return Err(RpcError::invalid_params(format!("Invalid reward percentiles: more than {MOST_PERCENTILES}")));
    }
    let mut last = 0.0;
    for percentile in percentiles {
        if !(last..=100.0).contains(percentile) {
            let message = format!("Invalid reward percentile {percentile}: they rise from 0 to 100");
            return Err(RpcError::invalid_params(message));
        }
        last = *percentile;
    }
    Ok(())
}

fn written(oldest: u64, fees: &[Fees], next: &U256, has_rewards: bool) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(128 + 64 * fees.len());
    json.begin_object();
    json.key("oldestBlock").quantity(oldest);
    json.key("baseFeePerGas").begin_array();
    fees.iter().for_each(|block| json.quantity_wide(&block.minimum));
    json.quantity_wide(next);
    json.end_array();
    json.key("gasUsedRatio").begin_array();
    fees.iter().for_each(|block| json.raw(block.used_share.to_string().as_bytes()));
    json.end_array();
    if has_rewards {
        json.key("reward").begin_array();
        for block in fees {
            json.begin_array();
            block.rewards.iter().for_each(|reward| json.quantity_wide(reward));
            json.end_array();
        }
        json.end_array();
    }
    json.end_object();
    json.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_rise_from_0_to_100() {
        for good in [&[][..], &[0.0], &[100.0], &[0.0, 25.5, 25.5, 100.0]] {
            assert!(check_percentiles(good).is_ok(), "{good:?}");
        }
        for bad in [&[-1.0][..], &[100.1], &[50.0, 49.0], &[f64::NAN], &[0.0; 101]] {
            assert!(check_percentiles(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn shares_are_json_numbers() {
        let fees = |used_share| Fees { minimum: U256::from(7), used_share, rewards: vec![U256::ZERO] };
        let text = written(5, &[fees(0.0), fees(1e-7), fees(1.0)], &U256::from(8), true);
        let expected = r#"{"oldestBlock":"0x5","baseFeePerGas":["0x7","0x7","0x7","0x8"],"gasUsedRatio":[0,0.0000001,1],"reward":[["0x0"],["0x0"],["0x0"]]}"#;
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
