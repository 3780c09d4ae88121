//! What others read from a state and what they want to change in it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ops::ControlFlow;

use rhizome_primitives::{B256, Bytes, DecodeError, keccak256};

use crate::error::TrieError;
use crate::trie::Trie;

/// Reading a state failed. Absent keys are not failures.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The trie could not be read.
    #[error(transparent)]
    Trie(#[from] TrieError),
    /// An account key holds something else than an account.
    #[error("the value at {} is not an account: {reason}", rhizome_primitives::hex::encode(.key))]
    Account {
        /// The trie key.
        key: Vec<u8>,
        /// What is wrong with the value.
        reason: DecodeError,
    },
    /// The keys of this reader cannot be listed.
    #[error("the keys of this state cannot be listed")]
    Unlisted,
    /// A reader that is not a trie failed.
    #[error("the state could not be read: {0}")]
    Reader(#[source] Box<dyn Error + Send + Sync>),
}

/// A state as a map from full trie keys (see [`crate::keys`]) to values.
pub trait StateReader: Send + Sync {
    /// The value at a key.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError>;

    /// Length in bytes and Keccak of the value at a key. Readers that know them without the bytes say so.
    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        Ok(self.get(key)?.map(|value| (value.len(), keccak256(&value))))
    }

    /// Shows each key that begins with `prefix` once, until `visit` has seen enough. Readers that cannot list theirs
    /// refuse.
    fn visit_keys(&self, _prefix: &[u8], _visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        Err(StateError::Unlisted)
    }
}

impl StateReader for Trie {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        Ok(Trie::get(self, key)?)
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        Ok(self.value_length_and_hash(key)?)
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        for key in self.entries_under(prefix).keys() {
            if visit(&key?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// The changes between two states, in terms of trie keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateDelta {
    /// Account keys whose account is deleted with everything below it, before any write.
    /// A key without a value deletes nothing, not even what lies below it.
    pub wiped: BTreeSet<Vec<u8>>,
    /// New values; none or an empty one deletes the key.
    pub writes: BTreeMap<Vec<u8>, Option<Bytes>>,
}

impl StateDelta {
    /// True when nothing changes.
    pub fn is_empty(&self) -> bool {
        self.wiped.is_empty() && self.writes.is_empty()
    }
}
