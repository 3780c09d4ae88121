//! Random histories: a trie depends only on its contents.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert_eq, prop_oneof, proptest};
use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_trie::{MemoryNodes, StateDelta, Trie, TrieError, diff};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

#[derive(Debug, Clone)]
enum Operation {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    DeleteRecursive(Vec<u8>),
    /// Stores the new nodes and continues with the trie opened by its root.
    Reopen,
    /// Drops stored nodes below a level from memory.
    Evict(usize),
}

/// Short keys over a small alphabet: many are prefixes of others or diverge late.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => 0u8..3, 1 => 0x80u8..0x82, 1 => any::<u8>()];
    prop_oneof![9 => vec(byte, 0..5), 1 => vec(any::<u8>(), 30..75)]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![4 => vec(any::<u8>(), 1..6), 2 => vec(any::<u8>(), 30..46), 1 => vec(any::<u8>(), 0..300)]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => (key(), value()).prop_map(|(key, value)| Operation::Put(key, value)),
        5 => key().prop_map(Operation::Delete),
        2 => key().prop_map(Operation::DeleteRecursive),
        1 => proptest::strategy::Just(Operation::Reopen),
        1 => (0usize..40).prop_map(Operation::Evict),
    ]
}

fn write(model: &mut Model, key: &[u8], value: &[u8]) {
    if value.is_empty() {
        model.remove(key);
    } else {
        model.insert(key.to_vec(), value.to_vec());
    }
}

fn wipe(model: &mut Model, key: &[u8]) {
    if model.contains_key(key) {
        model.retain(|candidate, _| !candidate.starts_with(key));
    }
}

fn contents(trie: &Trie) -> Result<Model, TrieError> {
    trie.entries().map(|entry| entry.map(|(key, value)| (key, value.to_vec()))).collect()
}

/// Builds the trie of a map in one batch.
fn rebuilt(model: &Model) -> Result<Trie, TrieError> {
    let writes = model.iter().map(|(key, value)| (key.clone(), Some(Bytes::from(value.clone())))).collect();
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    trie.apply(&StateDelta { writes, ..StateDelta::default() })?;
    Ok(trie)
}

struct History {
    trie: Trie,
    nodes: Arc<MemoryNodes>,
    model: Model,
}

impl History {
    fn new() -> History {
        let nodes = Arc::new(MemoryNodes::default());
        History { trie: Trie::empty(nodes.clone()), nodes, model: Model::new() }
    }

    fn run(&mut self, operation: &Operation) -> Result<(), TrieError> {
        match operation {
            Operation::Put(key, value) => {
                write(&mut self.model, key, value);
                self.trie.put(key, value)
            }
            Operation::Delete(key) => {
                self.model.remove(key);
                self.trie.delete(key)
            }
            Operation::DeleteRecursive(key) => {
                wipe(&mut self.model, key);
                self.trie.delete_recursive(key)
            }
            Operation::Reopen => {
                self.nodes.insert(self.trie.commit());
                self.trie = Trie::open(self.trie.root_hash(), self.nodes.clone());
                Ok(())
            }
            Operation::Evict(nodes) => {
                self.trie.evict(*nodes);
                Ok(())
            }
        }
    }
}

proptest! {
    #[test]
    fn fuzz_roots_depend_only_on_the_contents(operations in vec(operation(), 1..120)) {
        let mut history = History::new();
        for operation in &operations {
            history.run(operation)?;
        }
        prop_assert_eq!(contents(&history.trie)?, history.model.clone());
        let rebuilt = rebuilt(&history.model)?;
        prop_assert_eq!(history.trie.root_hash(), rebuilt.root_hash());
        prop_assert_eq!(history.trie.children_size()?, rebuilt.children_size()?);
        prop_assert_eq!(history.trie.orchid_root(true)?, rebuilt.orchid_root(true)?);
        let views = |trie: &Trie| trie.nodes().collect::<Result<Vec<_>, _>>();
        prop_assert_eq!(views(&history.trie)?, views(&rebuilt)?);
        history.run(&Operation::Reopen)?;
        prop_assert_eq!(views(&history.trie)?, views(&rebuilt)?);
    }

    #[test]
    fn fuzz_batches_equal_single_operations(
        before in vec(operation(), 0..80),
        wiped in vec(key(), 0..4),
        writes in vec((key(), value()), 0..60),
    ) {
        let mut history = History::new();
        for operation in &before {
            history.run(operation)?;
        }
        // The old version must not change with the new one.
        let (old, old_model) = (history.trie.clone(), history.model.clone());
        let delta = StateDelta {
            wiped: wiped.iter().cloned().collect(),
            writes: writes.iter().map(|(key, value)| (key.clone(), Some(Bytes::from(value.clone())))).collect(),
        };
        history.trie.apply(&delta)?;
        for key in &delta.wiped {
            wipe(&mut history.model, key);
        }
        for (key, value) in &delta.writes {
            write(&mut history.model, key, value.as_ref().map_or(&[], |value| value.as_ref()));
        }
        prop_assert_eq!(contents(&history.trie)?, history.model.clone());
        prop_assert_eq!(history.trie.root_hash(), rebuilt(&history.model)?.root_hash());
        prop_assert_eq!(contents(&old)?, old_model.clone());
        prop_assert_eq!(old.root_hash(), rebuilt(&old_model)?.root_hash());

        // Both directions of the difference contain exactly the keys that differ.
        for (from, to, from_model, to_model) in
            [(&old, &history.trie, &old_model, &history.model), (&history.trie, &old, &history.model, &old_model)]
        {
            let mut expected = BTreeMap::new();
            for key in from_model.keys().chain(to_model.keys()) {
                if from_model.get(key) != to_model.get(key) {
                    expected.insert(key.clone(), to_model.get(key).map(|value| Bytes::from(value.clone())));
                }
            }
            prop_assert_eq!(diff(from, to)?, StateDelta { writes: expected, ..StateDelta::default() });
        }

        // A commit of one version contains everything that the other one has not stored, and the other one can be
        // committed too.
        let mut new = history.trie.clone();
        history.nodes.insert(new.commit());
        proptest::prop_assert!(new.commit().is_empty());
        prop_assert_eq!(contents(&Trie::open(new.root_hash(), history.nodes.clone()))?, history.model);
        let mut old = old;
        history.nodes.insert(old.commit());
        prop_assert_eq!(contents(&Trie::open(old.root_hash(), history.nodes.clone()))?, old_model);
    }

    #[test]
    fn fuzz_prefixes_and_lengths(operations in vec(operation(), 1..80), prefix in key(), length in 0usize..6) {
        let mut history = History::new();
        for operation in &operations {
            history.run(operation)?;
        }
        let under: Vec<_> = history.trie.entries_under(&prefix).keys().collect::<Result<_, _>>()?;
        let expected: Vec<_> = history.model.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
        prop_assert_eq!(under, expected);
        let expected: Vec<_> = history.model.keys().filter(|key| key.len() == length).cloned().collect();
        prop_assert_eq!(history.trie.collect_keys(Some(length))?, expected);
    }

    #[test]
    fn fuzz_damaged_messages_do_not_panic(operations in vec(operation(), 1..40), damage in vec((any::<usize>(), any::<u8>()), 1..6), key in key()) {
        let mut history = History::new();
        for operation in &operations {
            history.run(operation)?;
        }
        let root = history.trie.root_hash();
        let mut committed: Vec<_> = history.trie.commit().into_iter().collect();
        if !committed.is_empty() {
            for (position, byte) in damage {
                let count = committed.len();
                let (_, message) = &mut committed[position % count];
                let mut bytes = message.to_vec();
                let length = bytes.len();
                bytes[position / count % length] = byte;
                *message = bytes.into();
            }
        }
        let nodes = Arc::new(MemoryNodes::default());
        nodes.insert(committed);
        let mut trie = Trie::open(root, nodes);
        let _ = contents(&trie);
        let _ = trie.get(&key);
        let _ = trie.prove(&key);
        let _ = trie.delete_recursive(&key);
        if trie.put(&key, &[1]).is_ok() {
            trie.root_hash();
            trie.commit();
        }
        let _ = trie.delete(&key);
    }
}

/// Enough changes for all threads: keys and values are hashes of numbers.
fn many(numbers: std::ops::Range<u64>, salt: u8) -> StateDelta {
    let entry = |n: u64| {
        let key = keccak256(n.to_be_bytes());
        let value = keccak256([&key[..], &[salt]].concat());
        (key[..3 + n as usize % 20].to_vec(), (n % 11 != 10).then(|| Bytes::from(value.repeat(1 + n as usize % 3))))
    };
    StateDelta { writes: numbers.map(entry).collect(), ..StateDelta::default() }
}

#[test]
fn large_batches_equal_single_operations() -> Result<(), TrieError> {
    let nodes = Arc::new(MemoryNodes::default());
    let (mut batched, mut single) = (Trie::empty(nodes.clone()), Trie::empty(nodes.clone()));
    for delta in [many(0..5000, 1), many(2500..6000, 2), many(1000..1010, 3)] {
        batched.apply(&delta)?;
        for (key, value) in &delta.writes {
            single.put(key, value.as_ref().map_or(&[], |value| value.as_ref()))?;
        }
        assert_eq!(contents(&batched)?, contents(&single)?);
        assert_eq!(batched.root_hash(), single.root_hash());
        nodes.insert(batched.commit());
        let reopened = Trie::open(batched.root_hash(), nodes.clone());
        assert_eq!(contents(&reopened)?, contents(&single)?);
        batched.evict(20);
    }
    assert_eq!(rebuilt(&contents(&single)?)?.root_hash(), single.root_hash());
    Ok(())
}

#[test]
fn a_trie_is_unusable_after_a_failed_change() -> Result<(), TrieError> {
    let nodes = Arc::new(MemoryNodes::default());
    let mut trie = Trie::empty(nodes.clone());
    trie.apply(&many(0..100, 1))?;
    let root = trie.root_hash();
    let mut committed: Vec<_> = trie.commit().into_iter().collect();
    committed.retain(|(hash, _)| *hash == root);
    nodes.insert(committed);
    let mut broken = Trie::open(root, nodes);
    let before = broken.clone();
    assert!(matches!(broken.apply(&many(0..50, 2)), Err(TrieError::MissingNode { .. })));
    assert!(matches!(broken.get(&[]), Err(TrieError::MissingNode { hash: B256::ZERO })));
    assert_eq!(before.root_hash(), root);
    Ok(())
}
