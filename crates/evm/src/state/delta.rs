//! From the changed state to changes of the trie.

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
            account.collect_changes(&self.cells, &mut delta);
        }
        delta
    }
}

impl Account {
    fn collect_changes(&mut self, cells: &[Cell], delta: &mut StateDelta) {
        let deletion = self.parts.deletion;
        // Behind a deletion that hides, the trie keeps values that the slots know nothing about.
        let counts = |is_written: bool, differs: bool| is_written && (differs || deletion == Deletion::Hiding);

        let value = &self.parts.value;
        if counts(value.is_written, value.current != value.base) {
            let encoded = value.current.as_ref().map(|account| account.encode());
            delta.writes.insert(self.key().to_vec(), encoded);
        }
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
        let (slots, values): (Vec<B256>, Vec<_>) = (self.parts.cells.iter())
            .filter_map(|(slot, index)| Some((B256::from(*slot), index.of(cells)?)))
            .filter(|(_, cell)| counts(cell.is_written, cell.current != cell.base))
            .map(|(slot, cell)| (slot, cell.current.bytes()))
            .unzip();
        if !slots.is_empty() {
            delta.writes.extend(keys::storage_keys_of(self.key(), &slots).into_iter().zip(values));
        }
        if deletion == Deletion::Whole {
            delta.wiped.insert(self.key().to_vec());
        }
    }
}
