//! Comparison of the log index with the receipts of a block. Entries are never removed from the index, also if their block leaves
//! the best chain, so a surplus entry is no fault: searches check the receipts. A missing entry hides a log.

use rhizome_primitives::{Address, B256, Log, Receipt};
use rhizome_storage::{LogIndexQuery, StorageError, Store};

use super::{FieldMismatch, MISSING};

/// Returns the first address or topic of the logs for which the index lacks the block.
pub(super) fn mismatch(
    store: &Store,
    number: u64,
    receipts: &[Receipt],
) -> Result<Option<FieldMismatch>, StorageError> {
    let is_indexed = |addresses: &[Address], topics: &[Vec<B256>]| {
        let found = store.log_candidates(&LogIndexQuery { addresses, topics }, number, number)?;
        Ok(found.is_some_and(|numbers| numbers.contains(&number)))
    };
    let missing = |field: String| Some((field, format!("block {number}"), MISSING.into()));
    for log in distinct(receipts) {
        if !is_indexed(&[log.address], &[])? {
            return Ok(missing(format!("logIndex[{}]", log.address)));
        }
        for (position, topic) in log.topics.iter().enumerate() {
            let mut topics = vec![Vec::new(); position];
            topics.push(vec![*topic]);
            if !is_indexed(&[], &topics)? {
                return Ok(missing(format!("logIndex[topics[{position}] {topic}]")));
            }
        }
    }
    Ok(None)
}

/// Returns the logs that differ in address or topics: most logs of a block are equal.
fn distinct(receipts: &[Receipt]) -> Vec<&Log> {
    let mut logs: Vec<&Log> = receipts.iter().flat_map(|receipt| &receipt.logs).collect();
    logs.sort_unstable_by(|left, right| (left.address, &left.topics).cmp(&(right.address, &right.topics)));
    logs.dedup_by(|left, right| left.address == right.address && left.topics == right.topics);
    logs
}
