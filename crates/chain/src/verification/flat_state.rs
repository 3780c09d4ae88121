//! Comparison of the flat rows of the head with its trie.

use std::ops::ControlFlow;

use rhizome_primitives::{B256, Bytes, hex, keccak256};
use rhizome_storage::{FlatEntry, Store};
use rhizome_trie::Trie;

use super::{FieldMismatch, MISSING};
use crate::ChainError;

/// Keys between two reports.
const REPORTED_KEYS: u64 = 10_000;
/// Longer values are shown as their length and hash.
const SHOWN_BYTES: usize = 64;

/// Walks both in the order of the keys. Returns the number of equal keys and the first difference. `report` gets the number of keys
/// and their share of all keys at intervals, and may end the comparison.
pub(super) fn compare(
    store: &Store,
    trie: &Trie,
    mut report: impl FnMut(u64, f64) -> ControlFlow<()>,
) -> Result<(u64, Option<FieldMismatch>), ChainError> {
    let (mut rows, mut entries) = (store.flat_entries(), trie.entries());
    let mut keys = 0;
    loop {
        let key = match (entries.next().transpose()?, rows.next().transpose()?) {
            (None, None) => return Ok((keys, None)),
            (Some((key, value)), Some(row)) if is_same(&key, &value, &row) => key,
            (entry, row) => return Ok((keys, Some(mismatch(store, entry, row)?))),
        };
        keys += 1;
        if keys % REPORTED_KEYS == 0 && report(keys, share_below(&key)).is_break() {
            return Ok((keys, None));
        }
    }
}

/// Estimates the share of the keys up to a key: accounts are distributed evenly by the hash after the first byte.
fn share_below(key: &[u8]) -> f64 {
    let hash = key.get(1..5).and_then(|hash| <[u8; 4]>::try_from(hash).ok()).unwrap_or_default();
    f64::from(u32::from_be_bytes(hash)) / f64::from(u32::MAX)
}

fn is_same(key: &[u8], value: &Bytes, row: &FlatEntry) -> bool {
    *row.key == *key && row.length == value.len() && row.hash == keccak256(value)
}

/// Describes a difference. The lower key is missing on the other side.
fn mismatch(
    store: &Store,
    entry: Option<(Vec<u8>, Bytes)>,
    row: Option<FlatEntry>,
) -> Result<FieldMismatch, ChainError> {
    let field = |key: &[u8]| format!("flatState[{}]", hex::encode_prefixed(key));
    let missing = || String::from(MISSING);
    Ok(match (entry, row) {
        (Some((key, value)), Some(row)) if *row.key == *key => {
            (field(&key), shown(&value, value.len(), keccak256(&value)), shown_row(store, &row)?)
        }
        (Some((key, value)), row) if row.as_ref().is_none_or(|row| *key < *row.key) => {
            (field(&key), shown(&value, value.len(), keccak256(&value)), missing())
        }
        (_, Some(row)) => (field(&row.key), missing(), shown_row(store, &row)?),
        (_, None) => (field(&[]), missing(), missing()),
    })
}

fn shown_row(store: &Store, row: &FlatEntry) -> Result<String, ChainError> {
    // The bytes of a long value may be missing: that is a difference, not a failure.
    let value = if row.length > SHOWN_BYTES { None } else { store.flat_get(&row.key)? };
    Ok(shown(&value.unwrap_or_default(), row.length, row.hash))
}

fn shown(value: &Bytes, length: usize, hash: B256) -> String {
    if length > SHOWN_BYTES { format!("{length} bytes with hash {hash}") } else { value.to_string() }
}
