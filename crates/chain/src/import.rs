//! A block from bytes to the best chain.

use std::mem;
use std::sync::Arc;

use rhizome_evm::{BlockOutcome, Deadline, ExecError, execute_block};
use rhizome_primitives::{Address, B256, Block, Bytes, U256};
use rhizome_storage::{BestChange, BlockWrite, StoredReceipts};
use rhizome_trie::{NodeRows, StateDelta, StateReader, Trie, diff, list_root};

use crate::prepare::{PreparedBlock, is_orchid};
use crate::reorg::{BranchChange, places};
use crate::verify::{Context, Executed, Failure, check_old_state_root, check_outcome, check_rules};
use crate::writer::Writer;
use crate::{BlockRecord, Chain, ChainError, ImportError, InvalidBlock, fork_choice};

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

/// A block that passed everything and is not written yet, and the state after it.
pub(crate) struct Verified {
    pub(crate) block: VerifiedBlock,
    pub(crate) trie: Trie,
}

/// What is to be written of a block that passed everything.
pub(crate) struct VerifiedBlock {
    pub(crate) record: Arc<BlockRecord>,
    raw: Vec<u8>,
    pub(crate) outcome: BlockOutcome,
    encoded_receipts: Vec<Bytes>,
    /// What the block adds to the trie.
    pub(crate) nodes: NodeRows,
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
        self.import_with(&mut self.writer.lock(), prepared)
    }

    pub(crate) fn import_with(
        &self,
        writer: &mut Writer,
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
        let head = self.head();
        let verified = if head.record.hash == parent.hash {
            self.verify(prepared, &parent, writer.state(None), || writer.take_trie())
        } else {
            let trie = writer.trie_at(parent.state_root);
            self.verify(prepared, &parent, Arc::new(trie.clone()), || trie)
        };
        match verified {
            Ok(verified) => self.store_verified(writer, verified),
            Err(Failure::Invalid(invalid)) => Ok(ImportOutcome::Invalid(invalid)),
            Err(Failure::Error(error)) => Err(error),
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
        mut prepared: PreparedBlock,
        parent: &Arc<BlockRecord>,
        state: Arc<dyn StateReader>,
        trie: impl FnOnce() -> Trie,
    ) -> Result<Verified, Failure> {
        let spec = self.spec();
        let now = self.config().clock.now();
        let context = Context { archive: &self.archive, parent, state: &*state, now };
        let senders = check_rules(&mut prepared, &context)?;
        let outcome = self.execute(&prepared.block, prepared.hash, &senders, parent, state)?;
        let block = &prepared.block;
        let mut trie = trie();
        let mut encoded_receipts: Vec<Bytes> = Vec::new();
        let mut receipts_root = Ok(B256::ZERO);
        // In place: `join` would send the trie to another thread, too, and sleep meanwhile.
        let nodes = rayon::in_place_scope(|scope| {
            scope.spawn(|_| {
                encoded_receipts = outcome.receipts.iter().map(|receipt| receipt.encode().into()).collect();
                let items = encoded_receipts.iter().map(AsRef::as_ref);
                receipts_root = list_root(items, is_orchid(spec, block.header.number));
            });
            trie.apply(&outcome.delta).map(|()| trie.commit())
        });
        let (nodes, receipts_root) = (nodes?, receipts_root?);
        let state_root = trie.root_hash();
        check_outcome(&block.header, &Executed { outcome: &outcome, state_root, receipts_root }, spec)?;
        check_old_state_root(&block.header, &trie, spec, self.config().old_state_roots)?;
        let total_difficulty = self.archive.total_difficulty(parent, block);
        let size = prepared.raw.len();
        let record = Arc::new(BlockRecord::new(prepared.block, size, total_difficulty, state_root, senders));
        let block = VerifiedBlock { record, raw: prepared.raw, outcome, encoded_receipts, nodes };
        Ok(Verified { block, trie })
    }

    fn execute(
        &self,
        block: &Block,
        hash: B256,
        senders: &[Address],
        parent: &Arc<BlockRecord>,
        state: Arc<dyn StateReader>,
    ) -> Result<BlockOutcome, Failure> {
        let ancestry = self.ancestry(parent);
        execute_block(self.spec(), block, senders, state, &ancestry, &Deadline::none())
            .map_err(|error| execution_failure(error, block, hash))
    }

    /// Writes a block, and makes it the best one if it is.
    pub(crate) fn store_verified(&self, writer: &mut Writer, verified: Verified) -> Result<ImportOutcome, ImportError> {
        let Verified { mut block, trie } = verified;
        let head = self.head();
        if !fork_choice::replaces(&block.record, &head.record) {
            self.write(block, None)?;
            self.drafts.outdate();
            return Ok(ImportOutcome::ImportedNotBest);
        }
        let change = BranchChange::plan(&self.archive, &head.record, &block.record)?;
        let flat = if change.retracted.is_empty() && change.enacted.len() == 1 {
            mem::take(&mut block.outcome.delta)
        } else {
            diff(writer.trie(), &trie)?
        };
        let record = Arc::clone(&block.record);
        let generation = self.write(block, Some((&change, &flat)))?;
        writer.advance(trie, &flat);
        if writer.is_full() {
            writer.trim();
        }
        self.publish(record, generation, &change, &change.retracted);
        Ok(ImportOutcome::ImportedBest)
    }

    /// Writes a child of the best block, and makes it the best one.
    pub(crate) fn store_child(&self, block: VerifiedBlock, delta: &StateDelta) -> Result<(), ImportError> {
        let record = Arc::clone(&block.record);
        let change = BranchChange { retracted: Vec::new(), enacted: vec![Arc::clone(&record)] };
        let generation = self.write(block, Some((&change, delta)))?;
        self.publish(record, generation, &change, &change.retracted);
        Ok(())
    }

    /// Returns the generation of the flat state after the write.
    fn write(&self, block: VerifiedBlock, best: Option<(&BranchChange, &StateDelta)>) -> Result<u64, ImportError> {
        let VerifiedBlock { record, raw, outcome, encoded_receipts, nodes } = block;
        let transaction_hashes: Vec<B256> =
            record.block.transactions.iter().map(|transaction| transaction.hash()).collect();
        let (enacted, retracted) =
            best.map(|(change, _)| (places(&change.enacted), places(&change.retracted))).unwrap_or_default();
        let best = best.map(|(_, flat)| BestChange { enacted: &enacted, retracted: &retracted, flat });
        let generation = self.archive.store.write_block(BlockWrite {
            hash: record.hash,
            number: record.number(),
            raw: &raw,
            total_difficulty: record.total_difficulty,
            state_root: record.state_root,
            senders: record.senders(),
            transaction_hashes: &transaction_hashes,
            receipts: &outcome.receipts,
            encoded_receipts: &encoded_receipts,
            nodes,
            best,
        })?;
        self.archive.remember(&record, StoredReceipts { transaction_hashes, receipts: outcome.receipts });
        Ok(generation)
    }

    /// Total difficulty that a block will have; none while its parent is not stored.
    pub fn expected_total_difficulty(&self, block: &Block) -> Result<Option<U256>, ChainError> {
        let Some(parent) = block.header.parent() else { return Ok(None) };
        Ok(self.stored_parent(&parent)?.map(|parent| self.archive.total_difficulty(&parent, block)))
    }
}

/// Sorts the ends of an execution into verdicts and failures.
fn execution_failure(error: ExecError, block: &Block, hash: B256) -> Failure {
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
            return Failure::Error(ImportError::BridgePart { number, block: hash, index, transaction, part, stage });
        }
        source => return Failure::Error(ImportError::Execution { number, block: hash, source }),
    };
    Failure::Invalid(invalid)
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
        let Failure::Error(error) = execution_failure(error, &block, B256::repeat_byte(1)) else {
            panic!("the block was judged");
        };
        let text = error.to_string();
        let hash = block.transactions[0].hash().to_string();
        assert!(text.contains("block 7") && text.contains("addSignature (stage 6)") && text.contains(&hash), "{text}");
    }
}
