//! A block from bytes to the best chain.

pub(crate) mod block_file;
pub(crate) mod block_stream;
pub(crate) mod head_guard;
pub(crate) mod import_state;
pub(crate) mod invalid_block;
pub(crate) mod pipeline;
pub(crate) mod preparation;
pub(crate) mod prepared_block;
pub(crate) mod recovery;
pub(crate) mod rules;
mod state_change;

use std::mem;
use std::sync::Arc;

use rhizome_evm::{AncestorBlock, BlockOutcome, Deadline, ExecError, execute_block};
use rhizome_primitives::{Address, B256, Block, Bytes, Receipt, U256};
use rhizome_storage::{BlockWrite, HeadChange, StoredReceipts};
use rhizome_trie::{NodeBatch, StateDelta, StateReader, Trie, diff, list_root};

use crate::archive::ancestry::ChainAncestry;
use crate::archive::record::total_difficulty;
use crate::head::branch_change::{BranchChange, places};
use crate::import::import_state::ImportState;
use crate::import::prepared_block::{PreparedBlock, is_orchid};
use crate::import::rules::{
    ExecutionResult, ImportFailure, RuleContext, check_old_state_root, check_outcome, check_rules,
};
use crate::{BlockRecord, Chain, ChainError, ImportError, InvalidBlock, head::fork_choice};

/// What became of a block. A refusal is a result, not an error.
#[derive(Debug)]
pub enum ImportOutcome {
    /// Stored, and the best block now.
    ImportedBest,
    /// Stored beside the best chain.
    ImportedNotBest,
    /// It was stored before.
    Exists,
    /// Its parent is not known.
    NoParent,
    /// It breaks a rule.
    Invalid(InvalidBlock),
}

/// A block that kept the rules before execution and was executed. Its roots are not compared yet.
pub(crate) struct ExecutedBlock {
    block: Block,
    hash: B256,
    raw: Vec<u8>,
    senders: Vec<Address>,
    total_difficulty: U256,
    outcome: BlockOutcome,
    pub(crate) delta: Arc<StateDelta>,
}

impl ExecutedBlock {
    pub(crate) fn as_ancestor(&self) -> AncestorBlock {
        AncestorBlock::new(&self.block, self.hash, self.total_difficulty)
    }
}

/// A block that passed everything and is not written yet, and the state after it.
pub(crate) struct Verified {
    pub(crate) block: VerifiedBlock,
    pub(crate) trie: Trie,
}

/// What is to be written of a block that passed everything.
pub(crate) struct VerifiedBlock {
    pub(crate) record: Arc<BlockRecord>,
    raw: Vec<u8>,
    pub(crate) receipts: Vec<Receipt>,
    encoded_receipts: Vec<Bytes>,
    /// What the block changes in the state.
    delta: Arc<StateDelta>,
    /// What the block adds to the trie.
    pub(crate) nodes: NodeBatch,
}

impl ImportOutcome {
    /// The outcome as the reference calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ImportedBest => "IMPORTED_BEST",
            Self::ImportedNotBest => "IMPORTED_NOT_BEST",
            Self::Exists => "EXIST",
            Self::NoParent => "NO_PARENT",
            Self::Invalid(_) => "INVALID_BLOCK",
        }
    }
}

impl Chain {
    /// Validates, executes and stores a block, and makes it the best block if it is. One import at a time; others wait.
    pub fn import_block(&self, block: Block) -> Result<ImportOutcome, ImportError> {
        self.import_prepared(PreparedBlock::new(block, self.spec()))
    }

    /// [`Chain::import_block`] for a block that was prepared ahead.
    pub fn import_prepared(&self, prepared: PreparedBlock) -> Result<ImportOutcome, ImportError> {
        self.lock_head().import(prepared)
    }

    pub(crate) fn import_with(
        &self,
        writer: &mut ImportState,
        prepared: PreparedBlock,
    ) -> Result<ImportOutcome, ImportError> {
        if self.is_stored(&prepared.hash)? {
            return Ok(ImportOutcome::Exists);
        }
        let Some(parent) = prepared.block.header.parent() else {
            let length = prepared.block.header.parent_hash.len();
            return Ok(ImportOutcome::Invalid(InvalidBlock::ParentHash { length }));
        };
        let Some(parent) = self.stored_parent(&parent)? else { return Ok(ImportOutcome::NoParent) };
        let ancestor = self.archive.known_ancestor(&parent.hash)?;
        let verified = if self.head().record.hash == parent.hash {
            self.verify(prepared, &ancestor, writer.state([]), || writer.take_trie())
        } else {
            let trie = writer.trie_at(parent.state_root);
            self.verify(prepared, &ancestor, Arc::new(trie.clone()), || trie)
        };
        match verified {
            Ok(verified) => self.store_verified(writer, verified),
            Err(ImportFailure::Invalid(invalid)) => Ok(ImportOutcome::Invalid(invalid)),
            Err(ImportFailure::Error(error)) => Err(error),
        }
    }

    pub(crate) fn is_stored(&self, hash: &B256) -> Result<bool, ChainError> {
        Ok(self.archive.store.has_block(hash)?)
    }

    fn stored_parent(&self, hash: &B256) -> Result<Option<Arc<BlockRecord>>, ChainError> {
        let head = self.head();
        if head.record.hash == *hash {
            return Ok(Some(Arc::clone(&head.record)));
        }
        // A cache may still know a block that was deleted, so the database decides.
        if self.is_stored(hash)? { self.archive.record(hash) } else { Ok(None) }
    }

    /// All checks of an import, on the parent's state in both forms. The trie is asked for when the block has been executed.
    pub(crate) fn verify(
        &self,
        prepared: PreparedBlock,
        parent: &AncestorBlock,
        state: Arc<dyn StateReader>,
        trie: impl FnOnce() -> Trie,
    ) -> Result<Verified, ImportFailure> {
        let executed = self.execute(prepared, parent, state)?;
        let mut trie = trie();
        let block = self.check(executed, &mut trie)?;
        Ok(Verified { block, trie })
    }

    /// The rules before execution, and the execution on the parent's state.
    pub(crate) fn execute(
        &self,
        mut prepared: PreparedBlock,
        parent: &AncestorBlock,
        state: Arc<dyn StateReader>,
    ) -> Result<ExecutedBlock, ImportFailure> {
        let now = self.config().clock.now();
        let context = RuleContext { archive: &self.archive, parent: &parent.header, state: &*state, now };
        let senders = check_rules(&mut prepared, &context)?;
        let PreparedBlock { block, hash, raw, .. } = prepared;
        let ancestry = ChainAncestry::new(Arc::clone(&self.archive), parent.header.number, parent.hash);
        let mut outcome = execute_block(self.spec(), &block, &senders, state, &ancestry, &Deadline::none())
            .map_err(|error| execution_failure(error, &block, hash))?;
        let total_difficulty = total_difficulty(parent.total_difficulty, &block);
        let delta = Arc::new(mem::take(&mut outcome.delta));
        Ok(ExecutedBlock { block, hash, raw, senders, total_difficulty, outcome, delta })
    }

    /// Compares what execution gave with the header. `trie` goes from the parent's state to that of the block; after a
    /// failure it is worth nothing.
    pub(crate) fn check(&self, executed: ExecutedBlock, trie: &mut Trie) -> Result<VerifiedBlock, ImportFailure> {
        let ExecutedBlock { block, raw, senders, total_difficulty, outcome, delta, .. } = executed;
        let spec = self.spec();
        let encoded_receipts: Vec<Bytes> = outcome.receipts.iter().map(|receipt| receipt.encode().into()).collect();
        let items = encoded_receipts.iter().map(AsRef::as_ref);
        let receipts_root = list_root(items, is_orchid(spec, block.header.number))?;
        trie.apply(&delta)?;
        let nodes = trie.commit();
        let state_root = trie.root_hash();
        check_outcome(&block.header, &ExecutionResult { outcome: &outcome, state_root, receipts_root }, spec)?;
        check_old_state_root(&block.header, trie, spec, self.config().old_state_roots)?;
        let record = Arc::new(BlockRecord::new(block, raw.len(), total_difficulty, state_root, senders));
        Ok(VerifiedBlock { record, raw, receipts: outcome.receipts, encoded_receipts, delta, nodes })
    }

    /// Writes a block, and makes it the best one if it is.
    pub(crate) fn store_verified(
        &self,
        writer: &mut ImportState,
        verified: Verified,
    ) -> Result<ImportOutcome, ImportError> {
        let Verified { block, trie } = verified;
        let head = self.head();
        if !fork_choice::replaces(&block.record, &head.record) {
            self.write(block, None)?;
            self.drafts.outdate();
            return Ok(ImportOutcome::ImportedNotBest);
        }
        let change = BranchChange::plan(&self.archive, &head.record, &block.record)?;
        let flat = if change.retracted.is_empty() && change.enacted.len() == 1 {
            Arc::clone(&block.delta)
        } else {
            Arc::new(diff(writer.trie(), &trie)?)
        };
        let record = Arc::clone(&block.record);
        let generation = self.write(block, Some((&change, &flat)))?;
        writer.advance(trie, &flat);
        if writer.is_full(writer.trie().created_nodes()) {
            writer.trim();
        }
        self.publish(record, generation, &change, &change.retracted);
        Ok(ImportOutcome::ImportedBest)
    }

    /// Writes a child of the best block, and makes it the best one.
    pub(crate) fn store_child(&self, block: VerifiedBlock) -> Result<(), ImportError> {
        let (record, delta) = (Arc::clone(&block.record), Arc::clone(&block.delta));
        let change = BranchChange { retracted: Vec::new(), enacted: vec![Arc::clone(&record)] };
        let generation = self.write(block, Some((&change, &delta)))?;
        self.publish(record, generation, &change, &change.retracted);
        Ok(())
    }

    /// Returns the generation of the flat state after the write.
    fn write(&self, block: VerifiedBlock, best: Option<(&BranchChange, &StateDelta)>) -> Result<u64, ImportError> {
        let VerifiedBlock { record, raw, receipts, encoded_receipts, nodes, .. } = block;
        let transaction_hashes: Vec<B256> =
            record.block.transactions.iter().map(|transaction| transaction.hash()).collect();
        let (enacted, retracted) =
            best.map(|(change, _)| (places(&change.enacted), places(&change.retracted))).unwrap_or_default();
        let head_change = best.map(|(_, flat)| HeadChange { enacted: &enacted, retracted: &retracted, flat });
        let generation = self.archive.store.write_block(BlockWrite {
            hash: record.hash,
            number: record.number(),
            raw: &raw,
            total_difficulty: record.total_difficulty,
            state_root: record.state_root,
            senders: record.senders(),
            transaction_hashes: &transaction_hashes,
            receipts: &receipts,
            encoded_receipts: &encoded_receipts,
            nodes,
            head_change,
        })?;
        self.archive.remember(&record, StoredReceipts { transaction_hashes, receipts });
        Ok(generation)
    }

    /// Total difficulty that a block will have; none while its parent is not stored.
    pub fn expected_total_difficulty(&self, block: &Block) -> Result<Option<U256>, ChainError> {
        let Some(parent) = block.header.parent() else { return Ok(None) };
        Ok(self.stored_parent(&parent)?.map(|parent| total_difficulty(parent.total_difficulty, block)))
    }
}

/// Sorts the ends of an execution into verdicts and failures.
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
        ExecError::BridgePart { part, stage, index, .. } => {
            let transaction = transaction(index);
            return ImportFailure::Error(ImportError::BridgePart {
                number,
                block: hash,
                index,
                transaction,
                part,
                stage,
            });
        }
        source => return ImportFailure::Error(ImportError::Execution { number, block: hash, source }),
    };
    ImportFailure::Invalid(invalid)
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::{ChainSpec, Header, Transaction};

    use super::*;

    #[test]
    fn a_missing_part_of_the_bridge_is_no_verdict() {
        let header = Header::new(7, &ChainSpec::regtest());
        let block = Block { header, transactions: vec![Transaction::remasc(7)], uncles: Vec::new() };
        let error = ExecError::BridgePart { part: "addSignature", stage: 6, number: 7, index: 0, hash: B256::ZERO };
        let ImportFailure::Error(error) = execution_failure(error, &block, B256::repeat_byte(1)) else {
            panic!("the block was judged");
        };
        let text = error.to_string();
        let hash = block.transactions[0].hash().to_string();
        assert!(text.contains("block 7") && text.contains("addSignature (stage 6)") && text.contains(&hash), "{text}");
    }
}
