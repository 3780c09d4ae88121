//! Sources of stored nodes.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use rhizome_primitives::{B256, Bytes};

pub use crate::error::SourceError;
use crate::path::Path;
use crate::record::{SourceNode, WantedNode};

/// Source of node messages and long values.
pub trait NodeSource: Send + Sync {
    /// Returns the bytes with this Keccak hash; `None` if the source does not have them.
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError>;

    /// Returns a node; `None` if the source does not have it. Sources that find all nodes by hash ignore position and place.
    fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        Ok(self.get(&wanted.hash)?.map(SourceNode::from))
    }

    /// Returns several nodes, like [`NodeSource::node`]. In the order of their positions.
    fn nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, SourceError> {
        wanted.iter().map(|wanted| self.node(wanted)).collect()
    }

    /// Returns the messages of all nodes at a position and below it, and of few others: a range of rows costs less than as many rows one
    /// by one. Empty for a source that finds nodes by hash. `wanted`: hash of one of the nodes, which a failure names.
    fn nodes_below(&self, _position: NodePosition<'_>, _wanted: &B256) -> Result<Vec<Bytes>, SourceError> {
        Ok(Vec::new())
    }
}

/// Position of a node in the trie: the bits of its keys above it.
#[derive(Clone, Copy, Debug)]
pub struct NodePosition<'a> {
    /// A key that begins with these bits.
    key: &'a [u8],
    bits: usize,
}

impl<'a> NodePosition<'a> {
    /// The position of the root.
    pub const ROOT: NodePosition<'static> = NodePosition { key: &[], bits: 0 };

    /// Returns the position below the first `bits` bits of `key`.
    pub(crate) fn below(key: &'a [u8], bits: usize) -> Self {
        Self { key, bits }
    }

    /// Returns the position below all bits of `path`.
    pub(crate) fn below_path(path: &'a Path) -> Self {
        Self { key: path.bytes(), bits: path.len() }
    }

    /// Returns the bits, packed from the most significant bit, and the number of used bits of the last byte (0: all). Different
    /// for each position; the nodes of a small subtree are close together in the order of these bytes.
    pub fn row_key(self) -> Vec<u8> {
        let mut row_key = Vec::with_capacity(self.bits / 8 + 2);
        self.write_row_key(&mut row_key);
        row_key
    }

    /// Appends [`NodePosition::row_key`].
    pub(crate) fn write_row_key(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.key.get(..self.bits.div_ceil(8)).unwrap_or(self.key));
        let used = self.bits % 8;
        if used != 0
            && let Some(last) = out.last_mut()
        {
            *last &= 0xff << (8 - used);
        }
        // Below 8.
        out.push(used as u8);
    }

    /// Returns the range of [`NodePosition::row_key`] that this position and all below it have, with some positions above: its start,
    /// and its end, which is not included. No end: all from the start on.
    pub fn row_keys_below(self) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut start = self.row_key();
        let used = start.pop().unwrap_or_default();
        let mut end = start.clone();
        // The largest byte that begins with the used bits.
        if used != 0
            && let Some(last) = end.last_mut()
        {
            *last |= 0xff >> used;
        }
        while end.pop_if(|last| *last == 0xff).is_some() {}
        match end.last_mut() {
            Some(last) => *last += 1,
            None => return (start, None),
        }
        (start, Some(end))
    }
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
