//! Arbitrary bytes in place of nodes and proofs: the result is an error or an answer, never a panic.

use std::collections::BTreeMap;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, keccak256, rlp};
use rhizome_trie::{MemoryNodes, NodeSource, ProofOutcome, SourceError, StateDelta, Trie, TrieError, diff, verify};

use crate::corpus::fuzz_corpus;
use crate::mutation::{Random, with_random};

/// Stored nodes, some of them damaged.
#[derive(Default, Clone)]
struct Damaged(BTreeMap<B256, Bytes>);

impl NodeSource for Damaged {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        Ok(self.0.get(hash).cloned())
    }
}

fn key(random: &mut Random) -> Vec<u8> {
    let length = *random.pick(&[0, 1, 2, 3, 31, 32, 42, 74]);
    (0..length).map(|_| random.below(4) as u8 * 0x41).collect()
}

fn filled(random: &mut Random) -> (Trie, Vec<Vec<u8>>) {
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    let keys: Vec<Vec<u8>> = (0..1 + random.below(20)).map(|_| key(random)).collect();
    for key in &keys {
        let value = [random.bytes(60).as_slice(), &[1]].concat();
        trie.put(key, &value).unwrap();
    }
    (trie, keys)
}

/// Calls everything that reads or changes a trie.
fn use_all(trie: &Trie, random: &mut Random) -> Result<(), TrieError> {
    let key = key(random);
    trie.get(&key)?;
    trie.value_length_and_hash(&key)?;
    trie.prove(&key)?;
    trie.get_nodes(&key)?;
    trie.children_size()?;
    let mut changed = trie.clone();
    match random.below(4) {
        0 => changed.put(&key, &random.bytes(60))?,
        1 => changed.delete(&key)?,
        2 => changed.delete_recursive(&key)?,
        _ => {
            let writes = [(key, Some(random.bytes(60).into())), (self::key(random), None)].into();
            changed.apply(&StateDelta { writes, ..StateDelta::default() })?;
        }
    }
    changed.commit();
    diff(trie, &changed)?;
    trie.entries().try_for_each(|entry| entry.map(drop))?;
    trie.nodes().try_for_each(|node| node.map(drop))
}

#[test]
fn fuzz_damaged_nodes() {
    with_random(|random| {
        let (mut trie, _) = filled(random);
        let mut stored = Damaged(trie.commit().into_iter().collect());
        let hashes: Vec<B256> = stored.0.keys().copied().collect();
        for _ in 0..=random.below(3) {
            let hash = *random.pick(&hashes);
            let mut message = stored.0.get(&hash).map(|message| message.to_vec()).unwrap_or_default();
            match random.below(10) {
                0 => drop(stored.0.remove(&hash)),
                1 => drop(stored.0.insert(hash, random.bytes(80).into())),
                _ => {
                    random.mutate(&mut message);
                    stored.0.insert(hash, message.into());
                }
            }
        }
        let root = trie.root_hash();
        for _ in 0..10 {
            // Both outcomes are correct; the test is that the call returns.
            let _ = use_all(&Trie::open(root, Arc::new(stored.clone())), random);
        }
    });
}

#[test]
fn fuzz_random_messages() {
    with_random(|random| {
        for _ in 0..40 {
            let mut message = random.bytes(90);
            if let Some(flags) = message.first_mut().filter(|_| random.below(2) == 0) {
                *flags = 0x40 | *flags & 0x3f;
            }
            let root = keccak256(&message);
            let source = Damaged([(root, message.into())].into());
            let _ = use_all(&Trie::open(root, Arc::new(source)), random);
        }
    });
}

#[test]
fn fuzz_proofs() {
    with_random(|random| {
        let (mut trie, keys) = filled(random);
        trie.commit();
        let root = trie.root_hash();
        for _ in 0..20 {
            let key = if random.below(3) == 0 { self::key(random) } else { random.pick(&keys).clone() };
            let proof = trie.prove(&key).unwrap();
            let honest = verify(root, &key, 0, &proof).unwrap();
            let expected = trie.get(&key).unwrap();
            assert_eq!(honest == ProofOutcome::Absent, expected.is_none());

            let mut forged = proof.clone();
            match random.below(4) {
                0 => drop(forged.pop()),
                1 => forged.push(random.bytes(60).into()),
                _ if !forged.is_empty() => {
                    let at = random.below(forged.len());
                    let mut message = forged[at].to_vec();
                    random.mutate(&mut message);
                    forged[at] = message.into();
                }
                _ => {}
            }
            // A forged list never proves anything else.
            if let Ok(proven) = verify(root, &key, 0, &forged) {
                assert_eq!((proven, &forged), (honest, &proof));
            }
            let first_bit = random.below(8 * key.len() + 9);
            let _ = verify(root, &key, first_bit, &proof);
            let _ = verify(keccak256(forged.first().cloned().unwrap_or_default()), &key, first_bit, &forged);
        }
    });
}

#[test]
fn fuzz_corpus_trie_node() {
    fuzz_corpus("trie-node", 20, &[], |message, random| {
        let root = keccak256(message);
        let source = Damaged([(root, Bytes::copy_from_slice(message))].into());
        let _ = use_all(&Trie::open(root, Arc::new(source)), random);
    });
}

/// Input: a proof as RLP, the key, then the messages of its nodes.
#[test]
fn fuzz_corpus_trie_proof() {
    fuzz_corpus("trie-proof", 40, &[], |data, random| {
        let Ok(items) = rlp::decode_all(data) else { return };
        let Some((key, messages)) = items.split_first() else { return };
        let proof: Vec<Bytes> = messages.iter().map(|item| Bytes::copy_from_slice(item.content())).collect();
        let root = keccak256(proof.first().cloned().unwrap_or_default());
        for first_bit in [0, random.below(8 * key.content().len() + 9)] {
            let _ = verify(root, key.content(), first_bit, &proof);
        }
    });
}
