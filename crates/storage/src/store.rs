use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::RwLock;
use rhizome_primitives::{B256, Bytes, U256};
use rhizome_trie::{
    NodeBatch, NodeSource, SourceError, SourceNode, StateDelta, Trie, TrieError, ValuesBefore, WantedNode,
};
use rocksdb::checkpoint::Checkpoint;
use rocksdb::properties;

use crate::StorageError;
use crate::base_state::BaseState;
use crate::block_log::BlockLogState;
use crate::branch_overlay::BranchOverlay;
use crate::change_set::{ChangeSet, ReplacedState, StoredValue, StoredValueView};
use crate::columns::{
    self, ADOPTED_BRANCH_KEY, BANS_KEY, BLOCKS, CALLS, CHANGES, FLUSHED_KEY, HEAD_KEY, HEIGHTS, META, RECEIPTS,
    TRANSACTIONS, TRIE, VALUES,
};
use crate::database::{Database, read_missing};
use crate::disk_bytes::DiskBytes;
use crate::disk_probe::PROBE_BYTES;
use crate::engine::{DATABASE_FOLDER, NODES_FOLDER, drop_columns};
use crate::flat::{self, FlatEntry};
use crate::headers::{self, HeaderRow};
use crate::history;
use crate::history_tail::HistoryTail;
use crate::inner_accounts::InnerAccounts;
use crate::kept_states::{self, KeptStates, PruningPlan};
use crate::log_index::{self, LogIndexQuery};
use crate::main_hashes::MainHashes;
use crate::node_cache::NodeCache;
use crate::node_files::NodeFileError;
use crate::options::{ChainIdentity, NodeVersions, StoreOptions};
use crate::record::{self, FlushedTrie, HeightEntry, RawReceipts, StoredBlock, StoredReceipts, TransactionLocation};
use crate::write_faults::WriteFault;

/// Look-ups in a cache since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Look-ups that found an entry.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
}

/// Sizes of the parts of an open database in bytes, and its ability to take writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStats {
    /// Table blocks, indexes and filters in memory.
    pub block_cache_bytes: u64,
    /// Long values (code) and trie nodes in memory.
    pub value_cache_bytes: u64,
    /// Look-ups of these values and nodes.
    pub value_cache_reads: CacheStats,
    /// Filters and indexes of the state, which stay in memory: part of `block_cache_bytes`.
    pub pinned_bytes: u64,
    /// Compactions that run.
    pub compactions: u64,
    /// Rows in memtables.
    pub write_buffer_bytes: u64,
    /// Files on the disk.
    pub file_bytes: u64,
    /// Estimated amount of pending compaction.
    pub compaction_bytes: u64,
    /// RocksDB stalls writes until compaction catches up.
    pub is_write_stopped: bool,
    /// Reason why the disk refuses writes; absent while it takes them.
    pub write_fault: Option<WriteFault>,
}

/// An open database. Reads never block each other or the writer. Only one thread writes at a time: the writer of the
/// chain.
pub struct Store {
    pub(crate) database: Database,
    pub(crate) main_hashes: MainHashes,
    pub(crate) kept: KeptStates,
    pub(crate) history_tail: RwLock<HistoryTail>,
    /// Incremented right before a batch that changes the flat state.
    pub(crate) generation: AtomicU64,
    pub(crate) block_log: BlockLogState,
    /// Number that is added, modulo 2^256, to the total difficulties of all rows but those of genesis.
    pub(crate) difficulty_correction: RwLock<U256>,
    pub(crate) nodes: NodeCache,
    /// Rows of a long branch, while there are any.
    pub(crate) branch: RwLock<Option<Weak<BranchOverlay>>>,
    /// Taken by copies of the database, and by the begin of an adoption, whose rows outside of the database no copy has.
    pub(crate) adoption: RwLock<()>,
}

impl Store {
    /// Returns the state that a fork begins with.
    pub fn base(&self) -> &BaseState {
        &self.database.base
    }

    /// Returns the data directory.
    pub fn dir(&self) -> &Path {
        self.database.dir()
    }

    /// Returns the generation: the number of changes of the flat state. A reader that has the generation of its head
    /// reads a flat value and then compares; if the generation is unchanged, the value belongs to that head.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns the hash of the head; `None` in a new database.
    pub fn head(&self) -> Result<Option<B256>, StorageError> {
        self.database.decoded(META, HEAD_KEY, |row| B256::try_from(row).ok())
    }

    /// Returns the banned peer addresses, one a line.
    pub fn bans(&self) -> Result<String, StorageError> {
        let bans = self.database.decoded(META, BANS_KEY, |row| std::str::from_utf8(row).ok().map(str::to_owned))?;
        Ok(bans.unwrap_or_default())
    }

    /// Returns a block by hash, on the best chain or beside it.
    pub fn block(&self, hash: &B256) -> Result<Option<StoredBlock>, StorageError> {
        let block = self.database.decoded(BLOCKS, hash.as_slice(), record::decode_block)?;
        let is_genesis = *hash == self.identity().genesis;
        Ok(block.map(|block| StoredBlock {
            total_difficulty: self.difficulty_of_row(block.total_difficulty, is_genesis),
            ..block
        }))
    }

    /// Returns the state root after a block, like [`StoredBlock::state_root`], without reading the rest of its row.
    pub fn state_root(&self, hash: &B256) -> Result<Option<B256>, StorageError> {
        self.database.decoded(BLOCKS, hash.as_slice(), record::decode_state_root)
    }

    /// Returns true if the block is stored.
    pub fn has_block(&self, hash: &B256) -> Result<bool, StorageError> {
        self.database.has_row(BLOCKS, hash.as_slice())
    }

    /// Returns the receipts of a block.
    pub fn receipts(&self, hash: &B256) -> Result<Option<StoredReceipts>, StorageError> {
        self.database.decoded(RECEIPTS, hash.as_slice(), record::decode_receipts)
    }

    /// Returns the accounts of the inner calls of a block; `None` if it was executed without the index of inner calls.
    pub fn inner_accounts(&self, hash: &B256) -> Result<Option<InnerAccounts>, StorageError> {
        self.database.decoded(CALLS, hash.as_slice(), InnerAccounts::decode)
    }

    /// Returns the undecoded receipts of a block.
    pub fn raw_receipts(&self, hash: &B256) -> Result<Option<RawReceipts>, StorageError> {
        self.database.decoded(RECEIPTS, hash.as_slice(), record::split_receipts)
    }

    /// Returns all blocks of a height, in order of arrival.
    pub fn blocks_at(&self, number: u64) -> Result<Vec<HeightEntry>, StorageError> {
        let mut entries = self.rows_at(number)?;
        for entry in &mut entries {
            entry.total_difficulty = self.difficulty_of_row(entry.total_difficulty, number == 0);
        }
        Ok(entries)
    }

    /// Returns all blocks of a height as stored: without the correction of total difficulties.
    pub(crate) fn rows_at(&self, number: u64) -> Result<Vec<HeightEntry>, StorageError> {
        Ok(self.database.decoded(HEIGHTS, &number.to_be_bytes(), record::decode_heights)?.unwrap_or_default())
    }

    fn difficulty_of_row(&self, counted: U256, is_genesis: bool) -> U256 {
        if is_genesis { counted } else { record::corrected_difficulty(counted, self.difficulty_correction()) }
    }

    /// Returns the total difficulty of a block for its row.
    pub(crate) fn difficulty_for_row(&self, number: u64, total_difficulty: U256) -> U256 {
        if number == 0 { total_difficulty } else { total_difficulty.wrapping_sub(self.difficulty_correction()) }
    }

    pub(crate) fn difficulty_correction(&self) -> U256 {
        *self.difficulty_correction.read()
    }

    /// Returns the hash of the block of the best chain at a height.
    pub fn main_hash(&self, number: u64) -> Result<Option<B256>, StorageError> {
        self.main_hashes
            .get(number, || Ok(self.rows_at(number)?.into_iter().find(|entry| entry.is_main).map(|entry| entry.hash)))
    }

    /// Returns the highest height that has a block; it can be above the head.
    pub fn highest_number(&self) -> Result<Option<u64>, StorageError> {
        let engine = self.database.engine()?;
        let mut rows = engine.db.raw_iterator_cf(engine.column(HEIGHTS)?);
        rows.seek_to_last();
        let number = rows.key().and_then(|key| key.try_into().ok()).map(u64::from_be_bytes);
        rows.status().map_err(|source| self.database.engine_error("read the highest block", source))?;
        Ok(number)
    }

    /// Returns the locations of a transaction in order of arrival, on the best chain and beside it.
    pub fn transaction_locations(&self, hash: &B256) -> Result<Vec<TransactionLocation>, StorageError> {
        Ok(self.database.decoded(TRANSACTIONS, hash.as_slice(), record::decode_locations)?.unwrap_or_default())
    }

    /// Returns a long value by its Keccak hash, also the root of a state if all versions of nodes are kept.
    pub fn by_hash(&self, hash: &B256) -> Result<Option<Bytes>, StorageError> {
        Ok(self.database.by_hash(hash)?.map(|found| found.message))
    }

    /// Like [`Store::by_hash`], through the cache, for readers that share values with others.
    pub fn cached_by_hash(&self, hash: &B256) -> Result<Option<Bytes>, StorageError> {
        let found = self.cached(hash, NodeCache::insert, || self.database.by_hash(hash))?;
        Ok(found.map(|found| found.message))
    }

    /// Returns a node of a directory with all versions, through the cache.
    pub(crate) fn cached_node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, StorageError> {
        self.cached(&wanted.hash, NodeCache::insert_read_again, || self.database.node(wanted))
    }

    /// Like [`Store::cached_node`] for several nodes, of which those outside of the cache are read at once.
    pub(crate) fn cached_nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, StorageError> {
        let found = wanted.iter().map(|wanted| self.nodes.get(&wanted.hash)).collect();
        read_missing(found, wanted, |missing| {
            let read = self.database.nodes(missing)?;
            for (wanted, node) in missing.iter().zip(&read) {
                node.iter().for_each(|node| self.nodes.insert_read_again(wanted.hash, node));
            }
            Ok(read)
        })
    }

    fn cached(
        &self,
        hash: &B256,
        insert: fn(&NodeCache, B256, &SourceNode),
        read: impl FnOnce() -> Result<Option<SourceNode>, StorageError>,
    ) -> Result<Option<SourceNode>, StorageError> {
        if let Some(found) = self.nodes.get(hash) {
            return Ok(Some(found));
        }
        let found = read()?;
        found.iter().for_each(|found| insert(&self.nodes, *hash, found));
        Ok(found)
    }

    /// Commits a trie of a directory with all versions of nodes: its batch has a place in the node files, which is kept for it.
    pub fn commit(&self, trie: &mut Trie) -> Result<NodeBatch, StorageError> {
        Ok(self.database.engine()?.journal.commit(trie))
    }

    /// Like [`Store::commit`], after changes to the trie as with [`Trie::apply_known`].
    pub fn apply_and_commit<E: From<StorageError> + From<TrieError>>(
        &self,
        trie: &mut Trie,
        delta: &StateDelta,
        before: ValuesBefore<'_, '_>,
    ) -> Result<NodeBatch, E> {
        // The trie reads nodes from the database meanwhile.
        let journal = Arc::clone(&self.database.engine()?.journal);
        Ok(journal.place(|place| trie.apply_and_commit(delta, before, place))?)
    }

    /// Iterates over the whole flat state in key order, without the bytes of long values. The caller must hold the
    /// writer: pages are read one after another, not from one snapshot.
    pub fn flat_entries(&self) -> impl Iterator<Item = Result<FlatEntry, StorageError>> + '_ {
        flat::entries(&self.database)
    }

    /// Returns the value of a trie key at the head. The reader compares [`Store::generation`] before and after to be
    /// sure which head the value belongs to.
    pub fn flat_get(&self, key: &[u8]) -> Result<Option<Bytes>, StorageError> {
        self.value_of(key, &flat::get(&self.database, key)?, |mark| self.is_in_flat(mark))
    }

    /// Returns the bytes of the stored value of a key: those of the state that a fork begins with if it is unwritten. `is_present`
    /// returns whether another key has a value in the same view.
    pub fn value_of<E: From<StorageError>>(
        &self,
        key: &[u8],
        stored: &StoredValue,
        is_present: impl FnOnce(&[u8]) -> Result<bool, E>,
    ) -> Result<Option<Bytes>, E> {
        if stored.is_unwritten() { self.base().value(key, is_present) } else { Ok(self.load(stored)?) }
    }

    /// Like [`Store::value_of`], for length and Keccak hash. Does not read the bytes of a long value.
    pub fn length_and_hash_of<E: From<StorageError>>(
        &self,
        key: &[u8],
        stored: &StoredValue,
        is_present: impl FnOnce(&[u8]) -> Result<bool, E>,
    ) -> Result<Option<(usize, B256)>, E> {
        match stored.is_unwritten() {
            true => self.base().length_and_hash(key, is_present),
            false => Ok(stored.length_and_hash()),
        }
    }

    /// Returns the bytes of a stored value; `None` if it is absent or unwritten.
    pub fn load(&self, value: &StoredValue) -> Result<Option<Bytes>, StorageError> {
        match StoredValue::view(value.row()) {
            None | Some(StoredValueView::Absent | StoredValueView::Unwritten) => Ok(None),
            Some(StoredValueView::Inline(value)) => Ok(Some(Bytes::copy_from_slice(value))),
            Some(StoredValueView::Reference { hash, .. }) => {
                Ok(Some(self.cached_by_hash(&hash)?.ok_or(StorageError::Missing { column: columns::NODES, hash })?))
            }
        }
    }

    /// Returns the value of a trie key after block `number` of the best chain. In a fork it may be unwritten. The reader compares
    /// [`Store::branch`] before and after: if it was even and is unchanged, no block has left the best chain meanwhile.
    pub fn value_after(&self, key: &[u8], number: u64) -> Result<StoredValue, StorageError> {
        // In this order: a block that changes the key between two reads is in the tail before it changes the flat row, and its row is
        // written before it leaves the tail.
        let current = flat::get(&self.database, key)?;
        let recent = self.history_tail.read().value_before_change(key, number);
        let value = history::value_before_change(&self.database, key, number)?.or(recent).unwrap_or(current);
        self.kept.check(number)?;
        Ok(value)
    }

    /// Visits each trie key below a prefix that had a value after block `number` of the best chain once, in no order, until
    /// `visit` breaks. Visited keys count only if this succeeds.
    pub fn visit_keys_after(
        &self,
        prefix: &[u8],
        number: u64,
        visit: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), StorageError> {
        history::visit_keys(&self.database, &self.history_tail, prefix, number, visit)?;
        self.kept.check(number)
    }

    /// Returns changes with the bytes of their new values.
    pub fn delta_of(&self, changes: &ChangeSet) -> Result<StateDelta, StorageError> {
        let writes = changes.iter().map(|(key, change)| Ok((key.to_vec(), self.load(&change.after)?)));
        Ok(StateDelta { writes: writes.collect::<Result<_, StorageError>>()?, ..StateDelta::default() })
    }

    /// Returns a header that was received before its block, by number and hash.
    pub fn header(&self, number: u64, hash: &B256) -> Result<Option<HeaderRow>, StorageError> {
        let header = headers::get(&self.database, number, hash)?;
        Ok(header.map(|header| HeaderRow { difficulty: self.difficulty_of_row(header.difficulty, false), ..header }))
    }

    /// Returns number and hash of the last header of the best header chain; `None` if there is none.
    pub fn header_tip(&self) -> Result<Option<(u64, B256)>, StorageError> {
        headers::tip(&self.database)
    }

    /// Returns the versions of trie nodes that the directory holds.
    pub fn node_versions(&self) -> NodeVersions {
        self.database.settings.options.node_versions
    }

    /// Whether [`Store::value_after`] and [`Store::visit_keys_after`] read earlier states. Otherwise all of them have tries.
    pub fn has_history(&self) -> bool {
        self.database.has_history()
    }

    /// Returns the block whose trie is stored by position; `None` if nothing was flushed yet.
    pub fn flushed_trie(&self) -> Result<Option<FlushedTrie>, StorageError> {
        self.database.decoded(META, FLUSHED_KEY, FlushedTrie::decode)
    }

    /// Returns the lowest number of a block whose changes the next start needs for trie nodes; `None` if it needs none.
    pub fn lowest_unflushed_block(&self) -> Result<Option<u64>, StorageError> {
        Ok(self.database.engine()?.journal.lowest_block())
    }

    /// Returns the number of the oldest block whose state is kept; 0 if all states are.
    pub fn oldest_state(&self) -> u64 {
        self.kept.oldest()
    }

    /// Returns the number of the first block whose receipts are stored, as are those of all later blocks of the best chain.
    pub fn first_receipts(&self) -> u64 {
        self.kept.first_receipts()
    }

    /// Plans to give up the states below block `oldest`: reads the changes of the blocks that go. For some hundred blocks at
    /// a time.
    pub fn plan_pruning(&self, oldest: u64) -> Result<PruningPlan, StorageError> {
        PruningPlan::read(&self.database, self.oldest_state(), oldest, self.branch())
    }

    /// Carries out a plan: reads of older states fail from then on. Their rows stay until [`Store::drop_pruned`]. Returns false
    /// if the plan is outdated. One writer at a time.
    pub fn prune_states(&self, plan: PruningPlan) -> Result<bool, StorageError> {
        let branch = self.branch();
        let is_current = plan.from == self.oldest_state() && plan.branch == branch && branch.is_multiple_of(2);
        if is_current {
            self.kept.raise(&self.database, plan)?;
        }
        Ok(is_current)
    }

    /// Lets the rows of states that are not kept disappear in the background, after the database has waited for the disk.
    pub fn drop_pruned(&self) -> Result<(), StorageError> {
        self.kept.drop_rows(&self.database)
    }

    /// Rewrites the files of the state, of changes and of history, which deletes all rows of states that are not kept, and all rows that
    /// later ones replace. `on_step` gets finished and planned steps, and returns false to end it.
    pub fn compact_states(&self, on_step: impl FnMut(usize, usize) -> bool) -> Result<(), StorageError> {
        kept_states::compact(&self.database, on_step)
    }

    /// Returns the number of the current branch. It is odd while blocks leave the best chain.
    pub fn branch(&self) -> u64 {
        self.main_hashes.branch()
    }

    /// Returns the changes that an executed block made to the state.
    pub fn changes(&self, number: u64, hash: &B256) -> Result<ChangeSet, StorageError> {
        let key = columns::position_key(number, hash);
        let found = self.database.decoded(CHANGES, &key, ChangeSet::decode)?;
        if number > 0 {
            // The state before the block.
            self.kept.check(number - 1)?;
        }
        found.ok_or(StorageError::Missing { column: CHANGES, hash: *hash })
    }

    /// Returns the changes from the state of one block to that of another. `retracted`: the blocks to undo, highest first;
    /// `enacted`: those to apply then, lowest first.
    pub fn difference(&self, retracted: &[(u64, B256)], enacted: &[(u64, B256)]) -> Result<ChangeSet, StorageError> {
        let mut difference = ChangeSet::default();
        for (number, hash) in retracted {
            difference.extend(&self.changes(*number, hash)?.reversed());
        }
        for (number, hash) in enacted {
            difference.extend(&self.changes(*number, hash)?);
        }
        Ok(difference)
    }

    /// Returns length and Keccak hash of a value at the head, without reading the bytes of a long value.
    pub fn flat_length_and_hash(&self, key: &[u8]) -> Result<Option<(usize, B256)>, StorageError> {
        self.length_and_hash_of(key, &flat::get(&self.database, key)?, |mark| self.is_in_flat(mark))
    }

    /// Returns the stored value of a trie key at the head. In a fork it may be unwritten.
    pub fn flat_stored(&self, key: &[u8]) -> Result<StoredValue, StorageError> {
        flat::get(&self.database, key)
    }

    fn is_in_flat(&self, key: &[u8]) -> Result<bool, StorageError> {
        Ok(flat::get(&self.database, key)?.is_present())
    }

    /// Visits keys and values below a key prefix in key order. Not atomic with a concurrent write: compare the
    /// generation before and after.
    pub fn visit_flat(
        &self,
        prefix: &[u8],
        visit: impl FnMut(&[u8], Bytes) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        flat::visit(&self.database, prefix, visit)
    }

    /// Returns the numbers from `from` to `to`, ascending, of blocks that may have a log of the query; `None` if the
    /// query has no condition. The cost grows with the number of postings found, so callers split long ranges.
    pub fn log_candidates(
        &self,
        query: &LogIndexQuery<'_>,
        from: u64,
        to: u64,
    ) -> Result<Option<Vec<u64>>, StorageError> {
        log_index::candidates(&self.database, query, from, to)
    }

    /// Returns how the state after a block was replaced; `None` if it was not.
    pub fn replaced_state(&self, block: &B256) -> Result<Option<ReplacedState>, StorageError> {
        self.database.decoded(META, &columns::original_root_key(block), ReplacedState::decode)
    }

    /// Returns the state root that the transactions of a block led to; `None` if the state was not replaced.
    pub fn original_state_root(&self, block: &B256) -> Result<Option<B256>, StorageError> {
        Ok(self.replaced_state(block)?.map(|replaced| replaced.original_root))
    }

    /// Returns the tip of a long branch that the head is being moved to, see [`crate::BranchAdoption`].
    pub fn adopted_branch(&self) -> Result<Option<FlushedTrie>, StorageError> {
        self.database.decoded(META, ADOPTED_BRANCH_KEY, FlushedTrie::decode)
    }

    /// Copies the running database into a folder that does not exist yet on the same disk, with hard links.
    pub fn checkpoint(&self, path: &Path) -> Result<(), StorageError> {
        let _no_adoption = self.adoption.read();
        if self.adopted_branch()?.is_some() {
            return Err(StorageError::MovingHead { dir: self.dir().to_path_buf() });
        }
        let engine = self.database.engine()?;
        let copy = || Checkpoint::new(&engine.db).and_then(|checkpoint| checkpoint.create_checkpoint(path));
        engine.files.checkpoint(&path.join(NODES_FOLDER), copy).map_err(|error| match error {
            NodeFileError::Engine(source) => self.database.engine_error("make a checkpoint", source),
            NodeFileError::File(source) => StorageError::from_file_error(path, source),
        })
    }

    /// Returns the identity of the chain.
    pub fn identity(&self) -> &ChainIdentity {
        &self.database.settings.identity
    }

    /// Copies the database into another data directory, which must be empty, with hard links where possible.
    pub fn copy_to(&self, dir: &Path) -> Result<(), StorageError> {
        self.checkpoint(&dir.join(DATABASE_FOLDER))
    }

    /// Deletes everything but the trie and long values, of a copy that only serves its trie and is not open. The next opening makes the
    /// other columns again, empty.
    pub fn empty_all_but_trie(dir: &Path, options: &StoreOptions) -> Result<(), StorageError> {
        drop_columns(dir, options, &[META, TRIE, VALUES])
    }

    /// Waits until all writes are on the disk and survive a power failure.
    pub fn flush(&self) -> Result<(), StorageError> {
        self.database.check_writable()?;
        let flushed = self.database.engine()?.db.flush_wal(true);
        flushed.map_err(|source| self.database.begin_fault(NodeFileError::Engine(source), PROBE_BYTES))
    }

    /// Returns true if the start found fewer writes than the log has, or than the last orderly stop had left: the log is damaged.
    pub fn has_lost_writes(&self) -> Result<bool, StorageError> {
        Ok(self.database.engine()?.has_lost_writes)
    }

    /// Returns the size of the database's files in bytes.
    pub fn disk_bytes(&self) -> Result<DiskBytes, StorageError> {
        let files = self.database.engine()?.db.live_files();
        let files = files.map_err(|source| self.database.engine_error("list files", source))?;
        let mut bytes = DiskBytes { nodes: self.database.node_bytes()?, ..DiskBytes::default() };
        files.iter().for_each(|file| *bytes.of_column(&file.column_family_name) += file.size as u64);
        Ok(bytes)
    }

    /// Returns the current statistics, summed over all columns.
    pub fn stats(&self) -> Result<StoreStats, StorageError> {
        Ok(StoreStats {
            // All columns share one cache: each of them reports the whole.
            block_cache_bytes: self.database.engine_number(META, properties::BLOCK_CACHE_USAGE)?,
            pinned_bytes: self.database.engine_number(META, properties::BLOCK_CACHE_PINNED_USAGE)?,
            compactions: self.database.engine_number(META, properties::NUM_RUNNING_COMPACTIONS)?,
            value_cache_bytes: self.nodes.bytes(),
            value_cache_reads: self.nodes.reads(),
            write_buffer_bytes: self.database.engine_sum(properties::CUR_SIZE_ALL_MEM_TABLES)?,
            file_bytes: self
                .database
                .engine_sum(properties::TOTAL_SST_FILES_SIZE)?
                .saturating_add(self.database.node_bytes()?),
            compaction_bytes: self.database.engine_sum(properties::ESTIMATE_PENDING_COMPACTION_BYTES)?,
            is_write_stopped: self.database.engine_number(META, properties::IS_WRITE_STOPPED)? != 0,
            write_fault: self.database.write_fault(),
        })
    }
}

impl NodeSource for Store {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        self.by_hash(hash).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }

    fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        self.database.node(wanted).map_err(|error| SourceError { hash: wanted.hash, reason: Box::new(error) })
    }

    fn nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, SourceError> {
        let Some(first) = wanted.first() else { return Ok(Vec::new()) };
        self.database.nodes(wanted).map_err(|error| SourceError { hash: first.hash, reason: Box::new(error) })
    }
}
