//! Applies many sorted changes in one descent: each node on the path is changed once, in place unless another version
//! of the trie shares it.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::cache_lines::SUBTREE_CHANGES;
use crate::error::TrieError;
use crate::hashing::HashLevels;
use crate::node::{Link, TrieNode};
use crate::node_batch::NodeBatch;
use crate::path::{Path, bit, common_bits};
use crate::read_ahead::PathLoader;
use crate::source::{NodePosition, NodeSource};
use crate::value::NodeValue;

/// Change of one key.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Put(NodeValue),
    Delete,
    /// Deletes the key and everything below it, if the key has a value.
    Wipe,
}

/// A key with its change.
#[derive(Clone, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) action: Action,
}

impl<'a> Change<'a> {
    pub(crate) fn new(key: &'a [u8], action: Action) -> Self {
        Self { key, action }
    }

    fn put(&self) -> Option<&NodeValue> {
        match &self.action {
            Action::Put(value) => Some(value),
            Action::Delete | Action::Wipe => None,
        }
    }

    pub(crate) fn ends_at(&self, position: usize) -> bool {
        self.key.len() * 8 == position
    }
}

/// Below this number of changes on either side of a node, one thread does both sides: waking another thread takes
/// longer than changing some hundred nodes.
const PARALLEL_CHANGES: usize = 256;

/// Result of changes to a trie.
pub(crate) struct UpdateResult {
    pub(crate) is_changed: bool,
    /// Upper bound of the nodes that were added. The loader counts the leaves that it makes.
    pub(crate) created: usize,
    /// Row keys of positions that may have lost their node.
    pub(crate) vacated: Vec<Vec<u8>>,
}

/// Applies `changes` (sorted by key, each key once) to a whole trie. `loader` loads the nodes of each subtree with at most
/// [`SUBTREE_CHANGES`] changes before it is changed; those of a smaller list are loaded already. `batch` gets the records of these
/// subtrees; those of the nodes above them are left to the next commit.
///
/// After an error some of the changes have been applied.
pub(crate) fn update(
    root: &mut Link,
    changes: &[Change<'_>],
    loader: &PathLoader<'_, '_>,
    number: u32,
    batch: Option<&mut NodeBatch>,
) -> Result<UpdateResult, TrieError> {
    let descent = Descent {
        source: loader.source(),
        loader,
        number,
        created: AtomicUsize::new(0),
        vacated: Mutex::default(),
        batch: batch.map(Mutex::new),
    };
    let is_changed = descent.update(root, 0, changes)?.is_some();
    let (created, vacated) = (descent.created.into_inner(), descent.vacated.into_inner());
    Ok(UpdateResult { is_changed, created, vacated: vacated.unwrap_or_else(PoisonError::into_inner) })
}

/// Builds a trie of `puts` only (sorted by key, each key once).
pub(crate) fn build(puts: &[Change<'_>]) -> Link {
    build_at(puts, 0)
}

/// Size of a subtree before and after a change, for the children size of its parent.
struct SizeChange {
    before: u64,
    after: u64,
}

impl SizeChange {
    fn apply(change: Option<&SizeChange>, size: u64) -> Option<u64> {
        match change {
            Some(change) => size.checked_sub(change.before)?.checked_add(change.after),
            None => Some(size),
        }
    }
}

struct Descent<'s, 'v> {
    source: &'s dyn NodeSource,
    loader: &'s PathLoader<'s, 'v>,
    /// Number of this change of the trie.
    number: u32,
    created: AtomicUsize,
    vacated: Mutex<Vec<Vec<u8>>>,
    /// Gets the records of subtrees while their nodes are in the caches of the processor.
    batch: Option<Mutex<&'s mut NodeBatch>>,
}

impl Descent<'_, '_> {
    /// Builds a trie of the puts among `changes`, which agree in their first `at` bits.
    fn build(&self, changes: &[Change<'_>], at: usize) -> Link {
        let puts = only_puts(changes);
        // One leaf for each put, and one inner node for all but one.
        self.created.fetch_add(2 * puts.len(), Ordering::Relaxed);
        build_at(&puts, at)
    }

    /// Applies changes that agree in the `at` key bits above this link. Returns `None` if nothing changed.
    fn update(&self, link: &mut Link, at: usize, changes: &[Change<'_>]) -> Result<Option<SizeChange>, TrieError> {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return Ok(None) };
        let Some(node) = link.node(self.source, NodePosition::below(first.key, at))? else {
            *link = self.build(changes, at);
            let after = size_of(link);
            return Ok((!link.is_empty()).then_some(SizeChange { before: 0, after }));
        };
        let before = node.size();
        // In a sorted list, the first or the last key has the shortest common prefix with any path.
        let agrees = |change: &Change<'_>| node.path().common_with_key(change.key, at);
        let mut common = agrees(first);
        if changes.len() > 1 {
            common = common.min(agrees(last));
        }
        let is_changed = if common == node.path().len() {
            self.update_node(link, at, changes)?
        } else {
            // Deletions of absent keys must not split the path.
            let effective: Vec<_> =
                changes.iter().filter(|c| c.put().is_some() || agrees(c) == node.path().len()).cloned().collect();
            match effective.iter().map(agrees).min() {
                None => false,
                Some(common) if common == node.path().len() => self.update_node(link, at, &effective)?,
                Some(common) => {
                    self.split(link, at, common, &effective)?;
                    true
                }
            }
        };
        Ok(is_changed.then(|| SizeChange { before, after: size_of(link) }))
    }

    /// Applies changes whose keys all contain the node's whole path.
    fn update_node(&self, link: &mut Link, at: usize, changes: &[Change<'_>]) -> Result<bool, TrieError> {
        let Some(first) = changes.first() else { return Ok(false) };
        let key = first.key;
        let Some(node) = link.node_mut(self.source, NodePosition::below(key, at))? else { return Ok(false) };
        node.last_used = self.number;
        let had_row = !node.is_embeddable();
        let end = at + node.path().len();
        let (here, below) = match changes.split_first() {
            Some((first, rest)) if first.ends_at(end) => (Some(&first.action), rest),
            _ => (None, changes),
        };
        let value = match here {
            Some(Action::Wipe) if !node.value().is_none() => {
                *link = self.build(below, at);
                return Ok(true);
            }
            Some(Action::Put(value)) if !value.is_same(node.value()) => Some(value.clone()),
            Some(Action::Delete) if !node.value().is_none() => Some(NodeValue::None),
            _ => None,
        };
        let (left, right) = self.update_children(node, end, below)?;
        if value.is_none() && left.is_none() && right.is_none() {
            return Ok(false);
        }
        let size = SizeChange::apply(left.as_ref(), node.children_size);
        let size = size.and_then(|size| SizeChange::apply(right.as_ref(), size)).ok_or(TrieError::ChildrenSize)?;
        if let Some(value) = value {
            node.content.set_value(value);
        }
        node.changed(left.is_some(), right.is_some(), size);
        if node.value().is_none() && (node.left().is_empty() || node.right().is_empty()) {
            self.make_canonical(link, at, key)?;
        }
        if had_row {
            self.note_vacated(link, at, key);
        }
        Ok(true)
    }

    fn update_children(
        &self,
        node: &mut TrieNode,
        end: usize,
        below: &[Change<'_>],
    ) -> Result<(Option<SizeChange>, Option<SizeChange>), TrieError> {
        if below.is_empty() {
            return Ok((None, None));
        }
        let (zeros, ones) = split_by_bit(below, end);
        node.content.reserve_children();
        let Some((left, right)) = node.content.children_mut() else { return Ok((None, None)) };
        let is_large = below.len() > SUBTREE_CHANGES;
        let update = |link: &mut Link, changes| self.update_child(link, end + 1, changes, is_large);
        // The records of a batch are one behind the other.
        let (left, right) = if self.batch.is_none() && is_worth_parallel(zeros, ones) {
            rayon::join(|| update(left, zeros), || update(right, ones))
        } else {
            (update(left, zeros), update(right, ones))
        };
        node.content.shrink();
        Ok((left?, right?))
    }

    /// Like [`Descent::update`]. `is_below_large`: the nodes of all changes of the parent are too many for the caches of the processor.
    fn update_child(
        &self,
        link: &mut Link,
        at: usize,
        changes: &[Change<'_>],
        is_below_large: bool,
    ) -> Result<Option<SizeChange>, TrieError> {
        if !is_below_large || changes.len() > SUBTREE_CHANGES {
            return self.update(link, at, changes);
        }
        self.loader.load(link, at, changes)?;
        let change = self.update(link, at, changes)?;
        if change.is_some() {
            self.commit(link);
        }
        Ok(change)
    }

    /// Hashes the new nodes of a subtree, and adds their records to the batch, if there is one.
    fn commit(&self, link: &mut Link) {
        let Some(batch) = &self.batch else { return };
        if let Some(node) = link.in_memory().filter(|node| !node.is_embeddable()) {
            HashLevels::without_hash(node).hash();
            link.save(false, &mut batch.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Some puts diverge from the node's path after `common` bits: a new node with that prefix becomes the parent of
    /// the node.
    fn split(&self, link: &mut Link, at: usize, common: usize, changes: &[Change<'_>]) -> Result<(), TrieError> {
        let Some(key) = changes.first().map(|first| first.key) else { return Ok(()) };
        let Some(node) = link.node_mut(self.source, NodePosition::below(key, at))? else { return Ok(()) };
        let end = at + common;
        let (value, below) = match changes.split_first() {
            Some((first, rest)) if first.ends_at(end) => (first.put().cloned().unwrap_or_default(), rest),
            _ => (NodeValue::None, changes),
        };
        let (zeros, ones) = split_by_bit(below, end);
        let (old_bit, path) = (node.path().bit(common), node.path().head(common));
        let (old_changes, new_changes) = if old_bit { (ones, zeros) } else { (zeros, ones) };
        node.set_path(node.path().tail(common + 1));
        let mut old = mem::take(link);
        self.update(&mut old, end + 1, old_changes)?;
        let new = self.build(new_changes, end + 1);
        let size = size_of(&old).saturating_add(size_of(&new));
        self.created.fetch_add(1, Ordering::Relaxed);
        let (left, right) = if old_bit { (new, old) } else { (old, new) };
        let mut parent = TrieNode::new(path, value, left, right, size);
        parent.last_used = self.number;
        *link = Link::loaded(parent);
        self.make_canonical(link, at, key)?;
        self.note_vacated(link, at, key);
        Ok(())
    }

    /// Removes a changed node that has neither value nor children, and merges a node without a value with its only
    /// child. `at` bits of `key` are above the node.
    fn make_canonical(&self, link: &mut Link, at: usize, key: &[u8]) -> Result<(), TrieError> {
        let Some(node) = link.node_mut(self.source, NodePosition::below(key, at))? else { return Ok(()) };
        let bit = match (node.value().is_none(), node.left().is_empty(), node.right().is_empty()) {
            (true, true, true) => {
                *link = Link::Empty;
                return Ok(());
            }
            (true, false, true) => false,
            (true, true, false) => true,
            _ => return Ok(()),
        };
        let mut own = node.path().to_path();
        own.push(bit);
        let Some((left, right)) = node.content.children_mut() else { return Ok(()) };
        let only = if bit { right } else { left };
        let mut below = Path::of(key, 0, at);
        below.append(own.all_bits());
        let position = NodePosition::below_path(&below);
        if let Some(child) = only.node_mut(self.source, position)? {
            if !child.is_embeddable() {
                self.add_vacated(position);
            }
            own.append(child.path());
            child.set_path(own);
        }
        *link = mem::take(only);
        Ok(())
    }

    /// Notes the position of a node that was deleted or is now part of its parent's message.
    fn note_vacated(&self, link: &Link, at: usize, key: &[u8]) {
        if link.in_memory().is_none_or(|node| at > 0 && node.is_embeddable()) {
            self.add_vacated(NodePosition::below(key, at));
        }
    }

    fn add_vacated(&self, position: NodePosition<'_>) {
        self.vacated.lock().unwrap_or_else(PoisonError::into_inner).push(position.row_key());
    }
}

/// Builds a subtree of puts that agree in their first `at` bits.
fn build_at(puts: &[Change<'_>], at: usize) -> Link {
    let (Some(first), Some(last)) = (puts.first(), puts.last()) else { return Link::Empty };
    let value_of = |change: &Change<'_>| change.put().cloned().unwrap_or_default();
    if puts.len() == 1 {
        let path = Path::of(first.key, at, first.key.len() * 8);
        return Link::loaded(TrieNode::leaf(path, value_of(first)));
    }
    let end = at + common_bits(first.key, at, first.key.len() * 8, last.key, at, last.key.len() * 8);
    let (value, below) = match puts.split_first() {
        Some((first, rest)) if first.ends_at(end) => (value_of(first), rest),
        _ => (NodeValue::None, puts),
    };
    let (zeros, ones) = split_by_bit(below, end);
    let (left, right) = if is_worth_parallel(zeros, ones) {
        rayon::join(|| build_at(zeros, end + 1), || build_at(ones, end + 1))
    } else {
        (build_at(zeros, end + 1), build_at(ones, end + 1))
    };
    let size = size_of(&left).saturating_add(size_of(&right));
    Link::loaded(TrieNode::new(Path::of(first.key, at, end), value, left, right, size))
}

/// Returns the size of a subtree that is in memory because it was just visited or created.
fn size_of(link: &Link) -> u64 {
    link.in_memory().map_or(0, |node| node.size())
}

fn only_puts<'a>(changes: &[Change<'a>]) -> Vec<Change<'a>> {
    changes.iter().filter(|change| change.put().is_some()).cloned().collect()
}

/// Splits the changes at the first key with bit `position` set.
pub(crate) fn split_by_bit<'c, 'a>(changes: &'c [Change<'a>], position: usize) -> (&'c [Change<'a>], &'c [Change<'a>]) {
    changes.split_at(changes.partition_point(|change| !bit(change.key, position)))
}

fn is_worth_parallel(zeros: &[Change<'_>], ones: &[Change<'_>]) -> bool {
    zeros.len() >= PARALLEL_CHANGES && ones.len() >= PARALLEL_CHANGES
}
