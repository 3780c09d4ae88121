//! Keys of the column `history`: length of a trie key, the key, number of the block that changed it.
//!
//! The length comes first, so the rows of a trie key are never between those of another.

use rocksdb::SliceTransform;

/// Size of the block number at the end.
const NUMBER_BYTES: usize = 8;

/// Returns the part of a key that all changes of one trie key share, for filters.
pub(crate) fn prefix() -> SliceTransform {
    SliceTransform::create("trie key", without_number, Some(|key| key.len() > NUMBER_BYTES))
}

pub(crate) fn without_number(row_key: &[u8]) -> &[u8] {
    row_key.split_at_checked(row_key.len().saturating_sub(NUMBER_BYTES)).map_or(row_key, |(prefix, _)| prefix)
}

pub(crate) fn row_key(key: &[u8], number: u64) -> Vec<u8> {
    let mut row_key = Vec::with_capacity(1 + key.len() + NUMBER_BYTES);
    // Keys have at most 74 bytes.
    row_key.push(key.len() as u8);
    row_key.extend_from_slice(key);
    row_key.extend_from_slice(&number.to_be_bytes());
    row_key
}

/// Returns trie key and block number.
pub(crate) fn split_row_key(row_key: &[u8]) -> Option<(&[u8], u64)> {
    let (prefix, number) = row_key.split_at_checked(row_key.len().checked_sub(NUMBER_BYTES)?)?;
    Some((prefix.get(1..)?, u64::from_be_bytes(number.try_into().ok()?)))
}
