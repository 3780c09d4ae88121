//! The changes of a state as changes of the trie.

use std::collections::BTreeSet;
use std::mem;
use std::ops::Range;

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::account::AccountState;
use rhizome_trie::{PriorValues, StateDelta, keys};

use super::account::{AccountRecord, Deletion, SlotRecord};
use super::code::Code;

#[derive(Default)]
struct Changes {
    writes: Vec<Write>,
    /// Values of the base.
    prior: Vec<u8>,
    /// Memory for the value of an account.
    scratch: Vec<u8>,
    wiped: BTreeSet<Vec<u8>>,
    /// Whether a record does not have the value of the base: of a deleted account, or the bytes of replaced code.
    lacks_base: bool,
}

struct Write {
    key: Vec<u8>,
    value: Option<Bytes>,
    /// Where the value of the base is.
    base: Range<usize>,
}

impl Changes {
    fn push(&mut self, key: Vec<u8>, value: Option<Bytes>, put_base: impl FnOnce(&mut Vec<u8>)) {
        let start = self.prior.len();
        put_base(&mut self.prior);
        self.writes.push(Write { key, value, base: start..self.prior.len() });
    }

    fn push_account(&mut self, key: Vec<u8>, current: Option<&AccountState>, base: Option<&AccountState>) {
        let value = current.map(|account| {
            self.scratch.clear();
            account.encode_to(&mut self.scratch);
            Bytes::copy_from_slice(&self.scratch)
        });
        self.push(key, value, |out| base.into_iter().for_each(|account| account.encode_to(out)));
    }
}

/// Returns the changes of all accounts against the base, and the values of the base; `None` if the records do not have all of them.
/// Takes keys and slots out of the records.
pub(super) fn collect(accounts: &mut [AccountRecord], slots: &mut [SlotRecord]) -> (StateDelta, Option<PriorValues>) {
    let mut changes = Changes::default();
    for account in accounts {
        account.collect_changes(slots, &mut changes);
    }
    let Changes { mut writes, wiped, lacks_base, prior, .. } = changes;
    writes.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    let places = || writes.iter().map(|write| write.base.clone()).collect();
    let prior = (!lacks_base).then(|| PriorValues::new(prior, places()));
    let writes = writes.into_iter().map(|write| (write.key, write.value)).collect();
    (StateDelta { wiped, writes }, prior)
}

impl AccountRecord {
    fn collect_changes(&mut self, slots: &mut [SlotRecord], changes: &mut Changes) {
        let deletion = self.parts.deletion;
        changes.lacks_base |= deletion != Deletion::None;
        // After `Deletion::Hiding` the trie may still have a value that the base of the record does not show.
        let counts = |is_written: bool, differs: bool| is_written && (differs || deletion == Deletion::Hiding);

        let mark = &self.parts.is_marked;
        if counts(mark.is_written, mark.current != mark.base) {
            let value = mark.current.then(|| Bytes::from_static(keys::MARK));
            let had_mark = mark.base;
            changes.push(keys::mark_key_of(self.key()), value, |out| {
                if had_mark {
                    out.extend_from_slice(keys::MARK);
                }
            });
        }
        let code = &self.parts.code;
        if counts(code.is_written, code.current.hash() != code.base.hash()) {
            let bytes = match &code.current {
                Code::Present { bytes: Some(bytes), .. } => Some(bytes.clone()).filter(|bytes| !bytes.is_empty()),
                Code::Present { .. } | Code::Absent => None,
            };
            changes.lacks_base |= code.base.hash().is_some();
            changes.push(keys::code_key_of(self.key()), bytes, |_no_value| ());
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
            changes.push(key, record.current.bytes(), |out| record.base.put(out));
        }
        if deletion == Deletion::Whole {
            changes.wiped.insert(self.key().to_vec());
        }
        let value = &self.parts.value;
        if counts(value.is_written, value.current != value.base) {
            let (current, base) = (value.current, value.base);
            changes.push_account(self.take_key(), current.as_ref(), base.as_ref());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use rhizome_primitives::{Address, I256, U256};
    use rhizome_trie::{MemoryNodes, StateReader, Trie};

    use super::super::State;
    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Balance(u8, u8),
        Nonce(u8),
        Slot(u8, u8, u8),
        RawSlot(u8, u8, Vec<u8>),
        Contract(u8, u8),
        Delete(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let account = || 0..4u8;
        let slot = || 0..3u8;
        let step = prop_oneof![
            4 => (account(), any::<u8>()).prop_map(|(account, amount)| Step::Balance(account, amount)),
            2 => account().prop_map(Step::Nonce),
            6 => (account(), slot(), 0..3u8).prop_map(|(account, slot, word)| Step::Slot(account, slot, word)),
            2 => (account(), slot(), proptest::collection::vec(0..2u8, 0..40))
                .prop_map(|(account, slot, bytes)| Step::RawSlot(account, slot, bytes)),
            1 => (account(), 1..3u8).prop_map(|(account, code)| Step::Contract(account, code)),
            1 => account().prop_map(Step::Delete),
        ];
        proptest::collection::vec(step, 0..16)
    }

    fn run(state: &mut State, steps: &[Step]) {
        let address = |account: &u8| Address::repeat_byte(account + 1);
        for step in steps {
            match step {
                Step::Balance(account, amount) => {
                    state.add_balance(address(account), I256::try_from(*amount).unwrap()).unwrap();
                }
                Step::Nonce(account) => state.increase_nonce(address(account)).unwrap(),
                Step::Slot(account, slot, word) => {
                    state.set_storage_word(address(account), U256::from(*slot), U256::from(*word)).unwrap();
                }
                Step::RawSlot(account, slot, bytes) => {
                    let bytes = Some(Bytes::copy_from_slice(bytes)).filter(|bytes| !bytes.is_empty());
                    state.set_storage_bytes(address(account), U256::from(*slot), bytes).unwrap();
                }
                Step::Contract(account, code) => {
                    state.setup_contract(address(account)).unwrap();
                    state.save_code(address(account), Bytes::copy_from_slice(&[*code; 40])).unwrap();
                }
                Step::Delete(account) => state.delete(address(account)).unwrap(),
            }
        }
    }

    proptest! {
        #[test]
        fn prior_values_are_those_of_the_base(before in steps(), after in steps()) {
            let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
            let mut state = State::new(Arc::new(trie.clone()));
            run(&mut state, &before);
            trie.apply(&state.into_delta()).unwrap();
            let mut state = State::new(Arc::new(trie.clone()));
            run(&mut state, &after);
            let (delta, prior_values) = state.into_changes();
            let has_deletion = after.iter().any(|step| matches!(step, Step::Delete(_)));
            let has_code = after.iter().any(|step| matches!(step, Step::Contract(..)));
            prop_assert!(prior_values.is_some() || has_deletion || has_code);
            let Some(prior_values) = prior_values else { return Ok(()) };
            let read: Vec<_> = delta.writes.keys().map(|key| StateReader::get(&trie, key).unwrap()).collect();
            let found: Vec<_> = prior_values.iter().map(|value| value.map(Bytes::copy_from_slice)).collect();
            prop_assert_eq!(found, read);
        }
    }
}
