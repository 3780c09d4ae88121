//! State root in the format before RSKIP-107, computed from a unitrie (docs/spec/state.md, 2.3). Consensus requires it
//! for one genesis block only; for other blocks it is a cross-check.

use std::collections::BTreeMap;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, DecodeError, EMPTY_CODE_HASH, EMPTY_ROOT, I256, keccak256, rlp};

use crate::account::AccountState;
use crate::keys::{KeyPart, StateKey};
use crate::source::MemoryNodes;
use crate::state::StateError;
use crate::trie::Trie;
use crate::update::{Action, Change, build};
use crate::value::NodeValue;

/// Returns the state root in the old format. Reads the whole state.
pub fn orchid_state_root(state: &Trie) -> Result<B256, StateError> {
    let mut accounts = BTreeMap::new();
    let mut current: Option<OrchidAccount> = None;
    for entry in state.entries() {
        let (key, value) = entry?;
        let Some(StateKey { address, part }) = StateKey::parse(&key) else { continue };
        // The key of an account directly precedes those of its parts. Parts without an account are ignored.
        if part == KeyPart::Account {
            if let Some(done) = current.take() {
                accounts.insert(keccak256(&done.address), done.encode()?);
            }
            let reason = |reason| StateError::Account { key: key.clone(), reason };
            let account = AccountState::decode(&value).map_err(reason)?;
            current = Some(OrchidAccount::new(address, account));
        } else if let Some(account) = current.as_mut().filter(|account| account.address == address) {
            match part {
                KeyPart::Code => account.code_hash = keccak256(&value),
                KeyPart::Slot(slot) => _ = account.slots.insert(keccak256(slot), value),
                KeyPart::Account | KeyPart::Mark => {}
            }
        }
    }
    if let Some(done) = current {
        accounts.insert(keccak256(&done.address), done.encode()?);
    }
    secure_root(&accounts)
}

struct OrchidAccount {
    address: Vec<u8>,
    account: AccountState,
    code_hash: B256,
    /// Values by the hash of the slot number.
    slots: BTreeMap<B256, Bytes>,
}

impl OrchidAccount {
    fn new(address: &[u8], account: AccountState) -> OrchidAccount {
        OrchidAccount { address: address.to_vec(), account, code_hash: EMPTY_CODE_HASH, slots: BTreeMap::new() }
    }

    /// RLP encoding of nonce, balance, storage root and code hash, with unsigned numbers.
    fn encode(&self) -> Result<Bytes, StateError> {
        if self.account.balance < I256::ZERO {
            let key = crate::keys::account_key(&self.address);
            return Err(StateError::Account { key, reason: DecodeError::Negative("balance") });
        }
        let mut elements = Vec::with_capacity(132);
        rlp::put_value(&mut elements, &self.account.nonce);
        rlp::put_value(&mut elements, &self.account.balance.into_raw());
        rlp::put_bytes(&mut elements, secure_root(&self.slots)?.as_slice());
        rlp::put_bytes(&mut elements, self.code_hash.as_slice());
        Ok(rlp::list(&elements).into())
    }
}

fn secure_root(entries: &BTreeMap<B256, Bytes>) -> Result<B256, StateError> {
    if entries.is_empty() {
        return Ok(EMPTY_ROOT);
    }
    let mut puts = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        puts.push(Change::new(key.as_slice(), Action::Put(NodeValue::new(value)?)));
    }
    let trie = Trie::with_root(build(&puts), Arc::new(MemoryNodes::default()), puts.len());
    Ok(trie.orchid_root(true)?)
}
