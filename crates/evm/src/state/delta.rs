//! From the changed state to changes of the trie.

use std::mem;

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{StateDelta, keys};

use super::State;
use super::account::{Account, Cell, Deletion};
use super::code::Code;

impl State {
    /// What changed against the reader, in trie keys. Values that are the same again are left out.
    pub fn into_delta(mut self) -> StateDelta {
        let mut delta = StateDelta::default();
        for account in &mut self.accounts {
            account.collect_changes(&mut self.cells, &mut delta);
        }
        delta
    }
}

impl Account {
    fn collect_changes(&mut self, cells: &mut [Cell], delta: &mut StateDelta) {
        let deletion = self.parts.deletion;
        // Behind a deletion that hides, the trie keeps values that the slots know nothing about.
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
        // Cells made after a deletion have an absent base, so that the comparison holds for them as well.
        for (slot, index) in mem::take(&mut self.parts.cells) {
            let Some(cell) = index.of(cells).filter(|cell| counts(cell.is_written, cell.current != cell.base)) else {
                continue;
            };
            let key = match cell.key.is_empty() {
                true => keys::storage_key_of(self.key(), &B256::from(slot)),
                false => mem::take(&mut cell.key),
            };
            delta.writes.insert(key, cell.current.bytes());
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
