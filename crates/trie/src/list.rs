//! Tries of a block's transactions and receipts: item `i` has the key RLP(i) (docs/spec/state.md, 7).

use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, keccak256_all};

use crate::error::TrieError;
use crate::source::MemoryNodes;
use crate::trie::Trie;
use crate::update::{Action, Change, build};
use crate::value::NodeValue;

/// Returns the key of the item at `index`: its RLP encoding.
pub fn list_key(index: u64) -> Vec<u8> {
    match index {
        0 => vec![0x80],
        1..=0x7f => vec![index as u8],
        _ => {
            let bytes = index.to_be_bytes();
            let digits = bytes.iter().skip_while(|byte| **byte == 0);
            let length = 8 - index.leading_zeros() as u8 / 8;
            std::iter::once(0x80 + length).chain(digits.copied()).collect()
        }
    }
}

/// Returns the transactions root or receipts root of a block; `is_orchid` for blocks without RSKIP-126. Fails only if
/// an item exceeds the maximum length of a value.
pub fn list_root<'a>(items: impl Iterator<Item = &'a [u8]>, is_orchid: bool) -> Result<B256, TrieError> {
    let items: Vec<_> = items.collect();
    let hashes = keccak256_all(&items);
    hashed_list_root(items.into_iter().zip(hashes), is_orchid)
}

/// Like [`list_root`], for items with known Keccak hashes.
pub fn hashed_list_root<'a>(items: impl Iterator<Item = (&'a [u8], B256)>, is_orchid: bool) -> Result<B256, TrieError> {
    let trie = list_of(items.map(|(item, hash)| NodeValue::for_root(item, hash)))?;
    if is_orchid { trie.orchid_root(false) } else { Ok(trie.root_hash()) }
}

/// Returns the trie whose root is [`list_root`], for proofs of its items.
pub fn list_trie(items: impl Iterator<Item = Bytes>) -> Result<Trie, TrieError> {
    list_of(items.map(|item| NodeValue::new(&item)))
}

fn list_of(values: impl Iterator<Item = Result<NodeValue, TrieError>>) -> Result<Trie, TrieError> {
    let mut items = Vec::new();
    for (value, index) in values.zip(0u64..) {
        items.push((list_key(index), value?));
    }
    items.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let puts: Vec<_> = items
        .iter()
        // An empty value is no entry.
        .filter(|(_, value)| !value.is_none())
        .map(|(key, value)| Change::new(key, Action::Put(value.clone())))
        .collect();
    Ok(Trie::with_root(build(&puts), Arc::new(MemoryNodes::default()), puts.len()))
}
