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

/// Fewer changes are made without reading ahead.
const LEAST_CHANGES: usize = 4;
/// Changes whose nodes one thread loads. Bounds the memory of messages that are not decoded yet.
const CHUNK_CHANGES: usize = 1024;

/// Consecutive walks that found nearly all nodes in memory, after which a trie makes changes without reading ahead, until they have to
/// load more than a few nodes. A walk takes a third of the time of the changes; a chain whose state fits into memory would never need
/// it.
const NEEDLESS_WALKS: u8 = 16;
/// A walk saves time if a node is loaded for fewer changes than this: one read takes the time of about 4 changes.
const CHANGES_PER_LOAD: usize = 4;

/// Reads ahead for the changes of a trie, while that finds enough nodes to load.
#[derive(Clone, Copy, Default)]
pub(crate) struct ReadAhead {
    /// Number of the last walks that found nearly all nodes in memory.
    needless_walks: u8,
    /// Number of the next lists of changes whose nodes were loaded together.
    loaded_lists: usize,
}

impl ReadAhead {
    /// Loads the nodes below `root` that `changes` (sorted by key, each key once) go through. Returns the number of nodes that were
    /// made from known values, without a read.
    pub(crate) fn load(
        &mut self,
        root: &Link,
        changes: &[Change<'_>],
        before: ValuesBefore<'_, '_>,
        source: &dyn NodeSource,
    ) -> Result<usize, TrieError> {
        if let Some(lists) = self.loaded_lists.checked_sub(1)
            && !changes.is_empty()
        {
            self.loaded_lists = lists;
            return Ok(0);
        }
        if changes.len() < LEAST_CHANGES || self.needless_walks >= NEEDLESS_WALKS {
            return Ok(0);
        }
        let loader = PathLoader { source, before, made: AtomicUsize::new(0), missing: AtomicUsize::new(0) };
        match changes.len() <= CHUNK_CHANGES {
            true => loader.load(root, changes)?,
            false => changes.par_chunks(CHUNK_CHANGES).try_for_each(|chunk| loader.load(root, chunk))?,
        }
        let is_needed = is_needed(loader.missing.into_inner(), changes);
        self.needless_walks = if is_needed { 0 } else { self.needless_walks + 1 };
        Ok(loader.made.into_inner())
    }

    /// Like [`ReadAhead::load`] for all changes of the next `lists` lists, for which it does nothing then.
    pub(crate) fn load_lists(
        &mut self,
        lists: usize,
        root: &Link,
        changes: &[Change<'_>],
        before: ValuesBefore<'_, '_>,
        source: &dyn NodeSource,
    ) -> Result<usize, TrieError> {
        self.loaded_lists = 0;
        let made = self.load(root, changes, before, source)?;
        self.loaded_lists = lists;
        Ok(made)
    }

    /// Notes the number of nodes that changes had to load.
    pub(crate) fn note_loads(&mut self, loads: usize, changes: &[Change<'_>]) {
        if is_needed(loads, changes) {
            self.needless_walks = 0;
        }
    }
}

/// Returns whether changes that load this number of nodes are made faster after a walk.
fn is_needed(loads: usize, changes: &[Change<'_>]) -> bool {
    loads.saturating_mul(CHANGES_PER_LOAD) > changes.len()
}

struct PathLoader<'s, 'v> {
    source: &'s dyn NodeSource,
    before: ValuesBefore<'s, 'v>,
    /// Number of nodes that were made from known values.
    made: AtomicUsize,
    /// Number of nodes that were not in memory.
    missing: AtomicUsize,
}

impl PathLoader<'_, '_> {
    fn load<'t>(&self, root: &'t Link, changes: &'t [Change<'t>]) -> Result<(), TrieError> {
        let mut walk = PathWalk::from(root, 0, changes);
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
