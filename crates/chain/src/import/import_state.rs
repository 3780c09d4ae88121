//! The state that the importer executes on: the trie after the last compared block, and values in front of the flat rows.

use std::collections::BTreeSet;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_storage::{BranchOverlay, ChangeSet, CurrentNodes, NodeVersions, Store, StoredValue};
use rhizome_trie::{NodeSource, SourceError, SourceNode, StateDelta, StateError, StateReader, Trie, WantedNode, keys};

use crate::archive::Archive;
use crate::archive::derived_trie::{apply_difference, check_root, move_trie, read_changes};
use crate::archive::record::BlockRecord;
use crate::config::ChainConfig;
use crate::error::ChainError;
use crate::import::branch_changes::BranchChanges;
use crate::import::unwritten_changes::UnwrittenChanges;
use crate::upkeep::Upkeep;

/// Share of the nodes that stay in memory when it is full, in eighths. An eviction walks through all nodes, so that a smaller share
/// makes it rarer.
const KEPT_EIGHTHS: usize = 5;
/// Values get this share of the memory for caches.
const VALUES_SHARE: usize = 4;
/// Divisor of the changes of a flush, and of the nodes in memory, that gives those of a long branch: with all of them its import took 350 MB
/// more than one without a branch, and was killed in 512 MB.
const BRANCH_SHARE: usize = 4;
/// Memory of a cached value besides its bytes, estimated: its key and its entries in the cache.
const VALUE_BYTES: usize = 240;

/// State of the importer. Between two jobs it is that of the head.
pub(crate) struct ImportState {
    trie: Trie,
    source: ImportNodes,
    store: Arc<Store>,
    upkeep: Arc<Upkeep>,
    /// Whether the trie is handed out.
    is_lent: bool,
    /// Number of nodes in memory at which some are evicted, `usize::MAX` for never.
    budget: usize,
    values: Arc<CachedValues>,
    /// Number of changes of a long branch at which they leave the memory.
    most_branch_changes: usize,
    /// Present while a branch beside the best chain is executed.
    branch: Option<BranchState>,
}

/// The state of a branch, relative to the head.
struct BranchState {
    head_trie: Trie,
    changes: Arc<BranchChanges>,
    /// Whether its changes and nodes may leave the memory. No node is shared with the trie of the head.
    is_long: bool,
}

/// Values of the keys of the state.
type CachedValues = Cache<Vec<u8>, CachedValue, CachedValueWeight>;

#[derive(Clone)]
enum CachedValue {
    /// `None` for a key without a value.
    Value(Option<Bytes>),
    /// For code: each call asks for it, and the bytes are cached elsewhere.
    LengthAndHash(usize, B256),
}

#[derive(Clone)]
struct CachedValueWeight;

impl Weighter<Vec<u8>, CachedValue> for CachedValueWeight {
    fn weight(&self, _key: &Vec<u8>, cached: &CachedValue) -> u64 {
        let bytes = match cached {
            CachedValue::Value(Some(value)) => value.len(),
            CachedValue::Value(None) | CachedValue::LengthAndHash(..) => 0,
        };
        (VALUE_BYTES + bytes) as u64
    }
}

impl Drop for ImportState {
    /// Frees up to a million nodes and values on another thread.
    fn drop(&mut self) {
        self.take_trie().drop_in_background();
        let values = mem::replace(&mut self.values, Arc::new(empty_cache(0)));
        rayon::spawn(move || drop(values));
    }
}

fn empty_cache(bytes: usize) -> CachedValues {
    Cache::with_weighter(bytes / VALUE_BYTES, bytes as u64, CachedValueWeight)
}

impl ImportState {
    /// Opens the state after the best block.
    pub(crate) fn open(head: &Arc<BlockRecord>, archive: &Archive, config: &ChainConfig) -> Result<Self, ChainError> {
        let store = Arc::clone(&archive.store);
        let source = ImportNodes::new(&store);
        let trie = source.head_trie(head, archive)?;
        if config.is_trie_in_memory {
            trie.load_all()?;
        }
        let values = Arc::new(empty_cache(config.cache_bytes / VALUES_SHARE));
        let (budget, upkeep) = (config.loaded_nodes(), Arc::clone(&archive.upkeep));
        let most_branch_changes = (config.flush_interval() / BRANCH_SHARE).min(config.changes_per_batch()).max(1);
        Ok(Self { trie, source, store, upkeep, is_lent: false, budget, values, most_branch_changes, branch: None })
    }

    /// Whether the trie is handed out.
    pub(crate) fn is_lent(&self) -> bool {
        self.is_lent
    }

    /// Returns the trie after the last compared block.
    pub(crate) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// Returns the state after the last executed block, valid until the next change. `unwritten` are the changes of the blocks in
    /// flight.
    pub(crate) fn reader(&self, unwritten: Arc<UnwrittenChanges>) -> Arc<dyn StateReader> {
        let (values, store) = (Arc::clone(&self.values), Arc::clone(&self.store));
        let branch = self.branch.as_ref().map(|branch| Arc::clone(&branch.changes));
        Arc::new(ImportStateReader { values, unwritten, branch, store })
    }

    /// Hands out the trie to be changed. Nodes without another owner are changed in place. If the change fails, the state must be
    /// opened again ([`ImportState::reopen`]) or leave its branch.
    pub(crate) fn take_trie(&mut self) -> Trie {
        self.is_lent = true;
        let taken = self.source.trie_at(self.trie.root_hash());
        mem::replace(&mut self.trie, taken)
    }

    /// Takes back the trie that was handed out, after the blocks whose values are cached.
    pub(crate) fn put_trie(&mut self, trie: Trie) {
        self.is_lent = false;
        self.trie = trie;
        self.upkeep.note_nodes(self.source.loads().load(Ordering::Relaxed).saturating_add(self.trie.created_nodes()));
    }

    /// Moves to the state after another block. `flat` is the difference between both states.
    pub(crate) fn advance(&mut self, trie: Trie, flat: &StateDelta) {
        self.put_trie(trie);
        self.advance_values(flat, &ChangeSet::default());
    }

    /// Moves to the state after an executed block whose trie is not computed yet. `changes` are those of `flat`, as far as they are
    /// known: a key that had no value is cached by the next block that reads it, because most new storage slots are not read soon. That
    /// takes 0.3 ms less for 818 new keys when the cache is full.
    pub(crate) fn advance_values(&mut self, flat: &StateDelta, changes: &ChangeSet) {
        if self.store.base().is_fork() && flat.writes.keys().any(|key| keys::is_hiding_key(key)) {
            // The hidden slots of a deleted account are not among the writes.
            self.forget_values();
        }
        let mut changes = changes.iter();
        for (key, value) in &flat.writes {
            let is_new =
                changes.find(|(changed, _)| changed == key).is_some_and(|(_, change)| change.before.is_absent());
            if !is_new || self.values.contains_key(key) {
                self.values.insert(key.clone(), CachedValue::Value(non_empty(value)));
            }
        }
    }

    /// Clears the cache of values.
    pub(crate) fn forget_values(&mut self) {
        self.values.clear();
    }

    /// Returns to the state of the best block after a failure.
    pub(crate) fn reopen(&mut self, head: &Arc<BlockRecord>, archive: &Archive) -> Result<(), ChainError> {
        self.close_branch();
        self.values.clear();
        self.put_trie(self.source.head_trie(head, archive)?);
        Ok(())
    }

    /// Returns the trie after an earlier block, for [`ImportState::return_to`]. `difference` leads from the state of the head to it. If
    /// anything fails before that, the state must be opened again.
    pub(crate) fn trie_after(
        &mut self,
        earlier: &Arc<BlockRecord>,
        difference: &ChangeSet,
    ) -> Result<Trie, ChainError> {
        if matches!(self.source, ImportNodes::Versions(_)) {
            return Ok(self.source.trie_at(earlier.state_root));
        }
        let mut trie = self.take_trie();
        apply_difference(&mut trie, difference, earlier)?;
        Ok(trie)
    }

    /// Moves to the state after an earlier block, the best one now. All nodes of its trie are on disk.
    pub(crate) fn return_to(&mut self, trie: Trie) {
        self.is_lent = false;
        mem::replace(&mut self.trie, trie).drop_in_background();
        self.values.clear();
        if self.is_full(self.trie.created_nodes()) {
            self.evict();
        }
    }

    /// Moves to the state after a block beside the best chain; readers go through its changes from
    /// here on. A branch is left with [`ImportState::leave_branch`], also after a failure. `is_long`: whether its changes may leave the
    /// memory; the trie of the head must be flushed.
    pub(crate) fn enter_branch(
        &mut self,
        archive: &Archive,
        head: &BlockRecord,
        base: &BlockRecord,
        is_long: bool,
    ) -> Result<(), ChainError> {
        let head_root = self.trie.root_hash();
        let head_trie = match &self.source {
            ImportNodes::Versions(_) => mem::replace(&mut self.trie, self.source.trie_at(base.state_root)),
            // Nodes that both tries share would be copied when some are evicted.
            ImportNodes::Current(_) if is_long => self.source.trie_at(head_root),
            ImportNodes::Current(_) => self.trie.clone(),
        };
        self.branch = Some(BranchState { head_trie, changes: Arc::default(), is_long });
        self.values.clear();
        let rest = read_changes(archive, head, base, |part| {
            if part.len() >= self.most_branch_changes {
                self.apply_to_branch(&mem::take(part))?;
                self.spill_branch()?;
            }
            Ok(())
        })?;
        self.apply_to_branch(&rest)?;
        check_root(&self.trie, base)
    }

    fn apply_to_branch(&mut self, part: &ChangeSet) -> Result<(), ChainError> {
        if matches!(self.source, ImportNodes::Current(_)) {
            part.apply_to(&mut self.trie)?;
        }
        self.extend_branch(part);
        Ok(())
    }

    /// Adds the changes of a block of the branch that was written.
    pub(crate) fn extend_branch(&mut self, changes: &ChangeSet) {
        if let Some(branch) = &mut self.branch {
            Arc::make_mut(&mut branch.changes).recent.extend(changes);
        }
    }

    /// Whether the changes of a long branch use up the memory for them.
    pub(crate) fn has_many_branch_changes(&self) -> bool {
        let branch = self.branch.as_ref().filter(|branch| branch.is_long);
        branch.is_some_and(|branch| branch.changes.recent.len() >= self.most_branch_changes)
    }

    /// Moves changes and new nodes of a long branch out of the memory. Evicts nodes of any branch if their memory is used up. No block
    /// may be in flight.
    pub(crate) fn spill_branch(&mut self) -> Result<(), ChainError> {
        let mut budget = self.budget;
        if let Some(branch) = self.branch.as_mut().filter(|branch| branch.is_long) {
            let changes = Arc::make_mut(&mut branch.changes);
            let overlay = match &changes.overlay {
                Some(overlay) => Arc::clone(overlay),
                None => BranchOverlay::create(&self.store)?,
            };
            overlay.put_values(&changes.recent)?;
            if matches!(self.source, ImportNodes::Current(_)) {
                overlay.put_nodes(&self.trie.flush())?;
            }
            *changes = BranchChanges { recent: ChangeSet::default(), overlay: Some(overlay) };
            // The rest of the memory is for the rows of a branch and the batches that adopt it.
            budget /= BRANCH_SHARE;
        }
        if self.is_full(self.trie.created_nodes().saturating_add(self.budget - budget)) {
            self.evict_to(budget / 8 * KEPT_EIGHTHS);
        }
        Ok(())
    }

    /// Returns the rows of the branch that left the memory.
    pub(crate) fn branch_overlay(&self) -> Option<Arc<BranchOverlay>> {
        self.branch.as_ref()?.changes.overlay.clone()
    }

    /// The tip of the branch, with this trie, is the head now.
    pub(crate) fn adopt_branch(&mut self, trie: Trie, delta: &StateDelta) {
        self.branch = None;
        self.advance(trie, delta);
    }

    /// Gives the branch up in the middle of an adoption: blocks fail until it is finished, by [`ImportState::open`] after a recovery.
    pub(crate) fn abandon_branch(&mut self, head_root: B256) {
        self.branch = None;
        self.values.clear();
        self.put_trie(self.source.trie_at(head_root));
    }

    /// Leaves the branch for the head.
    pub(crate) fn leave_branch(&mut self) {
        if let Some(head_trie) = self.close_branch() {
            self.put_trie(head_trie);
            self.values.clear();
        }
    }

    /// Removes the rows of the branch. Returns the trie of the head.
    fn close_branch(&mut self) -> Option<Trie> {
        let BranchState { head_trie, changes, .. } = self.branch.take()?;
        if changes.overlay.is_some() {
            drop(changes);
            // A folder that is left is removed before the next one is made.
            drop(BranchOverlay::discard(&self.store));
        }
        Some(head_trie)
    }

    /// Whether the memory for nodes is used up by loaded ones and by `made` new ones.
    pub(crate) fn is_full(&self, made: usize) -> bool {
        self.source.loads().load(Ordering::Relaxed).saturating_add(made) > self.budget
    }

    /// Evicts the nodes that were not used for the longest time. Saved nodes must be on disk.
    pub(crate) fn evict(&mut self) {
        self.evict_to(self.budget / 8 * KEPT_EIGHTHS);
    }

    fn evict_to(&mut self, nodes: usize) {
        let left = self.trie.evict(nodes);
        self.source.loads().store(left, Ordering::Relaxed);
        self.upkeep.note_eviction(left);
    }
}

/// A key without a value and a key with an empty value are the same.
fn non_empty(value: &Option<Bytes>) -> Option<Bytes> {
    value.clone().filter(|value| !value.is_empty())
}

/// Reads cached values, then changes that are not on disk, then those of a branch, then the flat rows of the head, which only
/// the importer changes.
struct ImportStateReader {
    values: Arc<CachedValues>,
    unwritten: Arc<UnwrittenChanges>,
    branch: Option<Arc<BranchChanges>>,
    store: Arc<Store>,
}

impl ImportStateReader {
    fn unwritten(&self, key: &[u8]) -> Option<Option<Bytes>> {
        self.unwritten.get(key).map(non_empty)
    }

    fn is_present(&self, key: &[u8]) -> Result<bool, StateError> {
        Ok(self.get(key)?.is_some())
    }

    /// Returns the value on the branch, or at the head.
    fn stored(&self, key: &[u8]) -> Result<StoredValue, StateError> {
        let changed = self.branch.as_ref().map(|branch| branch.value(key)).transpose()?.flatten();
        match changed {
            Some(value) => Ok(value),
            None => Ok(self.store.flat_stored(key)?),
        }
    }
}

impl StateReader for ImportStateReader {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        let cached = self.values.get(key);
        if let Some(CachedValue::Value(value)) = cached {
            return Ok(value);
        }
        let value = match self.unwritten(key) {
            Some(value) => value,
            None => self.store.value_of(key, &self.stored(key)?, |mark| self.is_present(mark))?,
        };
        // A block that reads a key without a value nearly always writes one, which would replace the entry.
        if cached.is_none() && value.is_some() {
            self.values.insert(key.to_vec(), CachedValue::Value(value.clone()));
        }
        Ok(value)
    }

    fn length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StateError> {
        let value = match self.values.get(key) {
            Some(CachedValue::LengthAndHash(length, hash)) => return Ok(Some((length, hash))),
            Some(CachedValue::Value(value)) => Some(value),
            None => self.unwritten(key),
        };
        let found = match value {
            Some(value) => value.map(|value| (value.len(), keccak256(&value))),
            None => self.store.length_and_hash_of(key, &self.stored(key)?, |mark| self.is_present(mark))?,
        };
        let cached = found.map_or(CachedValue::Value(None), |(length, hash)| CachedValue::LengthAndHash(length, hash));
        self.values.insert(key.to_vec(), cached);
        Ok(found)
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        let mut keys: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut add = |key: &[u8]| _ = keys.insert(key.to_vec());
        self.store.visit_flat(prefix, |key, _| {
            add(key);
            Ok(())
        })?;
        self.branch.as_ref().map_or(Ok(()), |branch| branch.visit_keys(prefix, &mut add))?;
        self.unwritten.keys().filter(|key| key.starts_with(prefix)).for_each(add);
        for key in keys {
            // Also the keys of values that were deleted since are listed above.
            if self.get(&key)?.is_some() && visit(&key).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Source of the importer's trie nodes.
enum ImportNodes {
    /// All versions, by hash.
    Versions(Arc<CountingSource>),
    /// The current nodes, by position.
    Current(Arc<CurrentNodes>),
}

impl ImportNodes {
    fn new(store: &Arc<Store>) -> Self {
        match store.node_versions() {
            NodeVersions::All => {
                Self::Versions(Arc::new(CountingSource { store: Arc::clone(store), loads: AtomicUsize::new(0) }))
            }
            NodeVersions::Current => Self::Current(Arc::new(CurrentNodes::new(store))),
        }
    }

    fn loads(&self) -> &AtomicUsize {
        match self {
            Self::Versions(source) => &source.loads,
            Self::Current(source) => source.loads(),
        }
    }

    /// Opens the trie with a root, which must be stored.
    fn trie_at(&self, root: B256) -> Trie {
        match self {
            Self::Versions(source) => Trie::open(root, Arc::clone(source) as _),
            Self::Current(source) => Trie::open_by_position(root, Arc::clone(source) as _),
        }
    }

    /// Opens the trie of the best block. Current nodes are those of the last flush: the changes since then are applied again.
    fn head_trie(&self, head: &Arc<BlockRecord>, archive: &Archive) -> Result<Trie, ChainError> {
        let flushed = match self {
            Self::Versions(_) => None,
            Self::Current(_) => archive.store.flushed_trie()?,
        };
        let Some(flushed) = flushed else { return Ok(self.trie_at(head.state_root)) };
        let mut trie = self.trie_at(flushed.root);
        move_trie(archive, &mut trie, &archive.known_record(&flushed.hash)?, head)?;
        Ok(trie)
    }
}

/// The database. Counts the loaded nodes.
struct CountingSource {
    store: Arc<Store>,
    loads: AtomicUsize,
}

impl NodeSource for CountingSource {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        NodeSource::get(&*self.store, hash)
    }

    fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        self.store.node(wanted)
    }

    fn nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, SourceError> {
        self.loads.fetch_add(wanted.len(), Ordering::Relaxed);
        NodeSource::nodes(&*self.store, wanted)
    }
}
