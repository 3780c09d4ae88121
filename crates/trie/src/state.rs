//! Interface of a state: reads by trie key, and the delta that a block applies.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ops::{ControlFlow, Range};

use rhizome_primitives::{B256, Bytes, DecodeError, keccak256};

use crate::error::TrieError;
use crate::keys;
use crate::message::SHORT_VALUE_LIMIT;

/// Failure to read a state. The absence of a key is not a failure.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The trie could not be read.
    #[error(transparent)]
    Trie(#[from] TrieError),
    /// The value at an account key is not an account.
    #[error("the value at {} is not an account: {reason}", rhizome_primitives::hex::encode(.key))]
    Account {
        /// Key in the trie.
        key: Vec<u8>,
        /// Reason.
        reason: DecodeError,
    },
    /// The reader cannot list its keys.
    #[error("the keys of this state cannot be listed")]
    Unlisted,
    /// A reader that is not a trie failed.
    #[error("the state could not be read: {0}")]
    Reader(#[source] Box<dyn Error + Send + Sync>),
}

/// State as a map from full trie keys (see [`crate::keys`]) to values.
pub trait StateReader: Send + Sync {
    /// Returns the value at a key.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError>;

    /// Returns length and Keccak hash of the value at a key. Implementations override this if they have both without
    /// the value.
    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        Ok(self.get(key)?.map(|value| (value.len(), keccak256(&value))))
    }

    /// Visits each key that begins with `prefix` once, until `visit` breaks. Fails with [`StateError::Unlisted`] if
    /// the reader cannot list its keys.
    fn visit_keys(&self, _prefix: &[u8], _visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        Err(StateError::Unlisted)
    }
}

/// Changes between two states, by trie key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateDelta {
    /// Account keys to delete with everything below them, before any write. A key without a value deletes nothing, not
    /// even below it.
    pub wiped: BTreeSet<Vec<u8>>,
    /// New values; `None` or an empty value deletes the key.
    pub writes: BTreeMap<Vec<u8>, Option<Bytes>>,
}

/// Values in a state for the writes of a delta against it, in its order.
#[derive(Debug, Clone)]
pub struct PriorValues {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl PriorValues {
    /// Creates the values: `bytes` has them in any order, `places` says where each one is. An absent value is empty.
    pub fn new(bytes: Vec<u8>, places: Vec<Range<usize>>) -> Self {
        Self { bytes, places }
    }

    /// Iterates over the values; `None` if the key has none.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        let value = |place: &Range<usize>| self.bytes.get(place.clone()).filter(|value| !value.is_empty());
        self.places.iter().map(value)
    }
}

impl StateDelta {
    /// Replaces the deletion of whole accounts by that of their keys. `state` is the state before.
    pub fn delete_key_by_key(&mut self, state: &dyn StateReader) -> Result<(), StateError> {
        for account in std::mem::take(&mut self.wiped) {
            // As in the trie: an account without a value deletes nothing below its key.
            if state.get(&account)?.is_none() {
                continue;
            }
            state.visit_keys(&account, &mut |key| {
                self.writes.entry(key.to_vec()).or_insert(None);
                ControlFlow::Continue(())
            })?;
        }
        Ok(())
    }

    /// Prepares the deletion of accounts for [`StateDelta::delete_key_by_key`] in a fork, where the keys of the other chain cannot be
    /// listed: account, code and contract mark are deleted, and a mark hides the storage slots.
    pub fn hide_deleted(&mut self, state: &dyn StateReader) -> Result<(), StateError> {
        for account in &self.wiped {
            if state.get(account)?.is_none() {
                continue;
            }
            for key in [account.clone(), keys::code_key_of(account), keys::mark_key_of(account)] {
                self.writes.entry(key).or_insert(None);
            }
            self.writes.insert(keys::hiding_key_of(account), Some(Bytes::from_static(keys::MARK)));
        }
        Ok(())
    }

    /// Iterates over the new values that are stored by their Keccak hash.
    pub fn long_values(&self) -> impl Iterator<Item = (B256, Bytes)> {
        let values = self.writes.values().flatten();
        values.filter(|value| value.len() > SHORT_VALUE_LIMIT).map(|value| (keccak256(value), value.clone()))
    }

    /// Returns true if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.wiped.is_empty() && self.writes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{MemoryNodes, Trie};

    #[test]
    fn accounts_are_deleted_key_by_key() {
        let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
        for key in ["account", "account/code", "account/slot", "neighbour", "no account/slot"] {
            trie.put(key.as_bytes(), &[1; 40]).unwrap();
        }
        let wiped = ["account", "no account", "nothing"].map(|key| key.as_bytes().to_vec()).into();
        let writes = [(b"account/reborn".to_vec(), Some(Bytes::from_static(b"2")))].into();
        let whole = StateDelta { wiped, writes };
        let mut by_key = whole.clone();
        by_key.delete_key_by_key(&trie).unwrap();
        assert!(by_key.wiped.is_empty());
        assert_eq!(by_key.writes.len(), 4);
        let mut other = trie.clone();
        trie.apply(&whole).unwrap();
        other.apply(&by_key).unwrap();
        assert_eq!(trie.root_hash(), other.root_hash());
    }
}
