//! The steps of an import, in order: rules, execution, comparison with the header, write, publication.

use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_evm::{AncestorBlock, BlockOutcome, Deadline, ExecError, execute_block, execute_block_with_inner_accounts};
use rhizome_primitives::{Address, B256, Block, Receipt, U256};
use rhizome_storage::{
    BlockWrite, ChangeSet, HeadChange, InnerAccounts, NewNodes, NodeVersions, StoredReceipts, receipts_row,
};
use rhizome_trie::{NodeBatch, StateDelta, StateReader, Trie, TrieError, ValuesBefore, list_root};

use crate::archive::Archive;
use crate::archive::ancestry::ChainAncestry;
use crate::archive::derived_trie::TrieSnapshot;
use crate::archive::record::{BlockRecord, UNEXECUTED, total_difficulty};
use crate::archive::side_branch::AncestorPosition;
use crate::config::ChainConfig;
use crate::error::{ChainError, ImportError};
use crate::head::branch_change::{BranchChange, positions};
use crate::head::publisher::HeadPublisher;
use crate::import::invalid_block::InvalidBlock;
use crate::import::prepared_block::{PreparedBlock, is_orchid};
use crate::import::rules::{
    ExecutionResult, ImportFailure, RuleContext, check_known_state_root, check_nonces, check_old_state_root,
    check_outcome, check_rules,
};

/// Parts of the chain that the steps use. Shared by the importer and its threads.
pub(crate) struct ImportSteps {
    pub(crate) config: Arc<ChainConfig>,
    pub(crate) archive: Arc<Archive>,
    pub(crate) publisher: Arc<HeadPublisher>,
    /// The last snapshot of the trie for readers.
    snapshot: Mutex<Option<Arc<TrieSnapshot>>>,
}

/// How the trie after a compared block is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrieUse {
    /// The block is not written.
    Verified,
    /// The block does not become the best one.
    Checked,
    /// The block becomes the best one, for readers.
    Published,
    /// The block becomes the best one, and others follow at once: readers get the last flushed trie, from the disk. Nodes that a
    /// snapshot shares are copied when they change, which took a seventh of the processor time of a block with 818 new keys.
    Passed,
}

/// A block that satisfies all rules that need no state.
pub(crate) struct CheckedBlock {
    pub(crate) block: Block,
    pub(crate) hash: B256,
    pub(crate) raw: Vec<u8>,
    pub(crate) senders: Vec<Address>,
    pub(crate) total_difficulty: U256,
    /// Whether the block is stored without execution.
    is_stored: bool,
}

/// An executed block. Its header is not compared with the result yet.
pub(crate) struct ExecutedBlock {
    checked: CheckedBlock,
    outcome: BlockOutcome,
    /// Changes of the block to the state. Accounts are deleted key by key.
    pub(crate) delta: Arc<StateDelta>,
    /// The same changes with the values before.
    pub(crate) changes: Arc<ChangeSet>,
}

/// A block that passed all checks and is not written yet.
pub(crate) struct VerifiedBlock {
    pub(crate) record: Arc<BlockRecord>,
    raw: Vec<u8>,
    pub(crate) receipts: Vec<Receipt>,
    /// Accounts of inner calls, if they are collected.
    pub(crate) inner_accounts: Option<InnerAccounts>,
    /// Changes of the block to the state.
    pub(crate) changes: Arc<ChangeSet>,
    /// Trie nodes and long values that the block adds.
    pub(crate) nodes: NewNodes,
    /// Trie for readers, of a block that becomes the best one.
    snapshot: Option<Arc<TrieSnapshot>>,
    is_stored: bool,
}

impl CheckedBlock {
    pub(crate) fn as_ancestor(&self) -> AncestorBlock {
        AncestorBlock::new(&self.block, self.hash, self.total_difficulty)
    }
}

impl ExecutedBlock {
    pub(crate) fn as_ancestor(&self) -> AncestorBlock {
        self.checked.as_ancestor()
    }

    pub(crate) fn number(&self) -> u64 {
        self.checked.block.header.number
    }

    /// Returns the state root in the header, zero if that field is not a hash.
    pub(crate) fn header_root(&self) -> B256 {
        B256::try_from(self.checked.block.header.state_root.as_ref()).unwrap_or_default()
    }

    /// Returns number and hash of the parent.
    pub(crate) fn parent(&self) -> (u64, B256) {
        let header = &self.checked.block.header;
        (header.number.saturating_sub(1), header.parent().unwrap_or_default())
    }

    /// Returns the size of the encoded block.
    pub(crate) fn raw_bytes(&self) -> usize {
        self.checked.raw.len()
    }
}

impl ImportSteps {
    pub(crate) fn new(config: Arc<ChainConfig>, archive: Arc<Archive>, publisher: Arc<HeadPublisher>) -> Self {
        Self { config, archive, publisher, snapshot: Mutex::default() }
    }

    /// Checks all rules that need no state.
    pub(crate) fn check(
        &self,
        mut prepared: PreparedBlock,
        parent: &AncestorBlock,
    ) -> Result<CheckedBlock, ImportFailure> {
        let now = self.config.clock.now();
        let context = RuleContext { archive: &self.archive, parent: &parent.header, now };
        let senders = check_rules(&mut prepared, &context)?;
        let PreparedBlock { block, hash, raw, .. } = prepared;
        let total_difficulty = total_difficulty(parent.total_difficulty, &block);
        Ok(CheckedBlock { block, hash, raw, senders, total_difficulty, is_stored: false })
    }

    /// Executes a block on the state after its parent.
    pub(crate) fn execute(
        &self,
        checked: CheckedBlock,
        state: Arc<dyn StateReader>,
    ) -> Result<ExecutedBlock, ImportFailure> {
        self.execute_with(checked, state, self.config.has_call_index)
    }

    /// Like [`ImportSteps::execute`]. `collects`: with the accounts of inner calls.
    fn execute_with(
        &self,
        checked: CheckedBlock,
        state: Arc<dyn StateReader>,
        collects: bool,
    ) -> Result<ExecutedBlock, ImportFailure> {
        let CheckedBlock { block, hash, senders, .. } = &checked;
        check_nonces(block, senders, &*state)?;
        let missing = ChainError::MissingBlock { hash: *hash };
        let parent = block.header.parent().ok_or(missing)?;
        let ancestry = ChainAncestry::new(Arc::clone(&self.archive), block.header.number.saturating_sub(1), parent);
        let parent_state = Arc::clone(&state);
        let execute = if collects { execute_block_with_inner_accounts } else { execute_block };
        let mut outcome = execute(&self.config.spec, block, senders, state, &ancestry, &Deadline::none())
            .map_err(|error| execution_failure(error, block, *hash))?;
        let mut delta = mem::take(&mut outcome.delta);
        let store = &self.archive.store;
        store.base().hide_deleted(&mut delta, &*parent_state).map_err(ChainError::from)?;
        delta.delete_key_by_key(&*parent_state).map_err(ChainError::from)?;
        let prior_values = outcome.prior_values.take();
        let changes = store.base().changes(&*parent_state, &delta, prior_values.as_ref()).map_err(ChainError::from)?;
        Ok(ExecutedBlock { checked, outcome, delta: Arc::new(delta), changes: Arc::new(changes) })
    }

    /// Compares the header with the result of the execution. `trie` moves from the state of the parent to that of the block;
    /// after a failure its content is undefined.
    pub(crate) fn compare(
        &self,
        executed: ExecutedBlock,
        trie: &mut Trie,
        used: TrieUse,
    ) -> Result<VerifiedBlock, ImportFailure> {
        let base_root = Some(trie.root_hash());
        let delta = &executed.delta;
        let before = |key: &[u8]| executed.changes.known_before(key);
        let nodes = match used {
            TrieUse::Verified => {
                trie.apply_known(delta, &before)?;
                delta.long_values().collect::<NodeBatch>().into()
            }
            TrieUse::Checked => self.apply(trie, delta, &before, |_| false)?,
            TrieUse::Published | TrieUse::Passed => self.apply(trie, delta, &before, |trie| self.must_flush(trie))?,
        };
        let is_flushed = nodes.flushed.is_some();
        let nodes = NewNodes { base_root, ..nodes };
        let mut verified = self.compare_root(executed, trie.root_hash(), nodes)?;
        let (header, spec) = (&verified.record.block.header, &self.config.spec);
        check_old_state_root(header, trie, spec, self.config.old_state_roots)?;
        check_known_state_root(header.number, verified.record.state_root, spec)?;
        verified.snapshot = match used {
            TrieUse::Verified | TrieUse::Checked => None,
            TrieUse::Published => Some(self.new_snapshot(&verified.record, trie)),
            TrieUse::Passed => Some(self.last_snapshot(&verified.record, trie, is_flushed)),
        };
        Ok(verified)
    }

    /// Adds what readers and the database need after a group of blocks to its last block.
    pub(crate) fn complete_group(&self, blocks: &mut [VerifiedBlock], trie: &mut Trie) {
        let Some(last) = blocks.last_mut() else { return };
        let is_flushed = self.must_flush(trie);
        last.nodes.flushed = is_flushed.then(|| trie.flush());
        last.snapshot = Some(self.last_snapshot(&last.record, trie, is_flushed));
    }

    fn must_flush(&self, trie: &Trie) -> bool {
        trie.changed_keys() >= self.config.flush_interval()
    }

    /// Returns the snapshot of a trie that is flushed with its block.
    pub(crate) fn flushed_snapshot(&self, record: &Arc<BlockRecord>) -> Arc<TrieSnapshot> {
        self.keep_snapshot(TrieSnapshot::flushed(record))
    }

    /// Takes a snapshot of the importer's trie for readers.
    pub(crate) fn new_snapshot(&self, record: &Arc<BlockRecord>, trie: &Trie) -> Arc<TrieSnapshot> {
        self.keep_snapshot(TrieSnapshot::new(&self.archive, record, trie))
    }

    /// Makes the next block take a new snapshot: blocks were dropped.
    pub(crate) fn forget_snapshot(&self) {
        *self.snapshot.lock() = None;
    }

    /// Returns the snapshot for a block behind which others follow at once: that of its flush, or of the last one.
    pub(crate) fn last_snapshot(&self, record: &Arc<BlockRecord>, trie: &Trie, is_flushed: bool) -> Arc<TrieSnapshot> {
        if is_flushed || self.archive.store.node_versions() == NodeVersions::All {
            return self.flushed_snapshot(record);
        }
        let last = self.snapshot.lock().clone();
        last.unwrap_or_else(|| self.new_snapshot(record, trie))
    }

    fn keep_snapshot(&self, snapshot: TrieSnapshot) -> Arc<TrieSnapshot> {
        let snapshot = Arc::new(snapshot);
        *self.snapshot.lock() = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// Compares the header with the result of the execution and with the root of the state that it led to.
    pub(crate) fn compare_root(
        &self,
        executed: ExecutedBlock,
        state_root: B256,
        nodes: NewNodes,
    ) -> Result<VerifiedBlock, ImportFailure> {
        let ExecutedBlock { checked, outcome, delta: _, changes } = executed;
        let CheckedBlock { block, raw, senders, total_difficulty, is_stored, .. } = checked;
        let spec = &self.config.spec;
        let receipts_root = receipts_root(&outcome.receipts, is_orchid(spec, block.header.number))?;
        check_outcome(&block.header, &ExecutionResult { outcome: &outcome, state_root, receipts_root }, spec)?;
        let record = Arc::new(BlockRecord::new(block, raw.len(), total_difficulty, state_root, senders));
        Ok(VerifiedBlock {
            record,
            raw,
            receipts: outcome.receipts,
            inner_accounts: outcome.inner_accounts.map(InnerAccounts::of),
            changes,
            nodes,
            snapshot: None,
            is_stored,
        })
    }

    /// Applies changes to a trie, and returns their nodes and long values for the database. `before` as in [`Trie::apply_known`].
    /// `must_flush`: whether the rows of all nodes since the last flush are part of it, for a changed trie in a directory with current
    /// nodes.
    pub(crate) fn apply(
        &self,
        trie: &mut Trie,
        delta: &StateDelta,
        before: ValuesBefore<'_, '_>,
        must_flush: impl FnOnce(&Trie) -> bool,
    ) -> Result<NewNodes, ChainError> {
        let store = &self.archive.store;
        match store.node_versions() {
            NodeVersions::All => Ok(store.apply_and_commit::<ChainError>(trie, delta, before)?.into()),
            NodeVersions::Current => {
                trie.apply_known(delta, before)?;
                let flushed = must_flush(trie).then(|| trie.flush());
                Ok(NewNodes { by_hash: delta.long_values().collect(), flushed, ..NewNodes::default() })
            }
        }
    }

    /// Makes all checks of an import without writing. `trie` is the state of the parent. `collects`: with the accounts of inner calls.
    pub(crate) fn verify(
        &self,
        prepared: PreparedBlock,
        parent: &AncestorBlock,
        trie: &mut Trie,
        collects: bool,
    ) -> Result<VerifiedBlock, ImportFailure> {
        let checked = self.check(prepared, parent)?;
        let executed = self.execute_with(checked, Arc::new(trie.clone()), collects)?;
        self.compare(executed, trie, TrieUse::Verified)
    }

    /// Makes all checks of an import but that of the state root, without writing. `state` is that of the parent.
    pub(crate) fn verify_without_root(
        &self,
        prepared: PreparedBlock,
        parent: &AncestorBlock,
        state: Arc<dyn StateReader>,
        collects: bool,
    ) -> Result<VerifiedBlock, ImportFailure> {
        let executed = self.execute_with(self.check(prepared, parent)?, state, collects)?;
        let header_root = executed.header_root();
        self.compare_root(executed, header_root, NewNodes::default())
    }

    /// Writes a child of the best block and makes it the best block.
    pub(crate) fn write_child(&self, block: VerifiedBlock) -> Result<(), ImportError> {
        self.write_children(vec![block], 0)
    }

    /// Writes blocks, the first a child of the best block and each the child of the one before, and makes the last one the best
    /// block. The first `uncached` blocks and their receipts are not cached for readers.
    pub(crate) fn write_children(&self, blocks: Vec<VerifiedBlock>, uncached: usize) -> Result<(), ImportError> {
        let Some(last) = blocks.last() else { return Ok(()) };
        let (record, snapshot) = (Arc::clone(&last.record), last.snapshot.clone());
        let snapshot = snapshot.ok_or(ChainError::ImporterStopped)?;
        let enacted: Vec<_> = blocks.iter().map(|block| Arc::clone(&block.record)).collect();
        let mut rows: Vec<_> = blocks.into_iter().map(BlockRows::new).collect();
        let enacted_positions: Vec<_> = positions(&enacted).into_iter().map(|position| [position]).collect();
        let writes = rows.iter_mut().zip(&enacted_positions);
        let generation = self.archive.store.write_children(
            writes.map(|(rows, enacted)| rows.write(Some(HeadChange { enacted, retracted: &[] }))).collect(),
        )?;
        // A row that is replaced may be cached.
        let is_remembered = |(index, rows): &(usize, BlockRows)| *index >= uncached || rows.block.is_stored;
        let remembered = rows.into_iter().enumerate().filter(is_remembered);
        remembered.for_each(|(_index, rows)| rows.remember(&self.archive));
        let change = BranchChange { retracted: Vec::new(), enacted };
        self.publisher.publish(record, generation, snapshot, &change, &[]);
        Ok(())
    }

    /// Writes a block and makes it the best block.
    pub(crate) fn write_best(&self, block: VerifiedBlock, change: &BranchChange) -> Result<(), ImportError> {
        let (record, snapshot) = (Arc::clone(&block.record), block.snapshot.clone());
        let snapshot = snapshot.ok_or(ChainError::ImporterStopped)?;
        let generation = self.write(block, Some(change))?;
        self.publisher.publish(record, generation, snapshot, change, &change.retracted);
        Ok(())
    }

    /// Writes a block beside the best chain.
    pub(crate) fn write_side(&self, block: VerifiedBlock) -> Result<(), ImportError> {
        self.write(block, None)?;
        self.publisher.note_side_change();
        Ok(())
    }

    /// Writes a block beside the best chain without executing it.
    pub(crate) fn write_unexecuted(&self, checked: CheckedBlock) -> Result<(), ImportError> {
        let CheckedBlock { block, hash, raw, senders, total_difficulty, .. } = checked;
        let parent = block.header.parent().ok_or(ChainError::MissingBlock { hash })?;
        self.archive.store.write_block(BlockWrite {
            hash,
            number: block.header.number,
            raw: &raw,
            total_difficulty,
            state_root: UNEXECUTED,
            senders: &senders,
            transaction_hashes: &[],
            receipts: &[],
            receipts_row: &receipts_row(&[], &[]),
            inner_accounts: None,
            nodes: NewNodes::default(),
            changes: None,
            head_change: None,
        })?;
        let position = AncestorPosition { number: block.header.number, hash };
        self.archive.follow_side_branch(position, &parent)?;
        self.archive.remember_ancestor(&Arc::new(AncestorBlock::new(&block, hash, total_difficulty)));
        self.publisher.note_side_change();
        Ok(())
    }

    /// Reads a block that was stored without execution.
    pub(crate) fn unexecuted(&self, hash: B256) -> Result<CheckedBlock, ChainError> {
        let stored = self.archive.store.block(&hash)?.ok_or(ChainError::MissingBlock { hash })?;
        let decoded = Block::decode(&stored.raw, &self.config.spec);
        let block = decoded.map_err(|source| ChainError::StoredBlock { hash, source })?;
        let (senders, total_difficulty) = (stored.senders, stored.total_difficulty);
        Ok(CheckedBlock { block, hash, raw: stored.raw.to_vec(), senders, total_difficulty, is_stored: true })
    }

    /// Returns the generation of the flat state after the write.
    fn write(&self, block: VerifiedBlock, best: Option<&BranchChange>) -> Result<u64, ImportError> {
        let (enacted, retracted) =
            best.map(|change| (positions(&change.enacted), positions(&change.retracted))).unwrap_or_default();
        let head_change = best.map(|_| HeadChange { enacted: &enacted, retracted: &retracted });
        let mut rows = BlockRows::new(block);
        let generation = self.archive.store.write_block(rows.write(head_change))?;
        rows.remember(&self.archive);
        Ok(generation)
    }
}

/// A block on its way to the disk.
struct BlockRows {
    block: VerifiedBlock,
    transaction_hashes: Vec<B256>,
    receipts_row: Vec<u8>,
}

impl BlockRows {
    fn new(block: VerifiedBlock) -> Self {
        let transactions = block.record.block.transactions.iter();
        let transaction_hashes: Vec<B256> = transactions.map(|transaction| transaction.hash()).collect();
        let receipts_row = receipts_row(&transaction_hashes, &block.receipts);
        Self { block, transaction_hashes, receipts_row }
    }

    fn write<'a>(&'a mut self, head_change: Option<HeadChange<'a>>) -> BlockWrite<'a> {
        let nodes = mem::take(&mut self.block.nodes);
        let block = &self.block;
        BlockWrite {
            hash: block.record.hash,
            number: block.record.number(),
            raw: &block.raw,
            total_difficulty: block.record.total_difficulty,
            state_root: block.record.state_root,
            senders: block.record.senders(),
            transaction_hashes: &self.transaction_hashes,
            receipts: &block.receipts,
            receipts_row: &self.receipts_row,
            inner_accounts: block.inner_accounts.as_ref(),
            nodes,
            changes: Some(&block.changes),
            head_change,
        }
    }

    /// Caches the block after it was written.
    fn remember(self, archive: &Archive) {
        let VerifiedBlock { record, receipts, is_stored, .. } = self.block;
        archive.remember(&record, StoredReceipts { transaction_hashes: self.transaction_hashes, receipts }, is_stored);
    }
}

fn receipts_root(receipts: &[Receipt], is_orchid: bool) -> Result<B256, TrieError> {
    let mut encoded = Vec::new();
    let encode = |receipt: &Receipt| {
        let start = encoded.len();
        receipt.encode_to(&mut encoded);
        start..encoded.len()
    };
    let places: Vec<_> = receipts.iter().map(encode).collect();
    list_root(places.into_iter().filter_map(|place| encoded.get(place)), is_orchid)
}

/// Separates verdicts about a block from failures of the node.
fn execution_failure(error: ExecError, block: &Block, hash: B256) -> ImportFailure {
    let number = block.header.number;
    let transaction = |index: usize| block.transactions.get(index).map_or(B256::ZERO, |transaction| transaction.hash());
    let invalid = match error {
        ExecError::Refused { index, reason } => {
            InvalidBlock::Transaction { index, transaction: transaction(index), reason }
        }
        ExecError::Unexecutable { index, reason } => {
            InvalidBlock::Unexecutable { index, transaction: transaction(index), reason }
        }
        ExecError::Conflict => InvalidBlock::SublistConflict,
        ExecError::SequentialContract { index } => {
            InvalidBlock::SequentialContract { index, transaction: transaction(index) }
        }
        ExecError::Edges { transactions } => {
            InvalidBlock::Edges { edges: block.header.edges.clone().unwrap_or_default(), count: transactions }
        }
        source => return ImportFailure::Error(ImportError::Execution { number, block: hash, source }),
    };
    ImportFailure::Invalid(invalid)
}
