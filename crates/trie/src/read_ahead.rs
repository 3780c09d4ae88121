//! Loads the nodes that changes go through before they are made, level by level: a source finds many nodes at once faster than one
//! after another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use rhizome_primitives::keccak256_all;

use crate::error::TrieError;
use crate::node::{Link, TrieNode};
use crate::path::Path;
use crate::path_walk::{MissingNode, PathWalk};
use crate::source::{NodePosition, NodeSource};
use crate::update::Change;
use crate::value::ValuesBefore;

/// Changes whose nodes one thread loads. Bounds the memory of messages that are not decoded yet.
const CHUNK_CHANGES: usize = 1024;

/// Loads nodes from a source.
pub(crate) struct PathLoader<'s, 'v> {
    source: &'s dyn NodeSource,
    before: ValuesBefore<'s, 'v>,
    /// Number of nodes that were made from known values.
    made: AtomicUsize,
    /// Number of nodes that were not in memory.
    missing: AtomicUsize,
}

impl<'s, 'v> PathLoader<'s, 'v> {
    pub(crate) fn new(source: &'s dyn NodeSource, before: ValuesBefore<'s, 'v>) -> Self {
        Self { source, before, made: AtomicUsize::new(0), missing: AtomicUsize::new(0) }
    }

    /// Returns the source.
    pub(crate) fn source(&self) -> &'s dyn NodeSource {
        self.source
    }

    /// Returns the number of nodes that were not in memory.
    pub(crate) fn missing(&self) -> usize {
        self.missing.load(Ordering::Relaxed)
    }

    /// Returns the number of nodes that were made from known values, without a read.
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    /// Loads the nodes below `root` that any number of `changes` (sorted by key, each key once) go through.
    pub(crate) fn load_all(&self, root: &Link, changes: &[Change<'_>]) -> Result<(), TrieError> {
        match changes.len() <= CHUNK_CHANGES {
            true => self.load(root, 0, changes),
            false => changes.par_chunks(CHUNK_CHANGES).try_for_each(|chunk| self.load(root, 0, chunk)),
        }
    }

    /// Loads the nodes below `link` that `changes` (sorted by key, equal in the `at` key bits above the link) go through. Nodes in memory
    /// are loaded into the caches of the processor.
    pub(crate) fn load<'t>(&self, link: &'t Link, at: usize, changes: &'t [Change<'t>]) -> Result<(), TrieError> {
        let mut walk = PathWalk::from(link, at, changes);
        loop {
            let missing = walk.finish();
            if missing.is_empty() {
                return Ok(());
            }
            self.missing.fetch_add(missing.len(), Ordering::Relaxed);
            self.make_known_leaves(&missing);
            self.read(&missing)?;
            walk = PathWalk::resume(missing);
        }
    }

    /// Reads the nodes that are still not in memory.
    fn read(&self, missing: &[MissingNode<'_>]) -> Result<(), TrieError> {
        let missing: Vec<_> = missing.iter().filter(|node| node.stored.loaded().is_none()).collect();
        let wanted = missing.iter().map(|node| node.stored.wanted(NodePosition::below(&node.key, node.at)));
        let found = self.source.nodes(&wanted.collect::<Vec<_>>())?;
        for (node, found) in missing.iter().zip(found) {
            node.stored.fill(found)?;
        }
        Ok(())
    }

    /// Makes leaves from their keys and known values, which their hashes confirm.
    fn make_known_leaves(&self, missing: &[MissingNode<'_>]) {
        let leaf = |node: &MissingNode<'_>| {
            let [change] = node.changes else { return None };
            let value = (self.before)(change.key)?;
            Some(TrieNode::saved_leaf(Path::of(change.key, node.at, change.key.len() * 8), value.into()))
        };
        let leaves: Vec<_> = missing.iter().filter_map(|node| Some((node.stored, leaf(node)?))).collect();
        let messages: Vec<_> = leaves.iter().map(|(_, leaf)| leaf.message()).collect();
        for ((stored, leaf), hash) in leaves.into_iter().zip(keccak256_all(&messages)) {
            if hash == stored.hash() {
                leaf.set_hash(hash);
                stored.set(Arc::new(leaf));
                self.made.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
