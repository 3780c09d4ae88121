//! Peg-outs that wait for confirmations (docs/spec/bridge.md, 3.3.5).

use super::access::{SlotAccess, decode_elements};
use super::keys::{CONFIRMATIONS_WITH_HASH, SlotKey};
use super::slot::SlotEncoding;
use crate::display_order::display_id;
use crate::error::Result;
use rhizome_bitcoin::BitcoinTransaction;
use rhizome_primitives::{B256, Rule, rlp};

/// A transaction of the Bridge that is not confirmed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitingPegOut {
    pub(crate) transaction: BitcoinTransaction,
    /// Display order.
    pub(crate) txid: B256,
    /// RSK height.
    pub(crate) creation_height: u64,
    /// The RSK transaction that created it, since RSKIP-146.
    pub(crate) hash: Option<B256>,
}

/// The transactions of both slots: without hash, with hash (since RSKIP-146), then the entries that the call has
/// added. Each slot is sorted by the bytes of the transactions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WaitingForConfirmations {
    entries: Vec<WaitingPegOut>,
    stored: [usize; 2],
}

impl WaitingForConfirmations {
    pub(crate) fn entries(&self) -> &[WaitingPegOut] {
        &self.entries
    }

    /// Returns the numbers of entries that were read without hash and with hash. They come first.
    pub(crate) fn stored(&self) -> [usize; 2] {
        self.stored
    }

    /// Adds a transaction, unless it waits already.
    pub(crate) fn add(&mut self, transaction: BitcoinTransaction, creation_height: u64, hash: Option<B256>) {
        let txid = display_id(&transaction);
        if self.entries.iter().all(|entry| entry.txid != txid) {
            self.entries.push(WaitingPegOut { transaction, txid, creation_height, hash });
        }
    }

    /// Removes the entry at a position. `position` must be below the number of entries.
    pub(crate) fn remove(&mut self, position: usize) -> WaitingPegOut {
        let [without_hash, with_hash] = &mut self.stored;
        if position < *without_hash {
            *without_hash -= 1;
        } else if position < *without_hash + *with_hash {
            *with_hash -= 1;
        }
        self.entries.remove(position)
    }

    /// Encodes either the entries with hash or the entries without hash.
    pub(crate) fn encode(&self, has_hashes: bool) -> Vec<u8> {
        let entries = self.entries.iter().filter(|entry| entry.hash.is_some() == has_hashes);
        let mut sorted: Vec<_> = entries.map(|entry| (entry.transaction.serialize(), entry)).collect();
        sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut items = Vec::new();
        for (transaction, entry) in sorted {
            rlp::put_bytes(&mut items, &transaction);
            rlp::put_u64(&mut items, entry.creation_height);
            if let Some(hash) = &entry.hash {
                rlp::put_bytes(&mut items, hash.as_slice());
            }
        }
        rlp::list(&items)
    }
}

impl SlotEncoding for WaitingForConfirmations {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        let mut entries = load_entries(slots, key, false)?;
        let without_hash = entries.len();
        if slots.has(Rule::Rskip146) {
            entries.extend(load_entries(slots, &CONFIRMATIONS_WITH_HASH, true)?);
        }
        let stored = [without_hash, entries.len() - without_hash];
        Ok(Self { entries, stored })
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        slots.write(key, self.encode(false))?;
        if slots.has(Rule::Rskip146) {
            slots.write(&CONFIRMATIONS_WITH_HASH, self.encode(true))?;
        }
        Ok(())
    }
}

fn load_entries(slots: &mut SlotAccess<'_>, key: &SlotKey, has_hashes: bool) -> Result<Vec<WaitingPegOut>> {
    Ok(slots.decoded(&key.word(), |bytes| decode(bytes, has_hashes))?.unwrap_or_default())
}

fn decode(bytes: &[u8], has_hashes: bool) -> Option<Vec<WaitingPegOut>> {
    let items = decode_elements(bytes)?;
    let entry = |items: &[rlp::Item<'_>]| {
        let (transaction, height, hash) = match items {
            [transaction, height] if !has_hashes => (transaction, height, None),
            [transaction, height, hash] if has_hashes => {
                (transaction, height, Some(B256::try_from(hash.bytes()).ok()?))
            }
            _ => return None,
        };
        let transaction = BitcoinTransaction::parse(transaction.bytes()).ok()?;
        let txid = display_id(&transaction);
        let creation_height = rlp::read_u64(height.bytes(), u64::MAX, "height").ok()?;
        Some(WaitingPegOut { transaction, txid, creation_height, hash })
    };
    items.chunks(if has_hashes { 3 } else { 2 }).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(lock_time: u32) -> BitcoinTransaction {
        let plain = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        BitcoinTransaction { lock_time, ..BitcoinTransaction::parse(&plain).unwrap() }
    }

    #[test]
    fn slots_survive_a_round_trip() {
        let mut waiting = WaitingForConfirmations::default();
        waiting.add(transaction(2), 7, None);
        waiting.add(transaction(1), 8, Some(B256::repeat_byte(3)));
        waiting.add(transaction(1), 9, None);
        waiting.add(transaction(0), 9, Some(B256::repeat_byte(4)));
        let heights = |bytes: &[u8], has_hashes| -> Vec<u64> {
            decode(bytes, has_hashes).unwrap().iter().map(|entry| entry.creation_height).collect()
        };
        assert_eq!(heights(&waiting.encode(false), false), [7]);
        assert_eq!(heights(&waiting.encode(true), true), [9, 8]);
        assert_eq!(decode(&waiting.encode(true), false), None);
        assert_eq!(decode(&[0xc0], true), Some(vec![]));
    }
}
