//! The map of processed Bitcoin transactions (docs/spec/bridge.md, 3.3.6).

use super::access::{SlotAccess, decode_elements};
use super::keys::SlotKey;
use super::slot::SlotEncoding;
use crate::error::Result;
use rhizome_primitives::rlp;

/// Processed Bitcoin transactions until RSKIP-134: ids in display order and RSK heights.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessedTransactions(Vec<([u8; 32], u64)>);

impl ProcessedTransactions {
    pub(crate) fn height(&self, id: &[u8; 32]) -> Option<u64> {
        self.0.iter().find(|(known, _)| known == id).map(|(_, height)| *height)
    }

    pub(crate) fn insert(&mut self, id: [u8; 32], height: u64) {
        self.0.retain(|(known, _)| *known != id);
        self.0.push((id, height));
    }

    /// The order of the entries compares ids from their last byte to their first.
    fn encode(&self) -> Vec<u8> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(|(a, _), (b, _)| a.iter().rev().cmp(b.iter().rev()));
        let mut items = Vec::new();
        for (id, height) in &sorted {
            rlp::put_bytes(&mut items, id);
            rlp::put_u64(&mut items, *height);
        }
        rlp::list(&items)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let items = decode_elements(bytes)?;
        let (pairs, rest) = items.as_chunks::<2>();
        let entry = |[id, height]: &[rlp::Item<'_>; 2]| {
            Some((id.bytes().try_into().ok()?, rlp::read_u64(height.bytes(), u64::MAX, "height").ok()?))
        };
        let entries = pairs.iter().map(entry).collect::<Option<_>>()?;
        rest.is_empty().then_some(Self(entries))
    }
}

impl SlotEncoding for ProcessedTransactions {
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
    fn processed_transactions_survive_a_round_trip() {
        let (mut low, mut high) = ([0; 32], [0; 32]);
        (low[0], low[31]) = (9, 1);
        (high[0], high[31]) = (1, 2);
        let decode = ProcessedTransactions::decode;
        let encoded = ProcessedTransactions(vec![(high, 7), (low, 0)]).encode();
        assert_eq!(decode(&encoded), Some(ProcessedTransactions(vec![(low, 0), (high, 7)])));
        assert_eq!(decode(&[0xc0]), Some(ProcessedTransactions(vec![])));
        assert_eq!(decode(&[0xc1, 5]), None);
        assert_eq!(decode(&[0x80]), None);
    }
}
