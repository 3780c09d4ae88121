//! The log index: blocks that have a log of an address or with a topic.
//!
//! Blocks are grouped into shards of [`LOG_SHARD_BLOCKS`]. A row lists the blocks of one shard that have a log with
//! one value in one position (address, or one of the topics): a sorted list of offsets, or a bit set if that is
//! smaller. Every imported block is added, on the best chain or beside it, and never removed. The index returns a
//! superset; the caller checks the receipts of the block that is on the best chain now. In return a reorganisation
//! does not touch the index.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rhizome_primitives::{Address, B256, Receipt};
use rocksdb::WriteBatch;

use crate::StorageError;
use crate::columns::LOGS;
use crate::database::Database;
use crate::log_shard::{LOG_SHARD_BLOCKS, Posting, ShardBlocks, TOPIC_POSITIONS, merge, postings, shard_and_offset};

/// Up to this number of shards a value is looked up shard by shard: the first row of a range scan costs as much as
/// several look-ups.
const MAX_POINT_LOOKUPS: u32 = 4;

/// Conditions on the logs of a block. An empty list matches everything.
#[derive(Debug, Clone, Copy)]
pub struct LogIndexQuery<'a> {
    /// Accepted addresses.
    pub addresses: &'a [Address],
    /// Accepted topics of each position.
    pub topics: &'a [Vec<B256>],
}

type Shards = BTreeMap<u32, ShardBlocks>;

/// Adds blocks to the index, each with its number and receipts. A row is added once, because the batch is not visible to the reads
/// that rewrite rows.
pub(crate) fn add_to_batch<'a>(
    database: &Database,
    batch: &mut WriteBatch,
    blocks: impl Iterator<Item = (u64, &'a [Receipt])>,
) -> Result<(), StorageError> {
    let engine = database.engine()?;
    let column = engine.column(LOGS)?;
    let mut added = Vec::new();
    for (number, receipts) in blocks {
        let (shard, operand) = shard_and_offset(number);
        let postings = postings(receipts.iter().flat_map(|receipt| &receipt.logs));
        added.extend(postings.iter().map(|posting| (posting.key(shard), operand, posting.rewrites_row_at(number))));
    }
    added.sort_unstable();
    for same_key in added.chunk_by(|left, right| left.0 == right.0) {
        let Some((key, operand, _)) = same_key.first() else { continue };
        let operands = || same_key.iter().map(|(_, operand, _)| operand.as_slice());
        let whole = match same_key.iter().any(|(.., is_rewritten)| *is_rewritten) {
            true => database.with_row(LOGS, key, |row| row.map(|row| merge(Some(row), operands())))?,
            false => None,
        };
        match whole {
            Some(row) => batch.put_cf(column, key, row),
            None if same_key.len() == 1 => batch.merge_cf(column, key, operand),
            None => batch.merge_cf(column, key, merge(None, operands())),
        }
    }
    Ok(())
}

/// Returns the numbers from `from` to `to`, ascending, of blocks that may have a log of the query; `None` if the
/// query has no condition. The cost grows with the number of postings found, so callers split long ranges.
pub(crate) fn candidates(
    database: &Database,
    query: &LogIndexQuery<'_>,
    from: u64,
    to: u64,
) -> Result<Option<Vec<u64>>, StorageError> {
    let mut conditions: Vec<Vec<Posting>> = Vec::new();
    if !query.addresses.is_empty() {
        conditions.push(query.addresses.iter().map(Posting::address).collect());
    }
    for (position, topics) in query.topics.iter().enumerate().filter(|(_, topics)| !topics.is_empty()) {
        if position >= TOPIC_POSITIONS {
            return Ok(Some(Vec::new()));
        }
        conditions.push(topics.iter().map(|topic| Posting::topic(position, topic)).collect());
    }
    let (first, last) = (shard_and_offset(from).0, shard_and_offset(to).0);
    let mut found: Option<Shards> = None;
    // Later topics are more selective than the event signature, and that is more selective than the address.
    for any_of in conditions.iter().rev() {
        let mut any = Shards::new();
        for posting in any_of {
            match &found {
                None => collect_shards(database, posting, first..=last, &mut any)?,
                Some(wanted) => collect_wanted(database, posting, wanted, &mut any)?,
            }
        }
        match &found {
            None => any.retain(|number, shard| shard.clip(u64::from(*number) * LOG_SHARD_BLOCKS, from, to)),
            Some(wanted) => any.retain(|number, shard| wanted.get(number).is_some_and(|only| shard.intersect(only))),
        }
        let is_sparse = any.values().map(ShardBlocks::count).sum::<usize>() <= any.len();
        found = Some(any);
        // Another row costs as much as checking the only block of its shard.
        if is_sparse {
            break;
        }
    }
    Ok(found.map(|shards| {
        let numbers = shards.iter().flat_map(|(number, shard)| {
            let first = u64::from(*number) * LOG_SHARD_BLOCKS;
            shard.offsets().map(move |offset| first + offset)
        });
        numbers.collect()
    }))
}

/// Adds the blocks of a value in each of these shards.
fn collect_shards(
    database: &Database,
    posting: &Posting,
    numbers: RangeInclusive<u32>,
    into: &mut Shards,
) -> Result<(), StorageError> {
    if numbers.end().saturating_sub(*numbers.start()) < MAX_POINT_LOOKUPS {
        return collect_each(database, posting, numbers, into);
    }
    let (first, last) = (posting.key(*numbers.start()), posting.key(*numbers.end()));
    database.visit_range(LOGS, &first, Some(&last), |key, row| {
        if let Some(number) = key.last_chunk() {
            into.entry(u32::from_be_bytes(*number)).or_default().add(row);
        }
        Ok(())
    })
}

/// Adds the blocks of a value in each of the `wanted` shards, and possibly in shards between them.
fn collect_wanted(
    database: &Database,
    posting: &Posting,
    wanted: &Shards,
    into: &mut Shards,
) -> Result<(), StorageError> {
    match (wanted.first_key_value(), wanted.last_key_value()) {
        (Some((first, _)), Some((last, _))) if wanted.len() as u64 > u64::from(MAX_POINT_LOOKUPS) => {
            collect_shards(database, posting, *first..=*last, into)
        }
        _ => collect_each(database, posting, wanted.keys().copied(), into),
    }
}

fn collect_each(
    database: &Database,
    posting: &Posting,
    numbers: impl Iterator<Item = u32>,
    into: &mut Shards,
) -> Result<(), StorageError> {
    for number in numbers {
        database.with_row(LOGS, &posting.key(number), |row| {
            if let Some(row) = row {
                into.entry(number).or_default().add(row);
            }
        })?;
    }
    Ok(())
}
