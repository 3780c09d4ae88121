//! Rows of the node journal. The nodes of an executed block follow from the state of its parent and from its changes, which
//! are in the database anyway, so its row has neither: a start makes them again. Writing them into the write-ahead log, too, took
//! 5 % of the time of an import with all versions and doubled the written bytes.

use std::collections::HashSet;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{NodeBatch, NodePlace, NodeSource, SourceError, SourceNode, Trie, WantedNode};

use crate::StorageError;
use crate::change_set::{ChangeSet, ReplacedState, StoredValue, StoredValueView};
use crate::columns::{BLOCKS, CHANGES, META, NODE_BATCHES, original_root_key, position_key};
use crate::database::read_missing;
use crate::engine::Engine;
use crate::node_files::NodeFiles;
use crate::node_journal::NodeJournal;
use crate::record;

/// Key of the row of a node batch.
#[derive(Clone, Copy)]
pub(crate) struct JournalKey {
    /// Batches are restored in this order.
    pub(crate) sequence: u64,
    /// Number and hash of the block whose changes lead to the nodes; `None` if the row has all nodes, which have no places.
    pub(crate) block: Option<(u64, B256)>,
}

impl JournalKey {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut key = self.sequence.to_be_bytes().to_vec();
        if let Some((number, hash)) = &self.block {
            key.extend_from_slice(&position_key(*number, hash));
        }
        key
    }

    fn decode(key: &[u8]) -> Option<Self> {
        let (sequence, rest) = key.split_first_chunk()?;
        let block = match rest.split_first_chunk() {
            Some((number, hash)) => Some((u64::from_be_bytes(*number), B256::try_from(hash).ok()?)),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some(Self { sequence: u64::from_be_bytes(*sequence), block })
    }
}

/// Returns the row of a block: the root of the state that `changes` lead from, and new long values, of which the changes have the
/// hashes only.
pub(crate) fn encode_row(base_root: &B256, nodes: &NodeBatch, changes: &ChangeSet) -> Vec<u8> {
    let mut row = base_root.to_vec();
    let long: HashSet<B256> = changes.iter().filter_map(|(_, change)| long_value(change.after.row())).collect();
    let mut values = NodeBatch::default();
    if !long.is_empty() {
        let new = nodes.named().filter(|node| long.contains(node.hash));
        new.for_each(|node| values.push(node.hash, node.message));
    }
    values.with_encoded(|encoded| row.extend_from_slice(encoded));
    row
}

fn long_value(row: &[u8]) -> Option<B256> {
    match StoredValue::view(row)? {
        StoredValueView::Reference { hash, .. } => Some(hash),
        _ => None,
    }
}

/// Restores the batches of the journal that the last run did not flush.
pub(crate) fn restore(engine: &Engine) -> Result<(), StorageError> {
    let source: Arc<dyn NodeSource> =
        Arc::new(EngineNodes { journal: Arc::clone(&engine.journal), files: Arc::clone(&engine.files) });
    let mut trie = Trie::empty(Arc::clone(&source));
    let finds_all_by_hash = has_whole_batches(engine)?;
    let mut rows = engine.db.raw_iterator_cf(engine.column(NODE_BATCHES)?);
    rows.seek_to_first();
    while let Some((key, row)) = rows.item() {
        let damaged = || StorageError::damaged_row(NODE_BATCHES, key, "cannot be decoded");
        let journal_key = JournalKey::decode(key).ok_or_else(damaged)?;
        let nodes = match &journal_key.block {
            None => NodeBatch::decode(row).ok_or_else(damaged)?,
            Some(block) => {
                let (base_root, values) = row.split_first_chunk().ok_or_else(damaged)?;
                let values = NodeBatch::decode(values).ok_or_else(damaged)?;
                match block_changes(engine, block)? {
                    // A rewind deletes blocks, not their rows here.
                    None => values,
                    Some(ExecutedChanges { changes, root }) => {
                        if trie.root_hash() != *base_root {
                            trie = Trie::open(B256::from(*base_root), Arc::clone(&source));
                        }
                        let applied = changes.apply_to(&mut trie);
                        let (number, hash) = *block;
                        applied.map_err(|source| StorageError::JournalNodes { number, hash, source })?;
                        let mut commit = |place| {
                            let mut nodes = trie.commit_at(place);
                            values.named().for_each(|value| nodes.push(value.hash, value.message));
                            nodes
                        };
                        let nodes = match finds_all_by_hash {
                            true => commit(NodePlace::UNKNOWN),
                            false => engine.journal.place(|place| Ok::<_, StorageError>(commit(place)))?,
                        };
                        if trie.root_hash() != root {
                            return Err(StorageError::damaged_row(NODE_BATCHES, key, "leads to another state root"));
                        }
                        nodes
                    }
                }
            }
        };
        engine.journal.append(journal_key, nodes);
        rows.next();
    }
    rows.status().map_err(|source| StorageError::Engine { operation: "read the node batches", source })
}

/// Returns true if a row has whole nodes, which earlier versions wrote. Their children are found by their hashes.
fn has_whole_batches(engine: &Engine) -> Result<bool, StorageError> {
    let mut rows = engine.db.raw_iterator_cf(engine.column(NODE_BATCHES)?);
    rows.seek_to_first();
    while let Some(key) = rows.key() {
        if JournalKey::decode(key).is_some_and(|key| key.block.is_none()) {
            return Ok(true);
        }
        rows.next();
    }
    rows.status().map_err(|source| StorageError::Engine { operation: "read the node batches", source })?;
    Ok(false)
}

/// Changes of a block, without those by hand behind it, and the root of the state that they lead to.
struct ExecutedChanges {
    changes: ChangeSet,
    root: B256,
}

fn block_changes(engine: &Engine, (number, hash): &(u64, B256)) -> Result<Option<ExecutedChanges>, StorageError> {
    let row = |column, key: &[u8]| {
        let found = engine.db.get_pinned_cf(engine.column(column)?, key);
        found.map_err(|source| StorageError::Engine { operation: "read a block of the node journal", source })
    };
    let damaged = |column, key: &[u8]| StorageError::damaged_row(column, key, "cannot be decoded");
    let Some(block) = row(BLOCKS, hash.as_slice())? else { return Ok(None) };
    let root = record::decode_block(&block).ok_or_else(|| damaged(BLOCKS, hash.as_slice()))?.state_root;
    let key = position_key(*number, hash);
    let Some(changes) = row(CHANGES, &key)? else {
        return Err(StorageError::damaged_row(CHANGES, &key, "is missing"));
    };
    let mut changes = ChangeSet::decode(&changes).ok_or_else(|| damaged(CHANGES, &key))?;
    let key = original_root_key(hash);
    let Some(replaced) = row(META, &key)? else { return Ok(Some(ExecutedChanges { changes, root })) };
    let replaced = ReplacedState::decode(&replaced).ok_or_else(|| damaged(META, &key))?;
    changes.extend(&replaced.changes.reversed());
    Ok(Some(ExecutedChanges { changes, root: replaced.original_root }))
}

/// Nodes of the journal, as far as it is restored, and of the node files.
struct EngineNodes {
    journal: Arc<NodeJournal>,
    files: Arc<NodeFiles>,
}

impl NodeSource for EngineNodes {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        let found = self.journal.by_hash(&self.files, hash);
        found.map(|node| Some(node?.message)).map_err(|error| SourceError { hash: *hash, reason: Box::new(error) })
    }

    fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        self.journal
            .node(&self.files, wanted)
            .map_err(|error| SourceError { hash: wanted.hash, reason: Box::new(error) })
    }

    fn nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, SourceError> {
        let Some(first) = wanted.first() else { return Ok(Vec::new()) };
        let found = self.journal.nodes_in_memory(&self.files, wanted);
        let found = found.map_err(|error| SourceError { hash: first.hash, reason: Box::new(error) })?;
        read_missing(found, wanted, |missing| missing.iter().map(|wanted| self.node(wanted)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip() {
        for block in [None, Some((7, B256::repeat_byte(9)))] {
            let key = JournalKey { sequence: 3, block }.encode();
            let decoded = JournalKey::decode(&key).unwrap();
            assert_eq!((decoded.sequence, decoded.block), (3, block));
            assert!(JournalKey::decode(&key[1..]).is_none());
        }
    }
}
