//! Where nodes come from.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use rhizome_primitives::{B256, Bytes};

pub use crate::error::SourceError;

/// TrieNode messages and long values, both by their Keccak hash.
pub trait NodeSource: Send + Sync {
    /// The bytes whose hash is `hash`, or None when the source does not have them.
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError>;
}

/// A source in memory, for tests and short-lived chains.
#[derive(Debug, Default)]
pub struct MemoryNodes {
    nodes: RwLock<HashMap<B256, Bytes>>,
}

impl MemoryNodes {
    /// Adds what a commit returned.
    pub fn insert(&self, committed: impl IntoIterator<Item = (B256, Bytes)>) {
        self.nodes.write().unwrap_or_else(PoisonError::into_inner).extend(committed);
    }

    /// Number of messages and values held.
    pub fn len(&self) -> usize {
        self.nodes.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// True when nothing was inserted yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl NodeSource for MemoryNodes {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        Ok(self.nodes.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned())
    }
}
