//! The changes of a state as changes of the trie.

use std::mem;

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{StateDelta, keys};

use super::account::{AccountRecord, Deletion, SlotRecord};
use super::code::Code;

/// Returns the changes of all accounts against the base. Takes keys and slots out of the records.
pub(super) fn collect(accounts: &mut [AccountRecord], slots: &mut [SlotRecord]) -> StateDelta {
    let mut delta = StateDelta::default();
    for account in accounts {
        account.collect_changes(slots, &mut delta);
    }
    delta
}

impl AccountRecord {
    fn collect_changes(&mut self, slots: &mut [SlotRecord], delta: &mut StateDelta) {
        let deletion = self.parts.deletion;
        // After `Deletion::Hiding` the trie may still have a value that the base of the record does not show.
        let counts = |is_written: bool, differs: bool| is_written && (differs || deletion == Deletion::Hiding);

        let mark = &self.parts.is_marked;
        if counts(mark.is_written, mark.current != mark.base) {
            let value = mark.current.then(|| Bytes::from_static(keys::MARK));
            delta.writes.insert(keys::mark_key_of(self.key()), value);
        }
        let code = &self.parts.code;
        if counts(code.is_written, code.current.hash() != code.base.hash()) {
            let bytes = match &code.current {
                Code::Present { bytes: Some(bytes), .. } => Some(bytes.clone()).filter(|bytes| !bytes.is_empty()),
                Code::Present { .. } | Code::Absent => None,
            };
            delta.writes.insert(keys::code_key_of(self.key()), bytes);
        }
        // A slot that was created after a deletion has an absent base, so the comparison holds for it as well.
        for (slot, index) in mem::take(&mut self.parts.slots) {
            let Some(record) = slots.get_mut(index.position()) else { continue };
            if !counts(record.is_written, record.current != record.base) {
                continue;
            }
            let key = match record.key.is_empty() {
                true => keys::storage_key_of(self.key(), &B256::from(slot)),
                false => mem::take(&mut record.key),
            };
            delta.writes.insert(key, record.current.bytes());
        }
        if deletion == Deletion::Whole {
            delta.wiped.insert(self.key().to_vec());
        }
        let value = &self.parts.value;
        if counts(value.is_written, value.current != value.base) {
            let encoded = value.current.as_ref().map(|account| account.encode());
            delta.writes.insert(self.take_key(), encoded);
        }
    }
}
