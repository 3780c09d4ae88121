//! Applying many sorted changes in one descent: each node on the way is changed once, in place unless another version of
//! the trie shares it.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::TrieError;
use crate::node::{Link, TrieNode};
use crate::path::{Path, bit, common_bits};
use crate::source::NodeSource;
use crate::value::NodeValue;

/// What happens at one key.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Put(NodeValue),
    Delete,
    /// Deletes the key and everything below it, if the key has a value.
    Wipe,
}

/// A change of one key.
#[derive(Clone, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) action: Action,
}

impl Change<'_> {
    fn put(&self) -> Option<&NodeValue> {
        match &self.action {
            Action::Put(value) => Some(value),
            Action::Delete | Action::Wipe => None,
        }
    }

    fn ends_at(&self, position: usize) -> bool {
        self.key.len() * 8 == position
    }
}

/// With fewer changes than this on either side of a node, both sides are done by one thread: waking another takes longer
/// than changing some hundred nodes.
const PARALLEL_CHANGES: usize = 256;

/// What changes did to a trie.
pub(crate) struct UpdateResult {
    pub(crate) is_changed: bool,
    /// Nodes that it has more now, at most.
    pub(crate) created: usize,
}

/// Applies `changes` (sorted by key, each key once) to a whole trie.
///
/// After an error some of the changes may have been created.
pub(crate) fn update(
    root: &mut Link,
    changes: &[Change<'_>],
    source: &dyn NodeSource,
) -> Result<UpdateResult, TrieError> {
    let descent = Descent { source, created: AtomicUsize::new(0) };
    let is_changed = descent.update(root, 0, changes)?.is_some();
    Ok(UpdateResult { is_changed, created: descent.created.into_inner() })
}

/// A trie made of `puts` alone (sorted by key, each key once, all of them puts).
pub(crate) fn build(puts: &[Change<'_>]) -> Link {
    build_at(puts, 0)
}

/// What a change of a subtree means for the children size of its parent.
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

struct Descent<'s> {
    source: &'s dyn NodeSource,
    created: AtomicUsize,
}

impl Descent<'_> {
    /// A trie made of the puts among `changes`, which agree in their first `at` bits.
    fn build(&self, changes: &[Change<'_>], at: usize) -> Link {
        let puts = only_puts(changes);
        // A leaf for each, and a node above all but one.
        self.created.fetch_add(2 * puts.len(), Ordering::Relaxed);
        build_at(&puts, at)
    }

    /// `at`: number of key bits used up above this link; all changes agree in them. None: nothing changed.
    fn update(&self, link: &mut Link, at: usize, changes: &[Change<'_>]) -> Result<Option<SizeChange>, TrieError> {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return Ok(None) };
        let Some(node) = link.node(self.source)? else {
            *link = self.build(changes, at);
            let after = size_of(link);
            return Ok((!link.is_empty()).then_some(SizeChange { before: 0, after }));
        };
        let before = node.size();
        // In a sorted list the keys at the ends have the shortest part in common with any path.
        let agrees = |change: &Change<'_>| node.path.common_with_key(change.key, at);
        let mut common = agrees(first);
        if changes.len() > 1 {
            common = common.min(agrees(last));
        }
        let is_changed = if common == node.path.len() {
            self.update_node(link, at, changes)?
        } else {
            // Deletions of keys that are not there must not split the path.
            let effective: Vec<_> =
                changes.iter().filter(|c| c.put().is_some() || agrees(c) == node.path.len()).cloned().collect();
            match effective.iter().map(agrees).min() {
                None => false,
                Some(common) if common == node.path.len() => self.update_node(link, at, &effective)?,
                Some(common) => {
                    self.split(link, at, common, &effective)?;
                    true
                }
            }
        };
        Ok(is_changed.then(|| SizeChange { before, after: size_of(link) }))
    }

    /// All changes have the node's whole path.
    fn update_node(&self, link: &mut Link, at: usize, changes: &[Change<'_>]) -> Result<bool, TrieError> {
        let Some(node) = link.node_mut(self.source)? else { return Ok(false) };
        let end = at + node.path.len();
        let (here, below) = match changes.split_first() {
            Some((first, rest)) if first.ends_at(end) => (Some(&first.action), rest),
            _ => (None, changes),
        };
        let value = match here {
            Some(Action::Wipe) if !node.value.is_none() => {
                *link = self.build(below, at);
                return Ok(true);
            }
            Some(Action::Put(value)) if !value.is_same(&node.value) => Some(value.clone()),
            Some(Action::Delete) if !node.value.is_none() => Some(NodeValue::None),
            _ => None,
        };
        let (left, right) = self.update_children(node, end, below)?;
        if value.is_none() && left.is_none() && right.is_none() {
            return Ok(false);
        }
        let size = SizeChange::apply(left.as_ref(), node.children_size);
        let size = size.and_then(|size| SizeChange::apply(right.as_ref(), size)).ok_or(TrieError::ChildrenSize)?;
        if let Some(value) = value {
            node.value = value;
        }
        node.changed(left.is_some(), right.is_some(), size);
        if node.value.is_none() && (node.left.is_empty() || node.right.is_empty()) {
            self.make_canonical(link)?;
        }
        Ok(true)
    }

    fn update_children(
        &self,
        node: &mut TrieNode,
        end: usize,
        below: &[Change<'_>],
    ) -> Result<(Option<SizeChange>, Option<SizeChange>), TrieError> {
        let (zeros, ones) = split_by_bit(below, end);
        let TrieNode { left, right, .. } = node;
        let (left, right) = if is_worth_parallel(zeros, ones) {
            rayon::join(|| self.update(left, end + 1, zeros), || self.update(right, end + 1, ones))
        } else {
            (self.update(left, end + 1, zeros), self.update(right, end + 1, ones))
        };
        Ok((left?, right?))
    }

    /// Some puts leave the node's path after `common` bits: a new node takes its place and gets it as a child.
    fn split(&self, link: &mut Link, at: usize, common: usize, changes: &[Change<'_>]) -> Result<(), TrieError> {
        let Some(node) = link.node_mut(self.source)? else { return Ok(()) };
        let end = at + common;
        let (value, below) = match changes.split_first() {
            Some((first, rest)) if first.ends_at(end) => (first.put().cloned().unwrap_or_default(), rest),
            _ => (NodeValue::None, changes),
        };
        let (zeros, ones) = split_by_bit(below, end);
        let (old_bit, path) = (node.path.bit(common), node.path.head(common));
        let (old_changes, new_changes) = if old_bit { (ones, zeros) } else { (zeros, ones) };
        node.set_path(node.path.tail(common + 1));
        let mut old = mem::take(link);
        self.update(&mut old, end + 1, old_changes)?;
        let new = self.build(new_changes, end + 1);
        let size = size_of(&old).saturating_add(size_of(&new));
        self.created.fetch_add(1, Ordering::Relaxed);
        let (left, right) = if old_bit { (new, old) } else { (old, new) };
        *link = Link::Loaded(Arc::new(TrieNode::new(path, value, left, right, size)));
        self.make_canonical(link)
    }

    /// A node that was just changed disappears if nothing is left of it, and becomes one with its only child if it has no
    /// value of its own.
    fn make_canonical(&self, link: &mut Link) -> Result<(), TrieError> {
        let Some(node) = link.node_mut(self.source)? else { return Ok(()) };
        let (bit, only) = match (node.value.is_none(), node.left.is_empty(), node.right.is_empty()) {
            (true, true, true) => {
                *link = Link::Empty;
                return Ok(());
            }
            (true, false, true) => (false, &mut node.left),
            (true, true, false) => (true, &mut node.right),
            _ => return Ok(()),
        };
        if let Some(child) = only.node_mut(self.source)? {
            child.set_path(node.path.join(bit, &child.path));
        }
        *link = mem::take(only);
        Ok(())
    }
}

/// All changes are puts and agree in their first `at` bits.
fn build_at(puts: &[Change<'_>], at: usize) -> Link {
    let (Some(first), Some(last)) = (puts.first(), puts.last()) else { return Link::Empty };
    let value_of = |change: &Change<'_>| change.put().cloned().unwrap_or_default();
    if puts.len() == 1 {
        let path = Path::of(first.key, at, first.key.len() * 8);
        return Link::Loaded(Arc::new(TrieNode::leaf(path, value_of(first))));
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
    Link::Loaded(Arc::new(TrieNode::new(Path::of(first.key, at, end), value, left, right, size)))
}

/// Size of a subtree that is in memory because it was just looked at or created.
fn size_of(link: &Link) -> u64 {
    link.in_memory().map_or(0, |node| node.size())
}

fn only_puts<'a>(changes: &[Change<'a>]) -> Vec<Change<'a>> {
    changes.iter().filter(|change| change.put().is_some()).cloned().collect()
}

/// The changes whose key has bit `position` clear, and those that have it set.
fn split_by_bit<'c, 'a>(changes: &'c [Change<'a>], position: usize) -> (&'c [Change<'a>], &'c [Change<'a>]) {
    changes.split_at(changes.partition_point(|change| !bit(change.key, position)))
}

fn is_worth_parallel(zeros: &[Change<'_>], ones: &[Change<'_>]) -> bool {
    zeros.len() >= PARALLEL_CHANGES && ones.len() >= PARALLEL_CHANGES
}
