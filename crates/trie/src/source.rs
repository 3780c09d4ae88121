//! Sources of stored nodes.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use rhizome_primitives::{B256, Bytes};

pub use crate::error::SourceError;

/// Source of node messages and long values, both by their Keccak hash.
pub trait NodeSource: Send + Sync {
    /// Returns the bytes with this hash; `None` if the source does not have them.
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError>;
}

/// Source in memory, for tests and short-lived chains.
#[derive(Debug, Default)]
pub struct MemoryNodes {
    nodes: RwLock<HashMap<B256, Bytes>>,
}

impl MemoryNodes {
    /// Adds the nodes of a commit.
    pub fn insert(&self, committed: impl IntoIterator<Item = (B256, Bytes)>) {
        self.nodes.write().unwrap_or_else(PoisonError::into_inner).extend(committed);
    }

    /// Returns the number of messages and values.
    pub fn len(&self) -> usize {
        self.nodes.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns true if nothing was inserted yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl NodeSource for MemoryNodes {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        Ok(self.nodes.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned())
    }
}
