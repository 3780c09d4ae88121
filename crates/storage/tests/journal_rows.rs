//! Trie nodes that a start makes again from the changes of their blocks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rhizome_primitives::{B256, Bytes, EMPTY_ROOT, keccak256};
use rhizome_storage::{ChangeSet, Rewind, StateChange, StorageError, Store};
use rhizome_trie::{MemoryNodes, NodeBatch, StateDelta, Trie};

use crate::{TestBlock, identity, small};

/// Values by key.
type State = BTreeMap<Vec<u8>, Bytes>;

fn open(dir: &Path) -> Arc<Store> {
    Arc::new(Store::open(dir, &identity(), &small()).unwrap())
}

fn empty() -> Trie {
    Trie::empty(Arc::new(MemoryNodes::default()))
}

fn state(trie: &Trie) -> State {
    trie.entries().map(Result::unwrap).collect()
}

/// Changes of a block: new keys, some of them with long values, changed ones and deleted ones.
fn delta(number: u64, name: &str) -> StateDelta {
    let key = |index: u64| keccak256(index.to_be_bytes())[..20].to_vec();
    let value =
        |length: usize| Some(Bytes::copy_from_slice(&format!("{name} {number} ").repeat(8).as_bytes()[..length]));
    let mut delta = StateDelta::default();
    for index in 0..6 {
        delta.writes.insert(key(number * 3 + index), value(4 + (number as usize + index as usize) % 40));
    }
    delta.writes.insert(key(number * 2), None);
    delta
}

/// Applies changes to the trie of the parent, and returns the block that makes them.
fn block(store: &Store, trie: &mut Trie, number: u64, name: &str) -> TestBlock {
    let mut block = TestBlock::new(number, name);
    block.base_root = Some(trie.root_hash());
    block.flat = delta(number, name);
    trie.apply(&block.flat).unwrap();
    block.nodes = store.commit(trie).unwrap();
    block.state_root = trie.root_hash();
    block
}

/// The states that are expected in a store, by their roots.
#[derive(Default)]
struct Expected(Vec<(B256, State)>);

impl Expected {
    fn add(&mut self, trie: &Trie) {
        self.0.push((trie.root_hash(), state(trie)));
    }

    #[track_caller]
    fn check(&self, store: &Arc<Store>) {
        for (root, expected) in &self.0 {
            assert_eq!(state(&Trie::open(*root, Arc::clone(store) as _)), *expected);
        }
    }
}

#[test]
fn nodes_of_executed_blocks_are_made_again_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let mut expected = Expected::default();
    let mut root = EMPTY_ROOT;
    for run in 0..3 {
        let store = open(dir.path());
        let mut trie = Trie::open(root, Arc::clone(&store) as _);
        for number in run * 20..run * 20 + 20 {
            let mut side = trie.clone();
            block(&store, &mut trie, number, "main").write_best(&store);
            expected.add(&trie);
            if number % 7 == 3 {
                let before = state(&side).into_iter().map(|(key, value)| (key, value.to_vec())).collect();
                block(&store, &mut side, number, "side").write_on(&store, &before, None);
                expected.add(&side);
            }
        }
        expected.check(&store);
        assert!(store.lowest_unflushed_block().unwrap().is_some());
        root = trie.root_hash();
    }
    expected.check(&open(dir.path()));
    let store = open(dir.path());
    store.flush_nodes().unwrap();
    assert_eq!(store.lowest_unflushed_block().unwrap(), None);
    expected.check(&store);
    drop(store);
    expected.check(&open(dir.path()));
}

#[test]
fn states_that_were_set_by_hand_and_rewinds_are_restored() {
    restore_state_by_hand(|store, trie| store.commit(trie).unwrap());
    // As earlier versions: the row of the batch has all nodes.
    restore_state_by_hand(|_store, trie| trie.commit());
}

fn restore_state_by_hand(commit: impl FnOnce(&Store, &mut Trie) -> NodeBatch) {
    let dir = tempfile::tempdir().unwrap();
    let mut expected = Expected::default();
    let mut trie = empty();
    let store = open(dir.path());
    let mut tries = Vec::new();
    let mut blocks = Vec::new();
    for number in 0..6 {
        let next = block(&store, &mut trie, number, "first");
        next.write_best(&store);
        tries.push(trie.clone());
        blocks.push(next);
    }
    // Back to block 3, whose state is set by hand.
    let mut trie = tries.remove(3);
    let retracted: Vec<_> = blocks[4..].iter().rev().map(TestBlock::number_and_hash).collect();
    let mut difference = ChangeSet::default();
    for (number, hash) in &retracted {
        difference.extend(&store.changes(*number, hash).unwrap().reversed());
    }
    let (head, state_root) = (blocks[3].hash, trie.root_hash());
    let rewind = Rewind { height: 3, head, retracted: &retracted, difference: &difference, state_root, flushed: None };
    store.delete_above(rewind).unwrap();
    expected.add(&trie);
    let by_hand = delta(90, "by hand");
    let changes = ChangeSet::of(&by_hand, |key| store.flat_get(key)).unwrap();
    trie.apply(&by_hand).unwrap();
    let nodes = commit(&store, &mut trie).into();
    store.write_state(StateChange { number: 3, head, state_root: trie.root_hash(), nodes, changes: &changes }).unwrap();
    expected.add(&trie);
    for number in 4..8 {
        block(&store, &mut trie, number, "second").write_best(&store);
        expected.add(&trie);
    }
    drop(store);
    expected.check(&open(dir.path()));
}

#[test]
fn changes_that_lead_elsewhere_are_refused() {
    for (base_root, state_root, expected) in [
        (Some(keccak256("absent")), None, "cannot make the trie nodes of block 2"),
        (None, Some(keccak256("another")), "leads to another state root"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut trie = empty();
        let store = open(dir.path());
        block(&store, &mut trie, 1, "good").write_best(&store);
        let mut bad = block(&store, &mut trie, 2, "bad");
        bad.base_root = base_root.or(bad.base_root);
        bad.state_root = state_root.unwrap_or(bad.state_root);
        bad.write_best(&store);
        drop(store);
        let error: StorageError = Store::open(dir.path(), &identity(), &small()).err().unwrap();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
