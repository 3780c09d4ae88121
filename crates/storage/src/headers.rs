//! Headers that were received before their blocks, and the tip of the best header chain.

use rhizome_primitives::{B256, Bytes, U256};
use rocksdb::WriteBatch;

use crate::StorageError;
use crate::columns::{HEADER_TIP_KEY, HEADERS, META, position_key};
use crate::database::Database;

/// Length of the difficulty at the start of a row.
const DIFFICULTY_BYTES: usize = 32;

/// A header to write.
#[derive(Debug, Clone, Copy)]
pub struct HeaderWrite<'a> {
    /// Number of the header.
    pub number: u64,
    /// Hash of the header.
    pub hash: B256,
    /// Difficulty of the chain up to the header, as far as it is known.
    pub difficulty: U256,
    /// Encoding of the header, which this crate does not interpret.
    pub encoding: &'a [u8],
}

/// A header that was received before its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderRow {
    /// Difficulty of the chain up to the header, as far as it is known.
    pub difficulty: U256,
    /// Encoding of the header.
    pub encoding: Bytes,
}

/// Returns a header by number and hash.
pub(crate) fn get(database: &Database, number: u64, hash: &B256) -> Result<Option<HeaderRow>, StorageError> {
    database.decoded(HEADERS, &position_key(number, hash), |row| {
        let (difficulty, encoding) = row.split_at_checked(DIFFICULTY_BYTES)?;
        let difficulty = U256::try_from_be_slice(difficulty)?;
        Some(HeaderRow { difficulty, encoding: Bytes::copy_from_slice(encoding) })
    })
}

/// Returns number and hash of the last header of the best header chain.
pub(crate) fn tip(database: &Database) -> Result<Option<(u64, B256)>, StorageError> {
    database.decoded(META, HEADER_TIP_KEY, |row| {
        let (number, hash) = row.split_first_chunk()?;
        Some((u64::from_be_bytes(*number), B256::try_from(hash).ok()?))
    })
}

/// Writes headers and the tip of the best header chain in one batch.
pub(crate) fn write(database: &Database, headers: &[HeaderWrite<'_>], tip: (u64, B256)) -> Result<(), StorageError> {
    let engine = database.engine()?;
    let column = engine.column(HEADERS)?;
    let mut batch = WriteBatch::default();
    let mut row = Vec::new();
    for header in headers {
        row.clear();
        row.extend_from_slice(&header.difficulty.to_be_bytes::<DIFFICULTY_BYTES>());
        row.extend_from_slice(header.encoding);
        batch.put_cf(column, position_key(header.number, &header.hash), &row);
    }
    batch.put_cf(engine.column(META)?, HEADER_TIP_KEY, position_key(tip.0, &tip.1));
    database.write_batch(batch)
}

/// Deletes all headers below a height.
pub(crate) fn delete_below(database: &Database, number: u64) -> Result<(), StorageError> {
    let engine = database.engine()?;
    let mut batch = WriteBatch::default();
    let (first, last) = (position_key(0, &B256::ZERO), position_key(number, &B256::ZERO));
    batch.delete_range_cf(engine.column(HEADERS)?, first, last);
    database.write_batch(batch)
}
