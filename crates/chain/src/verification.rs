//! Executes a range of the best chain again and compares it with the headers and with everything stored about it. On request,
//! compares the whole flat state of the head with its trie.

mod flat_state;
mod log_index;

use std::ops::ControlFlow;
use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_primitives::{B256, Bytes, Receipt, hex, keccak256};
use rhizome_storage::{AddressIndex, ChangeSet, InnerAccounts, NodeVersions, ValueChange};
use rhizome_trie::{MemoryNodes, Trie, TrieError};

use crate::archive::historical_state::HistoricalState;
use crate::archive::record::BlockRecord;
use crate::config::ProvenBlocks;
use crate::error::{ChainError, ImportError};
use crate::import::invalid_block::InvalidBlock;
use crate::import::prepared_block::PreparedBlock;
use crate::import::read_ahead::read_ahead;
use crate::import::rules::ImportFailure;
use crate::import::steps::{ImportSteps, VerifiedBlock};

/// Blocks that are read ahead.
const BLOCKS_AHEAD: usize = 32;
/// Shown for a value that is not stored.
const MISSING: &str = "nothing";

/// The first difference that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of the block.
    pub number: u64,
    /// Its hash in the index of heights.
    pub hash: B256,
    /// The field, with the names of the interface: `stateRoot`, `receipts[2].gasUsed`.
    pub field: String,
    /// Value of the header or of the execution.
    pub expected: String,
    /// Stored value.
    pub got: String,
}

/// Scope of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerificationScope {
    /// Numbers of the first and the last block that are executed; `None`: no block.
    pub blocks: Option<(u64, u64)>,
    /// Whether the state of the head is compared after the blocks. Takes as long as reading all of it.
    pub has_state: bool,
}

/// Result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Number of blocks without a difference.
    pub blocks: u64,
    /// Number of keys of the head's state without a difference.
    pub keys: u64,
    /// The first difference, if any.
    pub difference: Option<Difference>,
    /// The verification was ended before it had covered its scope, and no difference was found until then.
    pub is_partial: bool,
}

/// Part of the chain without a difference.
#[derive(Debug)]
pub enum VerifiedPart<'a> {
    /// A block.
    Block(&'a BlockRecord),
    /// Keys of the head's state, up to now.
    State {
        /// Number of keys.
        keys: u64,
        /// Their estimated share of all keys, from 0 to 1.
        share: f64,
    },
}

/// Failure to verify a range.
#[derive(Debug, thiserror::Error)]
pub enum VerificationError {
    /// The range is not on the chain.
    #[error("there are no blocks {from} to {to}: the head is block {head}")]
    Range {
        /// First block asked for.
        from: u64,
        /// Last block asked for.
        to: u64,
        /// Number of the head.
        head: u64,
    },
    /// States that the blocks would be executed on are not kept.
    #[error("the states below block {oldest} are not kept: only blocks from {} on can be verified", oldest + 1)]
    NotKept {
        /// Number of the oldest block whose state is kept.
        oldest: u64,
    },
    /// The state of the head cannot be read.
    #[error("the state of block {number} cannot be verified: {source}")]
    State {
        /// Number of the block.
        number: u64,
        /// The failure.
        source: Box<ChainError>,
    },
    /// Data for the execution of a block cannot be read, or the node lacks a rule.
    #[error("block {number} cannot be verified: {source}")]
    Block {
        /// Number of the block.
        number: u64,
        /// The failure.
        source: Box<ImportError>,
    },
}

/// Field, expected and found value.
type FieldMismatch = (String, String, String);

/// Verifies stored blocks. Writes nothing.
pub(crate) struct ChainVerifier<'a> {
    steps: &'a ImportSteps,
    /// Root and trie of the state after the last verified block.
    last_trie: Mutex<Option<(B256, Trie)>>,
}

impl<'a> ChainVerifier<'a> {
    pub(crate) fn new(steps: &'a ImportSteps) -> Self {
        Self { steps, last_trie: Mutex::default() }
    }

    /// Executes blocks of the best chain on the stored states before them. Compares the results with the headers and with the stored
    /// receipts, senders, total difficulties, trie nodes, transaction index, log index and, if the blocks are in them, address index and
    /// accounts of inner calls.
    /// `on_part` gets each verified part and may end the verification. No block must be imported meanwhile. A state that was replaced
    /// by hand is not compared with the header, but blocks are executed on it.
    pub(crate) fn verify(
        &self,
        scope: VerificationScope,
        mut on_part: impl FnMut(VerifiedPart<'_>) -> ControlFlow<()>,
    ) -> Result<Verification, VerificationError> {
        let _pruning = self.steps.archive.pruning.lock();
        let (found, is_stopped) = match scope.blocks {
            Some(blocks) => self.verify_blocks(blocks, &mut on_part)?,
            None => (Verification::default(), false),
        };
        match scope.has_state && found.difference.is_none() {
            true if is_stopped => Ok(Verification { is_partial: true, ..found }),
            true => self.verify_head_state(found, on_part),
            false => Ok(found),
        }
    }

    /// Also returns whether `on_part` has ended the verification.
    fn verify_blocks(
        &self,
        (from, to): (u64, u64),
        on_part: &mut impl FnMut(VerifiedPart<'_>) -> ControlFlow<()>,
    ) -> Result<(Verification, bool), VerificationError> {
        let head = self.steps.publisher.head().number();
        if from > to || to > head {
            return Err(VerificationError::Range { from, to, head });
        }
        let oldest = self.steps.archive.store.oldest_state();
        if from <= oldest && oldest > 0 {
            return Err(VerificationError::NotKept { oldest });
        }
        let mut found = Verification::default();
        let mut is_stopped = false;
        let mut number = from;
        let prepare = |number| self.stored_block(number);
        let end = read_ahead(from..=to, BLOCKS_AHEAD, prepare, |stored| {
            let checked = stored.map_err(ImportError::from).and_then(|(record, prepared)| {
                let mismatch = self.mismatch(&record, prepared)?;
                Ok((record, mismatch))
            });
            match checked {
                Err(source) => ControlFlow::Break(Err(VerificationError::Block { number, source: Box::new(source) })),
                Ok((record, Some((field, expected, got)))) => {
                    ControlFlow::Break(Ok(Some(Difference { number, hash: record.hash, field, expected, got })))
                }
                Ok((record, None)) => {
                    found.blocks += 1;
                    number += 1;
                    is_stopped = on_part(VerifiedPart::Block(&record)).is_break();
                    if is_stopped { ControlFlow::Break(Ok(None)) } else { ControlFlow::Continue(()) }
                }
            }
        });
        found.difference = end.transpose()?.flatten();
        found.is_partial = is_stopped && number <= to;
        Ok((found, is_stopped))
    }

    fn verify_head_state(
        &self,
        found: Verification,
        mut on_part: impl FnMut(VerifiedPart<'_>) -> ControlFlow<()>,
    ) -> Result<Verification, VerificationError> {
        let head = self.steps.publisher.head();
        let (number, hash) = (head.number(), head.hash());
        let trie = head.snapshot().trie_after(&self.steps.archive, &head.record);
        let trie = trie.map_err(|source| VerificationError::State { number, source: Box::new(source) })?;
        let mut is_partial = false;
        let compared = flat_state::compare(&self.steps.archive.store, &trie, |keys, share| {
            let flow = on_part(VerifiedPart::State { keys, share });
            is_partial = flow.is_break();
            flow
        });
        let (keys, mismatch) =
            compared.map_err(|source| VerificationError::State { number, source: Box::new(source) })?;
        let difference = mismatch.map(|(field, expected, got)| Difference { number, hash, field, expected, got });
        Ok(Verification { keys, difference, is_partial, ..found })
    }

    /// Reads a block from the database without the caches.
    fn stored_block(&self, number: u64) -> Result<(BlockRecord, PreparedBlock), ChainError> {
        let hash = self.steps.archive.store.main_hash(number)?.ok_or(ChainError::MissingHeight { number })?;
        let stored = self.steps.archive.store.block(&hash)?.ok_or(ChainError::MissingBlock { hash })?;
        let record = BlockRecord::from_stored(hash, stored, &self.steps.config.spec)?;
        let prepared = PreparedBlock::new(record.block.clone());
        prepared.prepare_all(&self.steps.config.spec);
        Ok((record, prepared))
    }

    fn mismatch(&self, record: &BlockRecord, prepared: PreparedBlock) -> Result<Option<FieldMismatch>, ImportError> {
        if prepared.hash != record.hash {
            return Ok(Some(("hash".into(), record.hash.to_string(), prepared.hash.to_string())));
        }
        let Some(below) = record.number().checked_sub(1) else { return Ok(self.genesis_mismatch(record)?) };
        let parent = self.steps.archive.store.main_hash(below)?.ok_or(ChainError::MissingHeight { number: below })?;
        if record.parent() != Some(parent) {
            let got = hex::encode_prefixed(&record.block.header.parent_hash);
            return Ok(Some(("parentHash".into(), parent.to_string(), got)));
        }
        let parent = self.steps.archive.known_record(&parent)?;
        let ancestor = self.steps.archive.known_ancestor(&parent.hash)?;
        let mut trie = self.parent_trie(&parent)?;
        if let Some(trie) = &trie
            && let Ok(changes) = self.steps.archive.store.changes(record.number(), &record.hash)
        {
            // The execution would read them one after another. A failure shows again there.
            drop(trie.load_paths(changes.iter().map(|(key, _)| key)));
        }
        let stored_inner = self.steps.archive.store.inner_accounts(&record.hash)?;
        let verified = match &mut trie {
            Some(trie) => self.steps.verify(prepared, &ancestor, trie, stored_inner.is_some()),
            None => {
                let state = HistoricalState::new(Arc::clone(&self.steps.archive), &parent);
                self.steps.verify_without_root(prepared, &ancestor, Arc::new(state), stored_inner.is_some())
            }
        };
        match verified {
            Ok(verified) => match inner_mismatch(verified.inner_accounts.as_ref(), stored_inner.as_ref()) {
                Some(mismatch) => Ok(Some(mismatch)),
                None => Ok(self.stored_mismatch(record, verified, trie)?),
            },
            Err(ImportFailure::Invalid(invalid)) => Ok(Some(rule_mismatch(&invalid))),
            Err(ImportFailure::Error(error)) => Err(error),
        }
    }

    /// Returns the trie of the state after the parent of the next block; `None` if it is not kept.
    fn parent_trie(&self, parent: &Arc<BlockRecord>) -> Result<Option<Trie>, ChainError> {
        let archive = &self.steps.archive;
        let ProvenBlocks::Last(kept) = self.steps.config.proven_blocks else {
            return Ok(Some(archive.trie(parent.state_root)));
        };
        if let Some((root, trie)) = self.last_trie.lock().take()
            && root == parent.state_root
        {
            return Ok(Some(trie));
        }
        let head = self.steps.publisher.head();
        if head.number().saturating_sub(parent.number()) > kept {
            return Ok(None);
        }
        head.snapshot().trie_after(archive, parent).map(Some)
    }

    /// Compares the genesis. Its hash was compared when the chain was opened.
    fn genesis_mismatch(&self, record: &BlockRecord) -> Result<Option<FieldMismatch>, ChainError> {
        let (_genesis, trie) = rhizome_trie::genesis(&self.steps.config.spec, Arc::new(MemoryNodes::default()))?;
        Ok(compare("stateRoot", &trie.root_hash(), &self.executed_state_root(record)?))
    }

    /// Returns the stored root of the state that the transactions of a block led to, also if it was replaced.
    fn executed_state_root(&self, record: &BlockRecord) -> Result<B256, ChainError> {
        Ok(self.steps.archive.store.original_state_root(&record.hash)?.unwrap_or(record.state_root))
    }

    /// Looks for a stored node that is missing on the way to a changed key. `trie`: the state after the changes.
    fn lost_node(&self, trie: &Trie, changes: &ChangeSet) -> Result<Option<FieldMismatch>, ChainError> {
        let stored = self.steps.archive.trie(trie.root_hash());
        // A failure shows again below.
        drop(stored.load_paths(changes.iter().map(|(key, _)| key)));
        for (key, _) in changes.iter() {
            // Reads all nodes on the way, and no long value.
            match stored.value_length_and_hash(key) {
                Err(TrieError::MissingNode { hash }) => {
                    let computed = trie.prove(key)?.into_iter().find(|message| keccak256(message) == hash);
                    return Ok(Some((format!("stateNodes[{hash}]"), text(computed.as_ref()), text(None))));
                }
                found => found.map(drop)?,
            }
        }
        Ok(None)
    }

    /// Compares the changes of a block with the stored ones, unless its state was replaced by hand.
    fn changes_mismatch(&self, record: &BlockRecord, changes: &ChangeSet) -> Result<Option<FieldMismatch>, ChainError> {
        let store = &self.steps.archive.store;
        if store.replaced_state(&record.hash)?.is_some() {
            return Ok(None);
        }
        let stored = store.changes(record.number(), &record.hash)?;
        let keys = changes.iter().chain(stored.iter()).map(|(key, _)| key);
        Ok(keys.into_iter().find(|key| changes.get(key) != stored.get(key)).map(|key| {
            let field = format!("stateChanges[{}]", hex::encode_prefixed(key));
            (field, shown_change(changes.get(key)), shown_change(stored.get(key)))
        }))
    }

    fn stored_mismatch(
        &self,
        stored: &BlockRecord,
        verified: VerifiedBlock,
        trie: Option<Trie>,
    ) -> Result<Option<FieldMismatch>, ChainError> {
        let VerifiedBlock { record, receipts, changes, nodes, .. } = verified;
        let executed_root = self.executed_state_root(stored)?;
        if let Some(mismatch) = compare("stateRoot", &record.state_root, &executed_root)
            .or_else(|| compare("totalDifficulty", &record.total_difficulty, &stored.total_difficulty))
            .or_else(|| compare_lists("senders", record.senders(), stored.senders()))
        {
            return Ok(Some(mismatch));
        }
        let store = &self.steps.archive.store;
        for value in nodes.by_hash.named() {
            let hash = value.hash;
            let found = store.cached_by_hash(hash)?;
            if found.as_ref().map(AsRef::as_ref) != Some(value.message) {
                let computed = hex::encode_prefixed(value.message);
                return Ok(Some((format!("stateNodes[{hash}]"), computed, text(found.as_ref()))));
            }
        }
        if let Some(trie) = &trie
            && store.node_versions() == NodeVersions::All
            && let Some(mismatch) = self.lost_node(trie, &changes)?
        {
            return Ok(Some(mismatch));
        }
        *self.last_trie.lock() = trie.map(|trie| (record.state_root, trie));
        if let Some(mismatch) = self.changes_mismatch(&record, &changes)? {
            return Ok(Some(mismatch));
        }
        if let Some(mismatch) = receipts_mismatch(&receipts, store.receipts(&record.hash)?.as_ref()) {
            return Ok(Some(mismatch));
        }
        for (index, transaction) in record.block.transactions.iter().enumerate() {
            let locations = store.transaction_locations(&transaction.hash())?;
            let is_here = |location: &rhizome_storage::TransactionLocation| {
                location.block == record.hash && usize::try_from(location.index) == Ok(index)
            };
            if !locations.iter().any(is_here) {
                let got = if locations.is_empty() { MISSING } else { "other places" };
                let expected = format!("position {index} of block {}", record.hash);
                return Ok(Some((format!("transactions[{index}].place"), expected, got.into())));
            }
        }
        if let Some(mismatch) = log_index::mismatch(store, record.number(), &receipts)? {
            return Ok(Some(mismatch));
        }
        let wrong = AddressIndex::wrong_row(store, record.number(), &record.hash)?;
        let expected = || format!("the transactions of block {}", record.number());
        Ok(wrong.map(|address| (format!("addressIndex[{address}]"), expected(), "another row, or none".into())))
    }
}

/// Describes one side of a stored change.
fn shown_change(change: Option<&ValueChange>) -> String {
    change.map_or_else(|| MISSING.into(), |change| format!("{change:?}"))
}

fn text(bytes: Option<&Bytes>) -> String {
    bytes.map_or_else(|| MISSING.into(), Bytes::to_string)
}

fn compare<T: PartialEq + ToString>(field: &str, expected: &T, got: &T) -> Option<FieldMismatch> {
    (expected != got).then(|| (field.into(), expected.to_string(), got.to_string()))
}

/// Returns the first element that differs or is missing in one of the lists.
fn compare_lists<T: PartialEq + ToString>(field: &str, expected: &[T], got: &[T]) -> Option<FieldMismatch> {
    let index = (0..expected.len().max(got.len())).find(|index| expected.get(*index) != got.get(*index))?;
    let element = |list: &[T]| list.get(index).map_or_else(|| MISSING.into(), T::to_string);
    Some((format!("{field}[{index}]"), element(expected), element(got)))
}

/// Compares the accounts of inner calls, if they are stored.
fn inner_mismatch(expected: Option<&InnerAccounts>, stored: Option<&InnerAccounts>) -> Option<FieldMismatch> {
    let (expected, stored) = expected.zip(stored)?;
    let index = expected.first_difference(stored)?;
    let list = |accounts: &InnerAccounts| match accounts.of_transaction(index) {
        [] => MISSING.into(),
        accounts => accounts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    };
    Some((format!("innerCalls[{index}]"), list(expected), list(stored)))
}

fn receipts_mismatch(expected: &[Receipt], stored: Option<&rhizome_storage::StoredReceipts>) -> Option<FieldMismatch> {
    let got = stored.map(|stored| stored.receipts.as_slice()).unwrap_or_default();
    if let Some(mismatch) = compare("receipts.length", &expected.len(), &got.len()) {
        return Some(mismatch);
    }
    expected.iter().zip(got).enumerate().find_map(|(index, (expected, got))| {
        let name = |field: &str| format!("receipts[{index}].{field}");
        compare(&name("status"), &expected.success, &got.success)
            .or_else(|| compare(&name("cumulativeGasUsed"), &expected.cumulative_gas, &got.cumulative_gas))
            .or_else(|| compare(&name("gasUsed"), &expected.gas_used, &got.gas_used))
            .or_else(|| compare(&name("encoding"), &hex_of(expected), &hex_of(got)))
    })
}

fn hex_of(receipt: &Receipt) -> String {
    hex::encode_prefixed(receipt.encode())
}

/// Converts a broken rule into a comparison of the block's value with the computed one.
fn rule_mismatch(invalid: &InvalidBlock) -> FieldMismatch {
    let of_roots = |field: &str, header: &str, computed: &B256| (field.into(), header.into(), computed.to_string());
    match invalid {
        InvalidBlock::TransactionsRoot { header, computed } => of_roots("transactionsRoot", header, computed),
        InvalidBlock::StateRoot { header, computed } | InvalidBlock::OldStateRoot { header, computed } => {
            of_roots("stateRoot", header, computed)
        }
        InvalidBlock::ReceiptsRoot { header, computed } => of_roots("receiptsRoot", header, computed),
        InvalidBlock::LogsBloom { header, computed } => {
            ("logsBloom".into(), header.clone(), hex::encode_prefixed(computed.as_bytes()))
        }
        InvalidBlock::GasUsed { header, computed } => ("gasUsed".into(), header.to_string(), computed.to_string()),
        InvalidBlock::PaidFees { header, computed } => ("paidFees".into(), header.to_string(), computed.to_string()),
        InvalidBlock::Nonce { index, nonce, expected, .. } => {
            (format!("transactions[{index}].nonce"), nonce.to_string(), expected.to_string())
        }
        other => ("rules".into(), "a valid block".into(), other.to_string()),
    }
}
