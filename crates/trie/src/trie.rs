//! The trie: a map from byte strings to non-empty byte strings, with a root hash.

use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, EMPTY_ROOT, keccak256};

use crate::cache_lines::SUBTREE_CHANGES;
use crate::entries::TrieEntries;
use crate::error::TrieError;
use crate::eviction;
use crate::full_load::load_subtree;
use crate::node::{Link, TrieNode};
use crate::node_batch::NodeBatch;
use crate::node_rows::NodeRows;
use crate::nodes::TrieNodes;
use crate::path::{Path, bit};
use crate::read_ahead::PathLoader;
use crate::record::NodePlace;
use crate::source::{NodePosition, NodeSource};
use crate::state::{StateDelta, StateError, StateReader};
use crate::update::{Action, Change, update};
use crate::value::{KnownValue, NodeValue, ValuesBefore};

/// Divisor for the room that a commit allocates in addition to the size of the previous commit.
const SPARE_SHARE: usize = 8;

/// One version of the trie. Clones are cheap and share unchanged nodes. Nodes are loaded on demand.
///
/// Nodes that no other version shares are changed in place, which is much faster than copying: callers that apply
/// block after block should pass the trie on instead of keeping clones. After a failed change the trie is unusable:
/// every use fails, and it must be opened again from a stored root.
#[derive(Clone)]
pub struct Trie {
    pub(crate) root: Link,
    pub(crate) source: Arc<dyn NodeSource>,
    /// Number of changes since the last commit: an estimate of the hashing work.
    changed: usize,
    /// Bytes of the last commit or flush, an estimate for the next one.
    committed: usize,
    /// Number of nodes that changes created.
    created: usize,
    /// Number of changes of this version since the trie was opened.
    changes: u32,
    /// Row keys of positions that may have lost their node since the last flush. `None`: the source finds nodes by hash.
    vacated: Option<Vec<Vec<u8>>>,
    /// Whether the last changes with several subtrees had to load more nodes than their number.
    is_cold: bool,
}

impl Trie {
    /// Creates the trie without keys.
    pub fn empty(source: Arc<dyn NodeSource>) -> Trie {
        Self::with_root(Link::Empty, source, 0)
    }

    /// Opens the trie with this root hash. Nothing is read yet: a root that is absent in the source fails at the first
    /// use.
    pub fn open(root: B256, source: Arc<dyn NodeSource>) -> Trie {
        let root = if root == EMPTY_ROOT { Link::Empty } else { Link::stored(root, NodePlace::UNKNOWN) };
        Self::with_root(root, source, 0)
    }

    pub(crate) fn with_root(root: Link, source: Arc<dyn NodeSource>, changed: usize) -> Trie {
        Trie { root, source, changed, committed: 0, created: 0, changes: 0, vacated: None, is_cold: true }
    }

    /// Opens the trie with this root hash on a source that finds nodes by position, for [`Trie::flush`].
    pub fn open_by_position(root: B256, source: Arc<dyn NodeSource>) -> Trie {
        Trie { vacated: Some(Vec::new()), ..Self::open(root, source) }
    }

    /// Returns this version for reads, without the record of positions to flush.
    pub fn reader(&self) -> Trie {
        Trie { root: self.root.clone(), source: Arc::clone(&self.source), vacated: None, ..*self }
    }

    /// Returns true if the trie has no keys.
    pub fn is_empty(&self) -> bool {
        self.root.is_empty()
    }

    /// Returns the source of the nodes.
    pub fn source(&self) -> &Arc<dyn NodeSource> {
        &self.source
    }

    /// Returns the node at exactly `key`, with or without a value.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<&Arc<TrieNode>>, TrieError> {
        let mut link = &self.root;
        let mut at = 0;
        while let Some(node) = link.node(&*self.source, NodePosition::below(key, at))? {
            if node.path().common_with_key(key, at) < node.path().len() {
                return Ok(None);
            }
            at += node.path().len();
            if at == key.len() * 8 {
                return Ok(Some(node));
            }
            link = node.child(bit(key, at));
            at += 1;
        }
        Ok(None)
    }

    /// Returns the value at `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>, TrieError> {
        match self.find(key)? {
            Some(node) => self.value_bytes(node.value()),
            None => Ok(None),
        }
    }

    pub(crate) fn value_bytes(&self, value: &NodeValue) -> Result<Option<Bytes>, TrieError> {
        match value {
            NodeValue::None => Ok(None),
            NodeValue::Short(bytes) => Ok(Some(Bytes::copy_from_slice(bytes))),
            NodeValue::Long { value, .. } => match value.bytes() {
                Some(bytes) => Ok(Some(bytes.clone())),
                None => {
                    let hash = value.hash();
                    self.source.get(&hash)?.ok_or(TrieError::MissingValue { hash }).map(Some)
                }
            },
        }
    }

    /// Returns length and Keccak hash of the value at `key`, without reading a long value.
    pub fn value_length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, TrieError> {
        Ok(self.find(key)?.and_then(|node| match node.value() {
            NodeValue::None => None,
            NodeValue::Short(bytes) => Some((bytes.len(), keccak256(&**bytes))),
            NodeValue::Long { value, .. } => Some((node.value().length(), value.hash())),
        }))
    }

    /// Reads the nodes on the way to `keys`, in key order, into memory. The source has many reads at once, unlike with one key after
    /// another.
    pub fn load_paths<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<(), TrieError> {
        PathLoader::new(&*self.source, &|_key| None).load_all(&self.root, &unchanged(keys))
    }

    /// Reads the nodes that changes of `keys`, sorted, each once, go through into memory: a source finds those of several blocks in less
    /// time than block by block. `before` as in [`Trie::apply_known`].
    pub fn read_ahead<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k [u8]>,
        before: ValuesBefore<'_, '_>,
    ) -> Result<(), TrieError> {
        let loader = PathLoader::new(&*self.source, before);
        let loaded = loader.load_all(&self.root, &unchanged(keys));
        self.created = self.created.saturating_add(loader.made());
        loaded
    }

    /// Sets the value at `key`; an empty value deletes it.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), TrieError> {
        let action = put_or_delete(&Bytes::copy_from_slice(value))?;
        self.change(&[Change::new(key, action)], &|_key| None, None)
    }

    /// Deletes the value at `key`, if there is one.
    pub fn delete(&mut self, key: &[u8]) -> Result<(), TrieError> {
        self.change(&[Change::new(key, Action::Delete)], &|_key| None, None)
    }

    /// Deletes the value at `key` and all values at keys that begin with it. Does nothing if `key` itself has no
    /// value.
    pub fn delete_recursive(&mut self, key: &[u8]) -> Result<(), TrieError> {
        self.apply(&StateDelta { wiped: [key.to_vec()].into(), ..StateDelta::default() })
    }

    /// Applies the changes of a block: first the recursive deletions, then the writes.
    pub fn apply(&mut self, delta: &StateDelta) -> Result<(), TrieError> {
        self.apply_known(delta, &|_key| None)
    }

    /// Like [`Trie::apply`]. Leaves that are not in memory are made from the values before instead of read.
    pub fn apply_known(&mut self, delta: &StateDelta, before: ValuesBefore<'_, '_>) -> Result<(), TrieError> {
        self.apply_into(delta, before, None)
    }

    /// Like [`Trie::apply_known`] and then [`Trie::commit_at`], subtree by subtree: the nodes of one are changed, hashed and copied to
    /// the batch while they are in the caches of the processor. Measured with 818 new keys on 5 million entries in memory: 5.5 ms in
    /// place of 6.8.
    pub fn apply_and_commit(
        &mut self,
        delta: &StateDelta,
        before: ValuesBefore<'_, '_>,
        place: NodePlace,
    ) -> Result<NodeBatch, TrieError> {
        let mut batch = self.new_batch(place);
        self.apply_into(delta, before, Some(&mut batch))?;
        Ok(self.complete(batch))
    }

    fn apply_into(
        &mut self,
        delta: &StateDelta,
        before: ValuesBefore<'_, '_>,
        batch: Option<&mut NodeBatch>,
    ) -> Result<(), TrieError> {
        if self.vacated.is_some() && !delta.wiped.is_empty() {
            // The rows below a deleted account are found only one by one.
            let mut by_key = StateDelta { writes: delta.writes.clone(), ..StateDelta::default() };
            for account in &delta.wiped {
                if self.get(account)?.is_some() {
                    for key in self.entries_under(account).keys() {
                        by_key.writes.entry(key?).or_insert(None);
                    }
                }
            }
            return self.apply_into(&by_key, before, batch);
        }
        let wipes: Vec<_> = delta.wiped.iter().map(|key| Change::new(key, Action::Wipe)).collect();
        let writes = changes_of(delta.writes.iter().map(|(key, value)| (key.as_slice(), value.as_ref())))?;
        self.change(&wipes, &|_key| None, None)?;
        self.change(&writes, before, batch)
    }

    /// Applies writes, sorted by key, each key once; `None` deletes the key. `before` as in [`Trie::apply_known`].
    pub fn apply_writes<'w>(
        &mut self,
        writes: impl Iterator<Item = (&'w [u8], Option<&'w Bytes>)>,
        before: ValuesBefore<'_, '_>,
    ) -> Result<(), TrieError> {
        self.change(&changes_of(writes)?, before, None)
    }

    /// Applies changes between two states whose long values are in the source. `after`: the value after for each key, in order.
    pub fn apply_stored<'v>(
        &mut self,
        after: impl Iterator<Item = (&'v [u8], Option<KnownValue<'v>>)>,
        before: ValuesBefore<'_, '_>,
    ) -> Result<(), TrieError> {
        let action = |after: Option<KnownValue<'_>>| after.map_or(Action::Delete, |after| Action::Put(after.into()));
        let changes: Vec<_> = after.map(|(key, after)| Change::new(key, action(after))).collect();
        self.change(&changes, before, None)
    }

    /// Applies `changes`, sorted by key, each key once. `batch` gets the records of some of the new nodes.
    fn change(
        &mut self,
        changes: &[Change<'_>],
        before: ValuesBefore<'_, '_>,
        batch: Option<&mut NodeBatch>,
    ) -> Result<(), TrieError> {
        self.changes = self.changes.saturating_add(1);
        let loader = PathLoader::new(&*self.source, before);
        let has_subtrees = changes.len() > SUBTREE_CHANGES;
        // A source reads the nodes of all subtrees at once in less time, if it has to read many.
        let loaded = if self.is_cold || !has_subtrees { loader.load_all(&self.root, changes) } else { Ok(()) };
        let updated = loaded.and_then(|()| update(&mut self.root, changes, &loader, self.changes, batch));
        if has_subtrees {
            self.is_cold = loader.missing() > changes.len();
        }
        match updated {
            Ok(updated) => {
                if updated.is_changed {
                    self.changed = self.changed.saturating_add(changes.len());
                }
                self.created = self.created.saturating_add(updated.created).saturating_add(loader.made());
                if let Some(vacated) = &mut self.vacated {
                    vacated.extend(updated.vacated);
                }
            }
            Err(error) => {
                // Some of the changes were applied. No node has this hash, so every use fails.
                self.root = Link::stored(B256::ZERO, NodePlace::UNKNOWN);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns the Keccak hash of the root's message, `EMPTY_ROOT` for the empty trie. Computed once; many changes are
    /// hashed in parallel.
    pub fn root_hash(&self) -> B256 {
        match &self.root {
            Link::Empty => EMPTY_ROOT,
            Link::Loaded(node, _) => node.hash_with(self.changed),
            Link::Stored(_) => self.root.hash().unwrap_or(EMPTY_ROOT),
        }
    }

    /// Returns the messages of new nodes and new long values, the nodes of a path one behind the other. All are found by their hashes.
    ///
    /// The batch must be in the source before this trie is opened again by its root; this version continues from
    /// memory. Embedded nodes are part of their parent's message; the root is always included.
    pub fn commit(&mut self) -> NodeBatch {
        self.commit_at(NodePlace::UNKNOWN)
    }

    /// Like [`Trie::commit`], for a log in which the batch begins at a place: only the root and long values are found by their hashes,
    /// other nodes by the places that the records of their parents have.
    pub fn commit_at(&mut self, place: NodePlace) -> NodeBatch {
        let batch = self.new_batch(place);
        self.complete(batch)
    }

    fn new_batch(&self, place: NodePlace) -> NodeBatch {
        NodeBatch::with_capacity(self.committed.saturating_add(self.committed / SPARE_SHARE), place)
    }

    /// Adds the records of the new nodes that are not in the batch yet.
    fn complete(&mut self, mut batch: NodeBatch) -> NodeBatch {
        // Hashes many nodes at once; the messages contain them.
        self.root_hash();
        self.root.save(true, &mut batch);
        self.changed = 0;
        self.committed = batch.records().len();
        batch
    }

    /// Returns the rows of all nodes that are new since the last flush, and of the positions that have no node any more. Long
    /// values are not included.
    ///
    /// The rows must be in the source before this trie is opened again by its root; this version continues from memory.
    pub fn flush(&mut self) -> NodeRows {
        // Hashes many nodes at once; the messages below contain them.
        self.root_hash();
        let mut vacated = self.vacated.as_mut().map(mem::take).unwrap_or_default();
        vacated.sort_unstable();
        vacated.dedup();
        let mut rows = NodeRows::with_capacity(self.committed.saturating_add(self.committed / SPARE_SHARE));
        self.root.flush(&mut rows);
        self.changed = 0;
        self.committed = rows.bytes();
        // Another node may be at a position that lost its node.
        rows.complete(&vacated)
    }

    /// Evicts saved nodes from memory until at most `nodes` are left, first the nodes that the next changes need least. Nodes that are not
    /// saved stay. Returns the number of nodes that are left. The evicted nodes are freed on another thread.
    pub fn evict(&mut self, nodes: usize) -> usize {
        let (left, evicted) = eviction::evict_least_needed(&mut self.root, self.changes, nodes);
        self.created = 0;
        rayon::spawn(move || drop(evicted));
        left
    }

    /// Loads all nodes, which stay in memory. Returns their number.
    pub fn load_all(&self) -> Result<usize, TrieError> {
        load_subtree(&*self.source, &self.root, Path::default(), None)
    }

    /// Returns an upper bound of the nodes that changes have added since the trie was opened or nodes were evicted. They are in
    /// memory in addition to loaded nodes.
    pub fn created_nodes(&self) -> usize {
        self.created
    }

    /// Returns the number of changes since the last commit or flush.
    pub fn changed_keys(&self) -> usize {
        self.changed
    }

    /// Frees the nodes, possibly millions, on another thread.
    pub fn drop_in_background(self) {
        let root = self.root;
        rayon::spawn(move || drop(root));
    }

    /// Returns the bytes below the root as stated by the root's message (0 without inner nodes).
    pub fn children_size(&self) -> Result<u64, TrieError> {
        Ok(self.root.node(&*self.source, NodePosition::ROOT)?.map_or(0, |node| node.children_size))
    }

    /// Returns the size of the trie: the bytes of all messages and long values, 0 if it is empty.
    pub fn size(&self) -> Result<u64, TrieError> {
        Ok(self.root.node(&*self.source, NodePosition::ROOT)?.map_or(0, |node| node.size()))
    }

    /// Iterates over all keys and values in key order.
    pub fn entries(&self) -> TrieEntries {
        self.entries_under(&[])
    }

    /// Iterates in key order over the keys that begin with `prefix`, with their values.
    pub fn entries_under(&self, prefix: &[u8]) -> TrieEntries {
        TrieEntries::new(self, prefix, usize::MAX)
    }

    /// Iterates in key order over the keys that begin with `prefix` and have at most `max_length` bytes, with their
    /// values. Nothing below them is visited: with the length of an account key this lists accounts without their
    /// storage.
    pub fn entries_up_to(&self, prefix: &[u8], max_length: usize) -> TrieEntries {
        TrieEntries::new(self, prefix, max_length)
    }

    /// Iterates over all nodes in the order node, left subtree, right subtree. Nodes are loaded when they are reached
    /// and dropped afterwards.
    pub fn nodes(&self) -> TrieNodes {
        TrieNodes::new(self)
    }

    /// Returns the keys of exactly `length` bytes that have a value (`None`: of any length), in order.
    pub fn collect_keys(&self, length: Option<usize>) -> Result<Vec<Vec<u8>>, TrieError> {
        let keys = self.entries_up_to(&[], length.unwrap_or(usize::MAX)).keys();
        keys.filter(|key| key.as_ref().map_or(true, |key| length.is_none_or(|length| key.len() == length))).collect()
    }
}

/// Returns writes as changes; `None` deletes the key. Fails for a value that is too long.
fn changes_of<'w>(writes: impl Iterator<Item = (&'w [u8], Option<&'w Bytes>)>) -> Result<Vec<Change<'w>>, TrieError> {
    writes.map(|(key, value)| Ok(Change::new(key, value.map_or(Ok(Action::Delete), put_or_delete)?))).collect()
}

/// Returns changes for a walk to keys that changes nothing.
fn unchanged<'k>(keys: impl Iterator<Item = &'k [u8]>) -> Vec<Change<'k>> {
    keys.map(|key| Change::new(key, Action::Put(NodeValue::None))).collect()
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

impl std::fmt::Debug for Trie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trie").field("root", &self.root_hash()).finish_non_exhaustive()
    }
}

fn put_or_delete(value: &Bytes) -> Result<Action, TrieError> {
    Ok(match NodeValue::new(value)? {
        NodeValue::None => Action::Delete,
        value => Action::Put(value),
    })
}
