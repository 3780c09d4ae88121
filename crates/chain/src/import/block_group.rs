//! Groups of blocks far behind the head: the trie is changed and compared once for all blocks of a group, and they are written in one
//! batch. The other fields are compared block by block.
//!
//! Only in directories with the current trie nodes, because the others hold the nodes of each block, and since RSKIP-126, because
//! earlier headers have no root of this trie.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;
use rhizome_primitives::{B256, Bytes, Rule, hex};
use rhizome_storage::{ChangeSet, NewNodes, NodeVersions, merge_sorted};
use rhizome_trie::{KnownValue, NodeBatch, StateDelta, Trie, TrieError};

use crate::error::ChainError;
use crate::import::invalid_block::InvalidBlock;
use crate::import::pace;
use crate::import::rules::ImportFailure;
use crate::import::steps::{ExecutedBlock, ImportSteps, VerifiedBlock};

/// Most blocks of a group.
pub(crate) const MAX_BLOCKS: usize = 256;
/// Bytes of encoded blocks at which a group ends.
const MAX_BYTES: usize = 16 << 20;

/// Size of a group.
#[derive(Clone, Copy, Default)]
pub(crate) struct GroupSize {
    pub(crate) blocks: usize,
    keys: usize,
    bytes: usize,
}

impl GroupSize {
    pub(crate) fn add(&mut self, block: &ExecutedBlock) {
        self.blocks += 1;
        self.keys = self.keys.saturating_add(block.delta.writes.len());
        self.bytes = self.bytes.saturating_add(block.raw_bytes());
    }

    /// Returns the work for the blocks.
    pub(crate) fn work(&self) -> usize {
        pace::work(self.blocks, self.keys)
    }

    /// Whether the group must end. `most_keys`: see [`crate::config::ChainConfig::group_keys`].
    pub(crate) fn is_full(&self, most_keys: usize) -> bool {
        self.blocks >= MAX_BLOCKS || self.keys >= most_keys || self.bytes >= MAX_BYTES
    }
}

/// A compared group.
pub(crate) struct ComparedGroup {
    /// The valid blocks.
    pub(crate) verified: Vec<VerifiedBlock>,
    /// Failure of the block behind them.
    pub(crate) failure: Option<ImportFailure>,
}

/// Whether a block can be in a group with others.
pub(crate) fn is_groupable(steps: &ImportSteps, block: &ExecutedBlock) -> bool {
    let rules = steps.config.spec.rules(block.number());
    let has_root = rules.is_active(Rule::Rskip85) && rules.is_active(Rule::Rskip126);
    has_root && steps.archive.store.node_versions() == NodeVersions::Current
}

/// Compares blocks with their headers. Each is the child of the one before. `trie` moves from the state before the first block to
/// that after the last valid one.
pub(crate) fn compare(steps: &ImportSteps, blocks: Vec<ExecutedBlock>, trie: &mut Trie) -> ComparedGroup {
    let root_before = trie.root_hash();
    let deltas: Vec<_> = blocks.iter().map(BlockChanges::of).collect();
    let mut verified = Vec::with_capacity(blocks.len());
    let mut failure = None;
    for block in blocks {
        let (root, by_hash) = (block.header_root(), block.delta.long_values().collect::<NodeBatch>());
        match steps.compare_root(block, root, NewNodes::from(by_hash)) {
            Ok(block) => verified.push(block),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let mut group = match failure.is_none().then(|| apply_valid(trie, &deltas, root_before)) {
        Some(Ok(true)) => ComparedGroup { verified, failure },
        Some(Err(error)) => return ComparedGroup { verified: Vec::new(), failure: Some(error) },
        Some(Ok(false)) | None => narrow_down(trie, &deltas, verified, failure),
    };
    steps.complete_group(&mut group.verified, trie);
    group
}

/// Changes of the state by a block, and the state root in its header.
struct BlockChanges {
    delta: Arc<StateDelta>,
    changes: Arc<ChangeSet>,
    header_root: B256,
    /// Number and hash of the parent.
    parent: (u64, B256),
}

impl BlockChanges {
    fn of(block: &ExecutedBlock) -> Self {
        let (delta, changes) = (Arc::clone(&block.delta), Arc::clone(&block.changes));
        Self { delta, changes, header_root: block.header_root(), parent: block.parent() }
    }

    /// Returns the value after the block for each changed key, in key order.
    fn writes(&self) -> Vec<(&[u8], Option<&Bytes>)> {
        self.delta.writes.iter().map(|(key, value)| (key.as_slice(), value.as_ref())).collect()
    }

    fn apply(&self, trie: &mut Trie) -> Result<(), TrieError> {
        trie.apply_known(&self.delta, &|key| self.changes.known_before(key))
    }
}

/// Applies the changes of all blocks if they lead to the root in the last header; returns false otherwise. Undoes wrong changes
/// rather than copying the trie before: each node of a copied trie is copied again when it changes.
fn apply_valid(trie: &mut Trie, blocks: &[BlockChanges], root_before: B256) -> Result<bool, ImportFailure> {
    let root = apply_together(trie, blocks)?;
    if blocks.last().map(|block| block.header_root) == Some(root) {
        return Ok(true);
    }
    let mut changes = ChangeSet::default();
    blocks.iter().for_each(|block| changes.extend(&block.changes));
    changes.reversed().apply_to(trie)?;
    let root = trie.root_hash();
    match blocks.first() {
        Some(first) if root != root_before => {
            let (number, hash) = first.parent;
            Err(ChainError::DerivedRoot { number, hash, expected: root_before, root }.into())
        }
        _ => Ok(false),
    }
}

/// Applies the changes of several blocks at once. Returns the root.
fn apply_together(trie: &mut Trie, blocks: &[BlockChanges]) -> Result<B256, ImportFailure> {
    match blocks {
        [block] => block.apply(trie)?,
        _ => {
            // Not needed while all nodes are in memory.
            let before = LazyLock::new(|| values_before(blocks));
            let together = merge_sorted(blocks.iter().map(BlockChanges::writes).collect());
            trie.apply_writes(together.into_iter(), &|key| before.get(key).copied())?;
        }
    }
    Ok(trie.root_hash())
}

/// Returns the values before the first change of each key.
fn values_before(blocks: &[BlockChanges]) -> HashMap<&[u8], KnownValue<'_>, RandomState> {
    let mut before = HashMap::default();
    for BlockChanges { changes, .. } in blocks {
        for (key, value) in changes.iter().filter_map(|(key, change)| Some((key, change.before.known()?))) {
            before.entry(key).or_insert(value);
        }
    }
    before
}

/// Finds the first invalid block of a group. `verified`: the blocks whose headers agree with everything but the state root;
/// `failure` is that of the block behind them. A wrong state root has precedence over the other failures of a block. Moves `trie` to
/// the state after the last valid block.
fn narrow_down(
    trie: &mut Trie,
    blocks: &[BlockChanges],
    mut verified: Vec<VerifiedBlock>,
    mut failure: Option<ImportFailure>,
) -> ComparedGroup {
    let mut valid = 0;
    for block in blocks.iter().take(verified.len() + 1) {
        let (before, header_root) = (trie.clone(), &block.header_root);
        let root = block.apply(trie).map(|()| trie.root_hash());
        let wrong_root = match root {
            Ok(root) if root == *header_root => None,
            Ok(computed) => {
                Some(InvalidBlock::StateRoot { header: hex::encode_prefixed(header_root), computed }.into())
            }
            Err(error) => Some(error.into()),
        };
        if wrong_root.is_none() && valid < verified.len() {
            valid += 1;
            continue;
        }
        failure = wrong_root.or(failure);
        *trie = before;
        break;
    }
    verified.truncate(valid);
    ComparedGroup { verified, failure }
}
