//! Chunks of the reference, and chunks of random tries.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use flate2::read::GzDecoder;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use rhizome_primitives::{B256, hex};
use rhizome_trie::snap_chunk::{BuiltChunk, SnapChunkError, VerifiedChunk, build_chunk, verify_chunk};
use rhizome_trie::{MemoryNodes, Trie};
use serde_json::Value;

fn vectors() -> Value {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("data/snap_state.json.gz")[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

fn insert(nodes: &MemoryNodes, chunk: VerifiedChunk) {
    nodes.insert(chunk.nodes.into_iter().map(|node| (node.hash, node.message.into())));
    nodes.insert(chunk.values.into_iter().map(|(hash, value)| (hash, value.into())));
}

#[test]
fn chunks_of_the_reference_verify_and_are_built_again() {
    let file = vectors();
    for case in file["tries"].as_array().unwrap() {
        let root = B256::from_slice(&bytes(&case["stateRoot"]));
        let nodes = Arc::new(MemoryNodes::default());
        let mut count = 0;
        for chunk in case["chunks"].as_array().unwrap() {
            let (from, to) = (chunk["from"].as_u64().unwrap(), chunk["to"].as_u64().unwrap());
            let is_complete = chunk["complete"].as_bool().unwrap();
            let verified = verify_chunk(root, &bytes(&chunk["chunk"]), from, to, is_complete).unwrap();
            assert_eq!(Some(verified.nodes.len() as u64), chunk["nodes"].as_u64());
            count += verified.nodes.len();
            insert(&nodes, verified);
        }
        assert_eq!(Some(count as u64), case["totalNodes"].as_u64());
        let trie = Trie::open(root, nodes);
        for chunk in case["chunks"].as_array().unwrap() {
            let (from, to) = (chunk["from"].as_u64().unwrap(), chunk["to"].as_u64().unwrap());
            let built = build_chunk(&trie, from, to).unwrap().unwrap();
            assert_eq!(hex::encode(built.bytes), chunk["chunk"].as_str().unwrap());
            assert_eq!(Some(built.is_complete), chunk["complete"].as_bool());
        }
        let size = case["trieSize"].as_u64().unwrap();
        assert!(build_chunk(&trie, size, size + 1024).unwrap().is_some());
        assert_eq!(build_chunk(&trie, size + 1, size + 1024).unwrap(), None);
    }
}

#[test]
fn changed_chunks_of_the_reference_are_refused() {
    let file = vectors();
    for case in file["tries"].as_array().unwrap() {
        let root = B256::from_slice(&bytes(&case["stateRoot"]));
        for chunk in case["chunks"].as_array().unwrap().iter().take(3) {
            let (from, to) = (chunk["from"].as_u64().unwrap(), chunk["to"].as_u64().unwrap());
            let is_complete = chunk["complete"].as_bool().unwrap();
            let mut changed = bytes(&chunk["chunk"]);
            for at in 0..changed.len() {
                for mask in [1, 0x80] {
                    changed[at] ^= mask;
                    assert!(verify_chunk(root, &changed, from, to, is_complete).is_err(), "byte {at}");
                    changed[at] ^= mask;
                }
            }
            for length in [0, 1, changed.len() / 2, changed.len() - 1] {
                assert!(verify_chunk(root, &changed[..length], from, to, is_complete).is_err());
            }
            assert!(verify_chunk(root, &changed, from, to, !is_complete).is_err());
            assert!(verify_chunk(root, &changed, from + 1024, to + 1024, is_complete).is_err());
        }
    }
}

/// Short keys, many of them prefixes of others, with values that keep inner nodes below the smallest chunk; and leaves up to
/// several chunks long.
fn contents() -> impl Strategy<Value = BTreeMap<Vec<u8>, Vec<u8>>> {
    let byte = prop_oneof![4 => 0u8..3, 1 => 0x80u8..0x82, 1 => any::<u8>()];
    let value = prop_oneof![4 => vec(any::<u8>(), 1..6), 2 => vec(any::<u8>(), 30..46)];
    let short = btree_map(vec(byte, 0..5), value, 1..50);
    let long = btree_map(vec(any::<u8>(), 30..75), vec(any::<u8>(), 1..900), 0..6);
    (short, long).prop_map(|(mut contents, long)| {
        contents.extend(long);
        contents
    })
}

fn stored(contents: &BTreeMap<Vec<u8>, Vec<u8>>) -> (B256, Trie) {
    let nodes = Arc::new(MemoryNodes::default());
    let mut trie = Trie::empty(nodes.clone());
    for (key, value) in contents {
        trie.put(key, value).unwrap();
    }
    let root = trie.root_hash();
    nodes.insert(trie.commit());
    (root, Trie::open(root, nodes))
}

fn chunks(trie: &Trie, size: u64) -> Vec<BuiltChunk> {
    let mut chunks = Vec::new();
    while let Some(chunk) = build_chunk(trie, chunks.len() as u64 * size, (chunks.len() as u64 + 1) * size).unwrap() {
        let is_complete = chunk.is_complete;
        chunks.push(chunk);
        if is_complete {
            break;
        }
    }
    chunks
}

proptest! {
    #[test]
    fn built_chunks_verify_and_rebuild_the_trie(contents in contents(), size in 256u64..3000) {
        let (root, trie) = stored(&contents);
        let nodes = Arc::new(MemoryNodes::default());
        let (mut row_keys, mut entries) = (Vec::new(), BTreeMap::new());
        let chunks = chunks(&trie, size);
        prop_assert!(chunks.last().is_some_and(|chunk| chunk.is_complete));
        for (index, chunk) in (0..).zip(&chunks) {
            let verified = verify_chunk(root, &chunk.bytes, index * size, (index + 1) * size, chunk.is_complete).unwrap();
            prop_assert_eq!(verified.trie_size, trie.size().unwrap());
            entries.extend(verified.entries.iter().map(|(key, value)| (key.clone(), value.to_vec())));
            row_keys.extend(verified.nodes.iter().map(|node| (node.row_key.clone(), node.hash)));
            insert(&nodes, verified);
        }
        let mut expected: Vec<_> = trie
            .nodes()
            .map(Result::unwrap)
            .filter(|node| !node.is_embedded)
            .map(|node| node.hash)
            .collect();
        let mut got: Vec<_> = row_keys.iter().map(|(_, hash)| *hash).collect();
        expected.sort();
        got.sort();
        prop_assert_eq!(got, expected);
        row_keys.sort();
        row_keys.dedup_by(|a, b| a.0 == b.0);
        prop_assert_eq!(row_keys.len(), trie.nodes().filter(|node| node.as_ref().is_ok_and(|node| !node.is_embedded)).count());
        let rebuilt = Trie::open(root, nodes);
        let got: BTreeMap<_, _> = rebuilt.entries().map(Result::unwrap).map(|(key, value)| (key, value.to_vec())).collect();
        prop_assert_eq!(&got, &contents);
        prop_assert_eq!(entries, contents);
    }

    #[test]
    fn changed_chunks_are_refused(
        contents in contents(), size in 256u64..3000, at in any::<prop::sample::Index>(),
        position in any::<prop::sample::Index>(), mask in 1u8..,
    ) {
        let (root, trie) = stored(&contents);
        let chunks = chunks(&trie, size);
        let index = at.index(chunks.len());
        let mut chunk = chunks[index].clone();
        let from = index as u64 * size;
        let position = position.index(chunk.bytes.len());
        chunk.bytes[position] ^= mask;
        prop_assert!(verify_chunk(root, &chunk.bytes, from, from + size, chunk.is_complete).is_err());
    }

    #[test]
    fn chunks_of_other_ranges_are_refused(contents in contents(), size in 256u64..3000, at in any::<prop::sample::Index>()) {
        let (root, trie) = stored(&contents);
        let chunks = chunks(&trie, size);
        let index = at.index(chunks.len());
        for (other, chunk) in chunks.iter().enumerate().filter(|(_, chunk)| **chunk != chunks[index]) {
            let from = index as u64 * size;
            let result = verify_chunk(root, &chunk.bytes, from, from + size, chunk.is_complete);
            prop_assert!(result.is_err(), "chunk {} for {}", other, index);
        }
    }

    #[test]
    fn any_bytes_are_refused_without_panic(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(verify_chunk(B256::ZERO, &bytes, 0, 1024, true).is_err());
        let list = rhizome_primitives::rlp::list(&bytes);
        prop_assert!(verify_chunk(B256::ZERO, &list, 0, 1024, true).is_err());
    }
}

#[test]
fn deep_chains_of_nodes_do_not_recurse() {
    // Falling children sizes: each node is the right child of the one before.
    let mut nodes = Vec::new();
    for size in (1u32..60_000).rev() {
        let mut form = vec![0x44, 0xfe];
        form.extend_from_slice(&size.to_le_bytes());
        rhizome_primitives::rlp::put_bytes(&mut nodes, &form);
    }
    let mut chunk = vec![0xc0];
    chunk.extend_from_slice(&rhizome_primitives::rlp::list(&nodes));
    chunk.extend_from_slice(&[0x80, 0xc2, 0x80, 0x80, 0xc0]);
    let chunk = rhizome_primitives::rlp::list(&chunk);
    // The last node has no right child.
    assert_eq!(verify_chunk(B256::ZERO, &chunk, 0, 1 << 40, true), Err(SnapChunkError::ChildHash));
    let many = rhizome_primitives::rlp::list(&vec![0x40; 65_537]);
    let mut chunk = vec![0xc0];
    chunk.extend_from_slice(&many);
    chunk.extend_from_slice(&[0x80, 0xc2, 0x80, 0x80, 0xc0]);
    let chunk = rhizome_primitives::rlp::list(&chunk);
    assert_eq!(verify_chunk(B256::ZERO, &chunk, 0, 1 << 40, true), Err(SnapChunkError::Length(chunk.len() / 4 + 17)));
}
