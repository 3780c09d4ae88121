use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::{mem, slice};

use rhizome_primitives::{Address, B256, Receipt, U256};
use rhizome_trie::{NodeBatch, NodeRows};
use rocksdb::WriteBatch;

use crate::change_set::{ChangeSet, ReplacedState};
use crate::columns::{
    self, BANS_KEY, BLOCKS, CALLS, CHANGES, HEAD_KEY, HEIGHTS, HISTORY_END_KEY, META, NODE_BATCHES, RECEIPTS,
    TRANSACTIONS, VALUES,
};
use crate::disk_probe::PROBE_BYTES;
use crate::headers::{self, HeaderWrite};
use crate::merged_lists::merge_sorted;
use crate::node_journal::FlushError;
use crate::options::NodeVersions;
use crate::record::{self, FlushedTrie, HeightEntry};
use crate::value_references::ReferenceChanges;
use crate::write_faults::WriteFault;
use crate::{
    InnerAccounts, StorageError, Store, address_index, block_log, call_index, current_nodes, flat, history,
    history_tail, journal_rows, log_index, older_blocks,
};

fn no_block(number: u64) -> StorageError {
    StorageError::damaged_row(HEIGHTS, &number.to_be_bytes(), "names no block of the best chain")
}

/// Approximate size of a row in a batch, without a long value.
const ROW_BYTES: usize = 96;

/// Everything that one block changes in the database.
pub struct BlockWrite<'a> {
    /// Hash of the block.
    pub hash: B256,
    /// Number of the block.
    pub number: u64,
    /// Encoding of the block.
    pub raw: &'a [u8],
    /// Total difficulty of the block.
    pub total_difficulty: U256,
    /// State root after the block, in the current trie format.
    pub state_root: B256,
    /// Sender of each transaction, zero for REMASC.
    pub senders: &'a [Address],
    /// Hash of each transaction.
    pub transaction_hashes: &'a [B256],
    /// Receipt of each transaction, for the indexes.
    pub receipts: &'a [Receipt],
    /// Result of [`receipts_row`](crate::receipts_row).
    pub receipts_row: &'a [u8],
    /// Accounts of its inner calls; `None` unless they were collected.
    pub inner_accounts: Option<&'a InnerAccounts>,
    /// Trie nodes and long values that the block adds.
    pub nodes: NewNodes,
    /// Changes of the state by the block; absent for a block that is not executed.
    pub changes: Option<&'a Arc<ChangeSet>>,
    /// Present if the block becomes the head.
    pub head_change: Option<HeadChange<'a>>,
}

/// Trie nodes and long values that a write adds.
#[derive(Default)]
pub struct NewNodes {
    /// By Keccak hash: nodes and long values of a directory with all versions, long values only of one with the current ones.
    pub by_hash: NodeBatch,
    /// Rows of a flush of the trie to the state after the write, of a directory with current nodes.
    pub flushed: Option<NodeRows>,
    /// Root of the state before the block, of a directory with all versions: the nodes follow from it and the changes of the block, so
    /// that they need no row.
    pub base_root: Option<B256>,
}

impl From<NodeBatch> for NewNodes {
    fn from(by_hash: NodeBatch) -> Self {
        Self { by_hash, ..Self::default() }
    }
}

/// Changes of the best chain when a block becomes the head.
pub struct HeadChange<'a> {
    /// Number and hash of the blocks that join the best chain, lowest first. The last one is the new head.
    pub enacted: &'a [(u64, B256)],
    /// Number and hash of the blocks that leave the best chain, highest first.
    pub retracted: &'a [(u64, B256)],
}

/// Replacement of the state after the head, other than by its transactions.
pub struct StateChange<'a> {
    /// Number of the head.
    pub number: u64,
    /// Hash of the head.
    pub head: B256,
    /// Root of the new state.
    pub state_root: B256,
    /// Trie nodes and long values that the state adds.
    pub nodes: NewNodes,
    /// Changes from the current state to the new one.
    pub changes: &'a ChangeSet,
}

/// Return of the head to an earlier block of the best chain.
pub struct Rewind<'a> {
    /// Height above which all blocks are deleted.
    pub height: u64,
    /// Hash of the new head, on the best chain.
    pub head: B256,
    /// Number and hash of the blocks of the best chain above the new head, highest first.
    pub retracted: &'a [(u64, B256)],
    /// Changes from the state of the head to that after the new head.
    pub difference: &'a ChangeSet,
    /// State root after the new head.
    pub state_root: B256,
    /// Flush of the trie to the state after the new head. Needed if the deleted blocks are part of the flushed trie.
    pub flushed: Option<NodeRows>,
}

impl BlockWrite<'_> {
    /// Whether the block extends the best chain, without other blocks.
    fn is_child(&self) -> bool {
        let change = self.head_change.as_ref();
        self.number > 0 && change.is_some_and(|change| change.retracted.is_empty() && change.enacted.len() == 1)
    }

    /// Returns the approximate size of the write batch.
    fn batch_bytes(&self) -> usize {
        let changes = self.changes.map_or(0, |changes| changes.len());
        let rows = self.transaction_hashes.len() * 3 + changes * if self.head_change.is_some() { 3 } else { 1 };
        let nodes = if self.nodes.base_root.is_some() { 0 } else { self.nodes.by_hash.bytes() };
        self.raw.len()
            + nodes
            + self.nodes.flushed.as_ref().map_or(0, current_nodes::flush_bytes)
            + self.receipts_row.len()
            + rows * ROW_BYTES
            + 4096
    }
}

impl Store {
    /// Replaces the state after the head in one batch, and stores the state root that its transactions led to. Returns
    /// the generation of the flat state after the write. One writer at a time.
    pub fn write_state(&self, mut change: StateChange<'_>) -> Result<u64, StorageError> {
        let stored = self
            .block(&change.head)?
            .ok_or_else(|| StorageError::damaged_row(BLOCKS, change.head.as_slice(), "is missing"))?;
        self.database.check_writable()?;
        let engine = self.database.engine()?;
        let mut batch = WriteBatch::default();
        let flushed = FlushedTrie { number: change.number, hash: change.head, root: change.state_root };
        self.batch_nodes(&mut batch, mem::take(&mut change.nodes), flushed, None)?;
        let difficulty = self.difficulty_for_row(change.number, stored.total_difficulty);
        let row = record::encode_block(&stored.raw, difficulty, &change.state_root, &stored.senders);
        batch.put_cf(engine.column(BLOCKS)?, change.head, row);
        let (meta, key) = (engine.column(META)?, columns::original_root_key(&change.head));
        let mut replaced = self.replaced_state(&change.head)?;
        let original_root = replaced.as_ref().map_or(stored.state_root, |replaced| replaced.original_root);
        let replacement = &mut replaced.get_or_insert_with(|| ReplacedState::new(original_root)).changes;
        replacement.extend(change.changes);
        match replaced.filter(|replaced| !replaced.changes.is_empty()) {
            Some(replaced) => batch.put_cf(meta, key, replaced.encode()),
            None => batch.delete_cf(meta, key),
        }
        // The block changes its parent's state to the new one: later reads of the parent's state must not see the new values.
        let mut changes = self.changes_of_head(change.number, &change.head)?;
        let removed = history::row_keys(&self.database, change.number, &changes).collect();
        history::remove_in_batch(&self.database, &mut batch, removed)?;
        changes.extend(change.changes);
        self.batch_changes(&mut batch, change.number, &change.head, &changes)?;
        // The changes that these replace keep their references: a snapshot may restore them.
        let mut references = ReferenceChanges::default();
        references.add_set(change.changes);
        references.add_to_batch(&self.database, &mut batch)?;
        history::add_to_batch(&self.database, &mut batch, change.number, &changes)?;
        flat::add_to_batch(&self.database, &mut batch, change.changes.iter())?;
        self.write_changed_chain(batch, change.number.saturating_sub(1), change.number)
    }

    /// Returns the changes that led to the state of the head. The block that a fork begins at has none but those by hand.
    fn changes_of_head(&self, number: u64, head: &B256) -> Result<ChangeSet, StorageError> {
        if self.base().is_fork() && number == self.oldest_state() {
            let row = self.database.decoded(CHANGES, &columns::position_key(number, head), ChangeSet::decode)?;
            return Ok(row.unwrap_or_default());
        }
        self.changes(number, head)
    }

    /// Writes a block with everything that belongs to it in one batch: a crash leaves either all of it or no part. Returns
    /// the generation of the flat state after the write. One writer at a time.
    pub fn write_block(&self, mut write: BlockWrite<'_>) -> Result<u64, StorageError> {
        if write.is_child() {
            return self.write_children(vec![write]);
        }
        self.database.check_writable()?;
        let mut batch = WriteBatch::with_capacity_bytes(write.batch_bytes());
        self.batch_block(&mut batch, &mut write)?;
        self.batch_indexes(&mut batch, slice::from_ref(&write))?;
        let Some(best) = &write.head_change else {
            self.database.write_batch(batch)?;
            self.block_log.written(write.number);
            return Ok(self.generation());
        };
        batch.put_cf(self.database.engine()?.column(META)?, HEAD_KEY, write.hash);
        self.batch_state(&mut batch, best, Some(&write))?;
        address_index::move_head(self, &mut batch, best, Some(&write))?;
        call_index::move_head(self, &mut batch, best, Some(&write))?;
        let fork = best.enacted.first().map_or(write.number, |(number, _)| *number).saturating_sub(1);
        let written = || self.write_changed_chain(batch, fork, write.number);
        let generation = if best.retracted.is_empty() { written() } else { self.main_hashes.change(written) }?;
        self.block_log.written(write.number);
        Ok(generation)
    }

    /// Like [`Store::write_block`] for several executed blocks, each the child of the one before, the first one a child of the
    /// head. The last one becomes the head.
    pub fn write_children(&self, mut writes: Vec<BlockWrite<'_>>) -> Result<u64, StorageError> {
        self.database.check_writable()?;
        let mut batch = WriteBatch::with_capacity_bytes(writes.iter().map(BlockWrite::batch_bytes).sum());
        for write in &mut writes {
            self.batch_block(&mut batch, write)?;
        }
        let changes = writes.iter().filter_map(|write| Some(write.changes?.iter().collect()));
        let values = merge_sorted(changes.collect());
        self.batch_indexes(&mut batch, &writes)?;
        address_index::add_children(self, &mut batch, &writes)?;
        call_index::add_children(self, &mut batch, &writes)?;
        flat::add_to_batch(&self.database, &mut batch, values)?;
        if let Some(last) = writes.last() {
            batch.put_cf(self.database.engine()?.column(META)?, HEAD_KEY, last.hash);
        }
        let generation = self.write_extended_chain(batch, &writes)?;
        writes.first().inspect(|first| self.block_log.written(first.number));
        Ok(generation)
    }

    /// Writes a batch that adds children of the head to the best chain. Their changes join the tail of the history; if it is full, its
    /// rows are written first.
    fn write_extended_chain(&self, mut batch: WriteBatch, writes: &[BlockWrite<'_>]) -> Result<u64, StorageError> {
        let Some(first) = writes.first() else { return Ok(self.generation()) };
        let changes = || writes.iter().filter_map(|write| Some((write.number, write.changes?)));
        let added: usize = changes().map(|(_, changes)| changes.len()).sum();
        if !self.database.has_history() {
            return self.write_new_head(batch);
        }
        self.database.engine()?.note_blocks(writes.len())?;
        if self.history_tail.read().changes() + added > self.database.settings.options.history_tail {
            self.index_history(&mut batch)?;
        }
        {
            let mut tail = self.history_tail.write();
            changes().for_each(|(number, changes)| tail.push(number, Arc::clone(changes)));
        }
        let written = self.write_new_head(batch);
        if written.is_err() {
            self.history_tail.write().truncate(first.number);
        }
        written
    }

    /// Writes the rows of the tail of the history, and empties it. `batch` gets the new end of the column.
    fn index_history(&self, batch: &mut WriteBatch) -> Result<(), StorageError> {
        {
            let tail = self.history_tail.read();
            let Some(last) = tail.last() else { return Ok(()) };
            tail.ingest(&self.database)?;
            history_tail::put_end(&self.database, batch, last)?;
        }
        self.history_tail.write().clear();
        Ok(())
    }

    /// Writes a batch that changes the best chain other than by children of its head, with the rows of the history of all its blocks
    /// up to `kept`. `head`: number of the new head. Readers of the history wait meanwhile.
    fn write_changed_chain(&self, mut batch: WriteBatch, kept: u64, head: u64) -> Result<u64, StorageError> {
        if !self.database.has_history() {
            return self.write_new_head(batch);
        }
        let mut tail = self.history_tail.write();
        tail.add_to_batch(&self.database, &mut batch, kept)?;
        history_tail::put_end(&self.database, &mut batch, head)?;
        let generation = self.write_new_head(batch)?;
        tail.clear();
        Ok(generation)
    }

    /// Writes the rows of the history that are in memory only, which makes the next start faster.
    pub fn flush_history(&self) -> Result<(), StorageError> {
        self.database.check_writable()?;
        let mut batch = WriteBatch::default();
        self.index_history(&mut batch)?;
        self.database.write_batch(batch)
    }

    /// Reads the changes of the blocks whose rows are not in the history yet.
    pub(crate) fn load_history_tail(&self) -> Result<(), StorageError> {
        if !self.database.has_history() {
            return history::delete_all(&self.database);
        }
        let mut tail = self.history_tail.write();
        tail.clear();
        let end = self.database.decoded(META, HISTORY_END_KEY, |row| row.try_into().ok().map(u64::from_be_bytes))?;
        let Some(end) = end else { return Ok(()) };
        // The changes that led to the oldest kept state may have been removed.
        for number in end.max(self.oldest_state()).saturating_add(1).. {
            let Some(main) = self.blocks_at(number)?.into_iter().find(|entry| entry.is_main) else { break };
            tail.push(number, Arc::new(self.changes(number, &main.hash)?));
        }
        Ok(())
    }

    /// Adds the rows of a block, except those of its transactions and logs, and of the state of the head.
    fn batch_block(&self, batch: &mut WriteBatch, write: &mut BlockWrite<'_>) -> Result<(), StorageError> {
        let engine = self.database.engine()?;
        let flushed = FlushedTrie { number: write.number, hash: write.hash, root: write.state_root };
        self.batch_nodes(batch, mem::take(&mut write.nodes), flushed, write.changes)?;
        let difficulty = self.difficulty_for_row(write.number, write.total_difficulty);
        let row = record::encode_block(write.raw, difficulty, &write.state_root, write.senders);
        batch.put_cf(engine.column(BLOCKS)?, write.hash, row);
        batch.put_cf(engine.column(RECEIPTS)?, write.hash, write.receipts_row);
        self.batch_heights(batch, write)?;
        if let Some(accounts) = write.inner_accounts {
            call_index::put_accounts(self, batch, &write.hash, accounts)?;
        }
        if let Some(changes) = write.changes {
            self.batch_changes(batch, write.number, &write.hash, changes)?;
        }
        Ok(())
    }

    /// Adds the logs, the locations of the transactions and the references to long values of all blocks of a batch.
    fn batch_indexes(&self, batch: &mut WriteBatch, writes: &[BlockWrite<'_>]) -> Result<(), StorageError> {
        log_index::add_to_batch(&self.database, batch, writes.iter().map(|write| (write.number, write.receipts)))?;
        let mut references = ReferenceChanges::default();
        writes.iter().filter_map(|write| write.changes).for_each(|changes| references.add_set(changes));
        references.add_to_batch(&self.database, batch)?;
        let engine = self.database.engine()?;
        let column = engine.column(TRANSACTIONS)?;
        let located = writes.iter().flat_map(|write| {
            write.transaction_hashes.iter().zip(0..).map(|(hash, index): (&B256, u32)| (hash, index, &write.hash))
        });
        let mut located: Vec<_> = located.collect();
        // In key order, which speeds up the insertion: see `columns.rs`. Stable: the locations of a hash stay in order of arrival.
        located.sort_by_key(|(hash, ..)| *hash);
        for (hash, index, block) in located {
            batch.merge_cf(column, hash, record::encode_location(block, index));
        }
        Ok(())
    }

    fn batch_changes(
        &self,
        batch: &mut WriteBatch,
        number: u64,
        hash: &B256,
        changes: &ChangeSet,
    ) -> Result<(), StorageError> {
        let engine = self.database.engine()?;
        batch.put_cf(engine.column(CHANGES)?, columns::position_key(number, hash), changes.encode());
        Ok(())
    }

    /// Moves flat state and history to the new head. `new`: the block that is written with the batch.
    fn batch_state(
        &self,
        batch: &mut WriteBatch,
        best: &HeadChange<'_>,
        new: Option<&BlockWrite<'_>>,
    ) -> Result<(), StorageError> {
        let none = ChangeSet::default();
        let own = new.and_then(|write| write.changes).map_or(&none, |changes| &**changes);
        let is_new = |hash: &B256| new.is_some_and(|write| write.hash == *hash);
        let mut difference = ChangeSet::default();
        let mut removed = Vec::new();
        for (number, hash) in best.retracted {
            let changes = self.changes(*number, hash)?;
            removed.extend(history::row_keys(&self.database, *number, &changes));
            difference.extend(&changes.reversed());
        }
        history::remove_in_batch(&self.database, batch, removed)?;
        for (number, hash) in best.enacted {
            let stored = if is_new(hash) { None } else { Some(self.changes(*number, hash)?) };
            let changes = stored.as_ref().unwrap_or(own);
            history::add_to_batch(&self.database, batch, *number, changes)?;
            difference.extend(changes);
        }
        flat::add_to_batch(&self.database, batch, difference.iter())
    }

    /// Writes a batch that changes the flat state. The generation is incremented first: a reader that sees any part of
    /// the batch also sees the new generation.
    pub(crate) fn write_new_head(&self, batch: WriteBatch) -> Result<u64, StorageError> {
        let generation = self.generation.fetch_add(1, Ordering::SeqCst) + 1;
        self.database.write_batch(batch)?;
        Ok(generation)
    }

    /// Adds the nodes of a block to the batch.
    fn batch_nodes(
        &self,
        batch: &mut WriteBatch,
        nodes: NewNodes,
        flushed: FlushedTrie,
        changes: Option<&Arc<ChangeSet>>,
    ) -> Result<(), StorageError> {
        if self.database.settings.options.node_versions == NodeVersions::All {
            return self.batch_node_versions(batch, nodes, (flushed.number, flushed.hash), changes);
        }
        let engine = self.database.engine()?;
        let values = engine.column(VALUES)?;
        for value in nodes.by_hash.named() {
            batch.put_cf(values, value.hash, value.message);
        }
        if let Some(rows) = nodes.flushed {
            current_nodes::add_flush_to_batch(&self.database, batch, &rows, flushed)?;
        }
        Ok(())
    }

    /// Moves the column of current nodes to the trie of the head.
    pub fn flush_trie(&self, rows: NodeRows, flushed: FlushedTrie) -> Result<(), StorageError> {
        self.database.check_writable()?;
        let mut batch = WriteBatch::with_capacity_bytes(current_nodes::flush_bytes(&rows));
        current_nodes::add_flush_to_batch(&self.database, &mut batch, &rows, flushed)?;
        self.database.write_batch(batch)
    }

    /// Adds the row of the nodes of a block to the batch. They are readable at once: a reader that sees the block finds its state.
    fn batch_node_versions(
        &self,
        batch: &mut WriteBatch,
        NewNodes { by_hash: nodes, base_root, .. }: NewNodes,
        block: (u64, B256),
        changes: Option<&Arc<ChangeSet>>,
    ) -> Result<(), StorageError> {
        let engine = self.database.engine()?;
        engine.journal.poll_tasks(&engine.files).map_err(|error| self.flush_error(error))?;
        let column = engine.column(NODE_BATCHES)?;
        // Only the writer takes sequence numbers, so the next one stays valid until the row is in the journal.
        if let Some((base_root, changes)) = base_root.zip(changes) {
            let key = engine.journal.next_key(Some(block));
            batch.put_cf(column, key.encode(), journal_rows::encode_row(&base_root, &nodes, changes));
            engine.journal.append(key, nodes);
            return Ok(());
        }
        let key = engine.journal.next_key(None);
        let is_placed = nodes.place().is_known();
        if !is_placed {
            nodes.with_encoded(|encoded| batch.put_cf(column, key.encode(), encoded));
        }
        engine.journal.append(key, nodes);
        if is_placed {
            // No row leads to these nodes, so they are in the files before the batch is in the database.
            engine.journal.flush_all(&engine.files).map_err(|error| self.flush_error(error))?;
        }
        Ok(())
    }

    fn flush_error(&self, error: FlushError) -> StorageError {
        match error {
            FlushError::Files(error) => self.database.begin_fault(error, PROBE_BYTES),
            FlushError::Thread(source) => StorageError::Thread { source },
        }
    }

    /// Moves all nodes of the journal to the node files: the next start needs no changes of blocks.
    pub fn flush_nodes(&self) -> Result<(), StorageError> {
        self.database.check_writable()?;
        let engine = self.database.engine()?;
        engine.journal.flush_all(&engine.files).map_err(|error| self.flush_error(error))
    }

    /// Adds the block to the list of its height, and updates the main flags of blocks that join or leave the best
    /// chain.
    fn batch_heights(&self, batch: &mut WriteBatch, write: &BlockWrite<'_>) -> Result<(), StorageError> {
        let mut heights: BTreeMap<u64, Vec<HeightEntry>> = BTreeMap::new();
        heights.insert(write.number, self.rows_at(write.number)?);
        if let Some(entries) = heights.get_mut(&write.number) {
            let total_difficulty = self.difficulty_for_row(write.number, write.total_difficulty);
            let entry = HeightEntry { hash: write.hash, total_difficulty, is_main: false };
            // A block that was stored without execution is written again.
            if entries.iter().all(|known| known.hash != write.hash) {
                block_log::add_to_batch(self, batch, write.number, &write.hash)?;
                entries.push(entry);
            }
        }
        self.batch_main_flags(batch, heights, write.head_change.as_ref())
    }

    /// Updates the main flags of blocks that join or leave the best chain, and writes the rows of `heights`.
    fn batch_main_flags(
        &self,
        batch: &mut WriteBatch,
        mut heights: BTreeMap<u64, Vec<HeightEntry>>,
        change: Option<&HeadChange<'_>>,
    ) -> Result<(), StorageError> {
        let left = change.iter().flat_map(|change| change.retracted).map(|block| (block, false));
        let joined = change.iter().flat_map(|change| change.enacted).map(|block| (block, true));
        for ((number, hash), is_main) in left.chain(joined) {
            if !heights.contains_key(number) {
                heights.insert(*number, self.rows_at(*number)?);
            }
            for entry in heights.entry(*number).or_default() {
                if entry.hash == *hash {
                    entry.is_main = is_main;
                }
            }
        }
        let engine = self.database.engine()?;
        let column = engine.column(HEIGHTS)?;
        for (number, entries) in heights {
            batch.put_cf(column, number.to_be_bytes(), record::encode_heights(&entries));
        }
        Ok(())
    }

    /// Moves the head by stored and executed blocks in one batch. Returns the generation of the flat state after the write.
    pub(crate) fn move_head(&self, change: &HeadChange<'_>) -> Result<u64, StorageError> {
        self.database.check_writable()?;
        let fork = change.retracted.last().or(change.enacted.first()).map_or(0, |(number, _)| number.saturating_sub(1));
        let head = match change.enacted.last() {
            Some(tip) => *tip,
            None => (fork, self.main_hash(fork)?.ok_or_else(|| no_block(fork))?),
        };
        let mut batch = WriteBatch::default();
        self.batch_main_flags(&mut batch, BTreeMap::new(), Some(change))?;
        batch.put_cf(self.database.engine()?.column(META)?, HEAD_KEY, head.1);
        self.batch_state(&mut batch, change, None)?;
        if change.enacted.is_empty() {
            address_index::move_back(self, &mut batch, change.retracted, head)?;
            call_index::move_back(self, &mut batch, head)?;
        } else {
            address_index::move_head(self, &mut batch, change, None)?;
            call_index::move_head(self, &mut batch, change, None)?;
        }
        let written = || self.write_changed_chain(batch, fork, head.0);
        if change.retracted.is_empty() { written() } else { self.main_hashes.change(written) }
    }

    /// Deletes all blocks above a height, on the best chain and beside it, and sets the head, in one batch. Trie nodes
    /// and log postings stay: nodes are shared with other states, and postings are checked when they are read. Returns
    /// the generation of the flat state after the write.
    pub fn delete_above(&self, rewind: Rewind<'_>) -> Result<u64, StorageError> {
        let mut batch = WriteBatch::default();
        let engine = self.database.engine()?;
        let (heights, blocks) = (engine.column(HEIGHTS)?, engine.column(BLOCKS)?);
        let (receipts, meta) = (engine.column(RECEIPTS)?, engine.column(META)?);
        let calls = engine.column(CALLS)?;
        let changes = engine.column(CHANGES)?;
        let mut deleted: HashSet<B256> = HashSet::new();
        self.database.visit_range(HEIGHTS, &rewind.height.saturating_add(1).to_be_bytes(), None, |key, row| {
            let entries = record::decode_heights(row)
                .ok_or_else(|| StorageError::damaged_row(HEIGHTS, key, "cannot be decoded"))?;
            deleted.extend(entries.iter().map(|entry| entry.hash));
            batch.delete_cf(heights, key);
            Ok(())
        })?;
        let retracted: HashSet<B256> = rewind.retracted.iter().map(|(_, hash)| *hash).collect();
        let (mut references, mut removed) = (ReferenceChanges::default(), Vec::new());
        self.database.visit_range(CHANGES, &rewind.height.saturating_add(1).to_be_bytes(), None, |key, row| {
            let damaged = || StorageError::damaged_row(CHANGES, key, "cannot be decoded");
            let (number, hash) = key.split_first_chunk().ok_or_else(damaged)?;
            let set = ChangeSet::decode(row).ok_or_else(damaged)?;
            references.remove_set(&set);
            if B256::try_from(hash).is_ok_and(|hash| retracted.contains(&hash)) {
                removed.extend(history::row_keys(&self.database, u64::from_be_bytes(*number), &set));
            }
            batch.delete_cf(changes, key);
            Ok(())
        })?;
        history::remove_in_batch(&self.database, &mut batch, removed)?;
        references.add_to_batch(&self.database, &mut batch)?;
        for hash in &deleted {
            self.remove_locations(&mut batch, hash, &deleted)?;
            batch.delete_cf(blocks, hash);
            batch.delete_cf(receipts, hash);
            batch.delete_cf(calls, hash);
            batch.delete_cf(meta, columns::original_root_key(hash));
        }
        batch.put_cf(meta, HEAD_KEY, rewind.head);
        block_log::return_to_start(self, &mut batch)?;
        address_index::move_back(self, &mut batch, rewind.retracted, (rewind.height, rewind.head))?;
        call_index::move_back(self, &mut batch, (rewind.height, rewind.head))?;
        flat::add_to_batch(&self.database, &mut batch, rewind.difference.iter())?;
        if let Some(rows) = rewind.flushed {
            let flushed = FlushedTrie { number: rewind.height, hash: rewind.head, root: rewind.state_root };
            current_nodes::add_flush_to_batch(&self.database, &mut batch, &rows, flushed)?;
        }
        self.main_hashes.change(|| self.write_changed_chain(batch, rewind.height, rewind.height))
    }

    fn remove_locations(
        &self,
        batch: &mut WriteBatch,
        block: &B256,
        deleted: &HashSet<B256>,
    ) -> Result<(), StorageError> {
        let engine = self.database.engine()?;
        let column = engine.column(TRANSACTIONS)?;
        let hashes =
            self.database.decoded(RECEIPTS, block.as_slice(), record::decode_transaction_hashes)?.unwrap_or_default();
        for hash in hashes {
            let mut locations = self.transaction_locations(&hash)?;
            locations.retain(|location| !deleted.contains(&location.block));
            if locations.is_empty() {
                batch.delete_cf(column, hash);
            } else {
                batch.put_cf(column, hash, record::encode_locations(&locations));
            }
        }
        Ok(())
    }

    /// Writes headers that were received before their blocks, and the tip of the best header chain, in one batch. One caller at a
    /// time, which need not be the writer of blocks.
    pub fn write_headers(&self, headers: &[HeaderWrite<'_>], tip: (u64, B256)) -> Result<(), StorageError> {
        let for_row = |header: &HeaderWrite<'_>| self.difficulty_for_row(header.number, header.difficulty);
        let rows = headers.iter().map(|header| HeaderWrite { difficulty: for_row(header), ..*header });
        headers::write(&self.database, &rows.collect::<Vec<_>>(), tip)
    }

    /// Deletes all headers below a height.
    pub fn delete_headers_below(&self, number: u64) -> Result<(), StorageError> {
        headers::delete_below(&self.database, number)
    }

    /// Replaces the banned peer addresses.
    pub fn write_bans(&self, lines: &str) -> Result<(), StorageError> {
        let mut batch = WriteBatch::default();
        batch.put_cf(self.database.engine()?.column(META)?, BANS_KEY, lines);
        self.database.write_batch(batch)
    }

    /// Returns the reason why writes are refused; `None` while they are accepted.
    pub fn write_fault(&self) -> Option<WriteFault> {
        self.database.write_fault()
    }

    /// Sets the callback for writes that fail or are refused. Only the first call has an effect.
    pub fn on_write_fault(&self, listener: Box<dyn Fn() + Send + Sync>) {
        self.database.on_write_fault(listener);
    }

    /// Reopens the database after a failed write, if the disk takes writes now. Readers wait meanwhile. The contents
    /// may be those before the failed write or those after it. Writes stay refused until [`Store::clear_write_fault`].
    pub fn reopen(&self) -> Result<(), StorageError> {
        self.database.probe_space()?;
        // A temporary database has its memtables only in memory, so it stays open; RocksDB retries by itself.
        if !self.database.settings.is_temporary {
            let before_open = || _ = self.generation.fetch_add(1, Ordering::SeqCst);
            self.main_hashes.change(|| self.database.reopen_engine(before_open))?;
            self.kept.load(&self.database)?;
            *self.difficulty_correction.write() = older_blocks::stored_correction(&self.database)?;
            self.load_history_tail()?;
            // Nodes that are made again may have other places.
            self.nodes.clear();
            self.block_log.forget();
        }
        self.database.write_probe()
    }

    /// Accepts writes again.
    pub fn clear_write_fault(&self) {
        self.database.clear_write_fault();
    }
}
