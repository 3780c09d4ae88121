//! Transactions that wait for signatures (docs/spec/bridge.md, 3.3.7).

use super::access::{SlotAccess, decode_elements};
use super::keys::SlotKey;
use super::slot::SlotEncoding;
use crate::error::Result;
use rhizome_bitcoin::BitcoinTransaction;
use rhizome_primitives::{B256, rlp};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A hash that is compared from its last byte to its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastByteFirst(pub(crate) B256);

impl Ord for LastByteFirst {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for LastByteFirst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The transactions by the RSK transactions that they belong to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WaitingForSignatures(pub(crate) BTreeMap<LastByteFirst, BitcoinTransaction>);

impl WaitingForSignatures {
    pub(crate) fn contains(&self, hash: &B256) -> bool {
        self.0.contains_key(&LastByteFirst(*hash))
    }

    pub(crate) fn get_mut(&mut self, hash: &B256) -> Option<&mut BitcoinTransaction> {
        self.0.get_mut(&LastByteFirst(*hash))
    }

    pub(crate) fn insert(&mut self, hash: B256, transaction: BitcoinTransaction) {
        self.0.insert(LastByteFirst(hash), transaction);
    }

    pub(crate) fn remove(&mut self, hash: &B256) -> Option<BitcoinTransaction> {
        self.0.remove(&LastByteFirst(*hash))
    }

    /// Returns the map as a flat RLP list of hashes and transactions.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut items = Vec::new();
        for (hash, transaction) in &self.0 {
            rlp::put_bytes(&mut items, hash.0.as_slice());
            rlp::put_bytes(&mut items, &transaction.serialize());
        }
        rlp::list(&items)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let items = decode_elements(bytes)?;
        let (pairs, rest) = items.as_chunks::<2>();
        let entry = |[hash, transaction]: &[rlp::Item<'_>; 2]| {
            let hash = LastByteFirst(B256::try_from(hash.bytes()).ok()?);
            Some((hash, BitcoinTransaction::parse(transaction.bytes()).ok()?))
        };
        let entries = pairs.iter().map(entry).collect::<Option<_>>()?;
        rest.is_empty().then_some(Self(entries))
    }
}

impl SlotEncoding for WaitingForSignatures {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        Ok(slots.decoded(&key.word(), Self::decode)?.unwrap_or_default())
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        slots.write(key, self.encode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_sorted_from_their_last_byte() {
        let transaction = BitcoinTransaction::parse(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let (mut low, mut high) = (B256::ZERO, B256::ZERO);
        (low.0[0], low.0[31]) = (9, 1);
        (high.0[0], high.0[31]) = (1, 2);
        let mut waiting = WaitingForSignatures::default();
        waiting.insert(high, transaction.clone());
        waiting.insert(low, transaction.clone());
        let order: Vec<_> = waiting.0.keys().map(|hash| hash.0).collect();
        assert_eq!(order, [low, high]);
        assert_eq!(WaitingForSignatures::decode(&waiting.encode()), Some(waiting.clone()));
        assert_eq!(waiting.remove(&low), Some(transaction));
        assert!(!waiting.contains(&low) && waiting.get_mut(&high).is_some());
    }
}
