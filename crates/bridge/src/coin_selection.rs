//! Selection of coins (docs/spec/bridge.md, 7.5.5).

use crate::slots::coins::Coin;
use std::collections::HashSet;
use std::rc::Rc;

/// Satoshis of all bitcoins.
const MAX_MONEY: i64 = 21_000_000 * 100_000_000;
/// Number of confirmations that a coin of a coinbase transaction needs.
const COINBASE_DEPTH: i32 = 100;

/// The coins that a transaction may spend.
pub(crate) struct SpendableCoins {
    /// In the order of the stored list.
    listed: Vec<Rc<Coin>>,
    /// The same coins, by outpoint.
    sorted: Vec<Rc<Coin>>,
}

/// Coins that reach an amount, or all coins if they do not.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub(crate) coins: &'a [Rc<Coin>],
    /// Sum of the coins.
    pub(crate) satoshis: i64,
}

impl SpendableCoins {
    pub(crate) fn new<'a>(coins: impl IntoIterator<Item = &'a Coin>) -> Self {
        let listed: Vec<_> = coins.into_iter().filter(|coin| is_mature(coin)).cloned().map(Rc::new).collect();
        let mut sorted = listed.clone();
        // The reference compares indexes as signed numbers.
        sorted.sort_by_key(|coin| (coin.txid, coin.index as i32));
        Self { listed, sorted }
    }

    /// Returns the sum of the coins, in satoshis.
    pub(crate) fn balance(&self) -> i64 {
        self.select_all().satoshis
    }

    /// Selects all coins, in the order of the stored list.
    pub(crate) fn select_all(&self) -> Selection<'_> {
        self.select(MAX_MONEY)
    }

    /// Selects the coins with the lowest outpoints until they reach `target` satoshis.
    pub(crate) fn select(&self, target: i64) -> Selection<'_> {
        // Without a sort for the sum of all bitcoins, the target that stands for all coins.
        let candidates = if target == MAX_MONEY { &self.listed } else { &self.sorted };
        let (mut count, mut satoshis) = (0, 0_i64);
        for coin in candidates {
            if satoshis >= target {
                break;
            }
            count += 1;
            satoshis = satoshis.wrapping_add(coin.satoshis);
        }
        Selection { coins: &candidates[..count], satoshis }
    }

    /// Removes spent coins.
    pub(crate) fn remove(&mut self, spent: &HashSet<([u8; 32], u32)>) {
        let is_unspent = |coin: &Rc<Coin>| !spent.contains(&(coin.txid.0, coin.index));
        self.listed.retain(is_unspent);
        self.sorted.retain(is_unspent);
    }
}

/// Returns false for coins of coinbase transactions: their depth below the highest possible block overflows, for the
/// stored height is always 0.
fn is_mature(coin: &Coin) -> bool {
    !coin.is_coinbase || i32::MAX.wrapping_sub(coin.height).wrapping_add(1) >= COINBASE_DEPTH
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::B256;

    fn coin(txid: u8, index: u32, satoshis: i64) -> Coin {
        let txid = B256::repeat_byte(txid);
        Coin { satoshis, script: vec![], txid, index, height: 0, is_coinbase: false }
    }

    fn outpoints(selection: Selection<'_>) -> Vec<(u8, u32)> {
        selection.coins.iter().map(|coin| (coin.txid[0], coin.index)).collect()
    }

    #[test]
    fn coins_with_low_outpoints_come_first() {
        let coins = SpendableCoins::new(&[coin(9, 0, 5), coin(1, u32::MAX, 7), coin(1, 2, 3), coin(0x80, 0, 1)]);
        assert_eq!(outpoints(coins.select(8)), [(1, u32::MAX), (1, 2)]);
        assert_eq!(outpoints(coins.select(0)), []);
        assert_eq!((coins.select(17).satoshis, coins.select(17).coins.len()), (16, 4));
        assert_eq!(outpoints(coins.select_all()), [(9, 0), (1, u32::MAX), (1, 2), (0x80, 0)]);
    }

    #[test]
    fn coinbase_coins_are_invisible() {
        let coins = [Coin { is_coinbase: true, ..coin(1, 0, 7) }, coin(1, 1, 3)];
        assert_eq!(SpendableCoins::new(&coins).balance(), 3);
    }

    #[test]
    fn spent_coins_are_removed() {
        let mut coins = SpendableCoins::new(&[coin(1, 0, 5), coin(1, 1, 7)]);
        coins.remove(&HashSet::from([([1; 32], 0)]));
        assert_eq!((coins.balance(), coins.select(9).coins.len()), (7, 1));
    }
}
