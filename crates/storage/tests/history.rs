use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_storage::{NodeVersions, Rewind, StorageError, Store, StoreOptions};

use crate::{NumberAndHash, TestBlock, identity, small};

type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// Keys of which some are prefixes of others, and of others with a block number behind them.
const KEYS: [&[u8]; 6] = [b"a", b"ab", b"a\0\0\0\0\0\0\0\x02", b"b", b"b\0", b"c"];
/// Different values of a length.
const VALUES: u8 = 3;
/// Lengths of values; 0 deletes the key.
const LENGTHS: [usize; 5] = [0, 1, 32, 33, 500];
/// Blocks of the longest chain.
const HEIGHT: u64 = 12;

/// A change of the state: index of a key, and length of its new value (0 deletes it).
type Write = (usize, usize);

fn block(number: u64, name: &str, writes: &[Write], state: &mut State) -> TestBlock {
    let mut block = TestBlock::new(number, name);
    // A block changes a key once.
    for (key, length) in writes.iter().copied().collect::<BTreeMap<_, _>>() {
        // Some values are equal, at other keys and in other blocks.
        let (key, value) = (KEYS[key], vec![number as u8 % VALUES; length]);
        block = block.with_flat(key, (length > 0).then_some(&value));
        match length {
            0 => drop(state.remove(key)),
            _ => drop(state.insert(key.to_vec(), value)),
        }
    }
    block
}

/// Compares the states from block `oldest` on, and expects that those below are not kept.
fn assert_states(store: &Store, states: &[State], oldest: u64) {
    assert_eq!(store.oldest_state(), oldest);
    for (number, state) in (0..).zip(states) {
        if number < oldest {
            let error = store.value_after(KEYS[0], number).unwrap_err();
            assert!(matches!(error, StorageError::StateNotKept { .. }), "{error}");
            continue;
        }
        for key in KEYS {
            let value = store.load(&store.value_after(key, number).unwrap()).unwrap();
            assert_eq!(value, state.get(key).map(|value| Bytes::copy_from_slice(value)), "{key:?} after {number}");
        }
        for prefix in [&b""[..], b"a", b"b"] {
            let mut keys = Vec::new();
            let visit = |key: &[u8]| {
                keys.push(key.to_vec());
                ControlFlow::Continue(())
            };
            store.visit_keys_after(prefix, number, visit).unwrap();
            assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len(), "twice");
            keys.sort();
            let expected: Vec<_> = state.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
            assert_eq!(keys, expected, "below {prefix:?} after {number}");
        }
    }
    let mut flat = State::new();
    let visit = |key: &[u8], value: Bytes| {
        flat.insert(key.to_vec(), value.to_vec());
        Ok(())
    };
    store.visit_flat(&[], visit).unwrap();
    assert_eq!(Some(&flat), states.last());
}

/// A chain, a branch with the height of its fork point, a height to go back to, the oldest state that is kept, and a size of the tail.
type Case = (Vec<Vec<Write>>, Vec<Vec<Write>>, u64, u64, u64, usize);

/// Long values that each stored change set leads to, by number of the block.
type References = Vec<(u64, Vec<Vec<u8>>)>;

fn long_values(parent: &State, state: &State) -> Vec<Vec<u8>> {
    let changed = state.iter().filter(|(key, value)| value.len() > 32 && parent.get(*key) != Some(value));
    changed.map(|(_, value)| value.clone()).collect()
}

/// Expects exactly the long values of the oldest kept state and of later change sets.
fn assert_values(store: &Store, oldest: &State, references: &References) {
    let number = store.oldest_state();
    let later = references.iter().filter(|(block, _)| *block > number).flat_map(|(_, values)| values);
    let expected: BTreeSet<_> = oldest.values().chain(later).cloned().collect();
    for length in LENGTHS.into_iter().filter(|length| *length > 32) {
        for value in (0..VALUES).map(|byte| vec![byte; length]) {
            let is_stored = store.by_hash(&keccak256(&value)).unwrap().is_some();
            assert_eq!(is_stored, expected.contains(&value), "{} times {}", value[0], length);
        }
    }
}

fn prune(store: &Store, oldest: u64) {
    assert!(store.prune_states(store.plan_pruning(oldest).unwrap()).unwrap());
    store.drop_pruned().unwrap();
    store.compact_states(|_, _| true).unwrap();
}

/// Writes three versions of 2,000 rows, one less than the files that start a compaction.
fn write_versions(dir: &Path) {
    let open = || Store::open(dir, &identity(), &small()).unwrap();
    TestBlock::new(0, "genesis").write_best(&open());
    for number in 1..4 {
        // Each start writes the rows of the block before it into a file.
        let keys = (0..2000_u32).map(|key| keccak256(key.to_be_bytes()));
        let block = keys.fold(TestBlock::new(number, "main"), |block, key| {
            let value = keccak256([key.as_slice(), &number.to_be_bytes()].concat());
            block.with_flat(key.as_slice(), Some(value.as_slice()))
        });
        block.write_best(&open());
    }
}

#[test]
fn a_damaged_file_fails_the_compaction_and_is_named() {
    // The latest tables of flat rows and of changes.
    for table in 0..2 {
        let dir = tempfile::tempdir().unwrap();
        write_versions(dir.path());
        let files = fs::read_dir(dir.path().join("chain")).unwrap().map(|entry| entry.unwrap().path());
        let tables = files.filter(|path| path.extension().is_some_and(|extension| extension == "sst"));
        let mut tables: Vec<PathBuf> = tables.filter(|path| path.metadata().unwrap().len() > 50_000).collect();
        tables.sort();
        let table = tables.into_iter().nth_back(table).unwrap();
        let mut bytes = fs::read(&table).unwrap();
        bytes[5000] ^= 1;
        fs::write(&table, bytes).unwrap();
        let store = Store::open(dir.path(), &identity(), &small()).unwrap();
        // The first failure stops the compactions of all columns.
        for _ in 0..2 {
            let error = store.compact_states(|_, _| true).unwrap_err();
            assert!(matches!(error, StorageError::Damaged { .. }), "{error}");
            assert!(error.to_string().contains(table.file_name().unwrap().to_str().unwrap()), "{error}");
        }
    }
}

#[test]
fn pruning_frees_the_space_of_replaced_rows() {
    let dir = tempfile::tempdir().unwrap();
    write_versions(dir.path());
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    let before = store.disk_bytes().unwrap().state;
    prune(&store, 3);
    let after = store.disk_bytes().unwrap().state;
    assert!(after > 2000 * 32 && after < before / 2, "{before} bytes before, {after} now");
}

#[test]
fn a_kill_while_rows_become_part_of_the_database_leaves_them_whole() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { node_versions: NodeVersions::Current, ..small() };
    let open = || Store::open(dir.path(), &identity(), &options).unwrap();
    let mut states = vec![State::new()];
    TestBlock::new(0, "genesis").write_best(&open());
    for number in 1..4 {
        let store = open();
        let mut state = states.last().cloned().unwrap_or_default();
        block(number, "main", &[(0, number as usize), (3, 1)], &mut state).write_best(&store);
        states.push(state);
        store.flush_history().unwrap();
        drop(store);
        // The latest file. A kill before its first name is removed leaves both names.
        let files = fs::read_dir(dir.path().join("chain")).unwrap().map(|entry| entry.unwrap().path());
        let mut tables: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|one| one == "sst")).collect();
        tables.sort();
        fs::hard_link(tables.last().unwrap(), dir.path().join("history-rows.sst")).unwrap();
        assert_states(&open(), &states, 0);
    }
}

#[test]
fn every_kept_state_is_read_after_extensions_branches_and_rewinds() {
    let writes = || prop::collection::vec((0..KEYS.len(), prop::sample::select(LENGTHS.to_vec())), 0..5);
    let chain = || prop::collection::vec(writes(), 1..HEIGHT as usize);
    let cases = (chain(), chain(), 0..HEIGHT, 0..HEIGHT, 0..HEIGHT, 0..12_usize);
    let run = |(main, side, fork, low, oldest, history_tail): Case| {
        let dir = tempfile::tempdir().unwrap();
        let options = StoreOptions { history_tail, node_versions: NodeVersions::Current, ..small() };
        let open = || Store::open(dir.path(), &identity(), &options).unwrap();
        let store = open();
        let mut references = References::new();
        let mut states = vec![State::new()];
        let mut blocks = vec![TestBlock::new(0, "genesis")];
        blocks[0].write_best(&store);
        for (number, writes) in (1..).zip(&main) {
            let mut state = states.last().cloned().unwrap_or_default();
            let block = block(number, "main", writes, &mut state);
            block.write_best(&store);
            references.push((number, long_values(&states[states.len() - 1], &state)));
            blocks.push(block);
            states.push(state);
        }
        assert_states(&store, &states, 0);
        assert_values(&store, &states[0], &references);
        drop(store);
        let store = open();
        assert_states(&store, &states, 0);

        let oldest = oldest.min(main.len() as u64);
        prune(&store, oldest);
        assert_states(&store, &states, oldest);
        let oldest_state = states[oldest as usize].clone();
        assert_values(&store, &oldest_state, &references);

        let fork = fork.clamp(oldest, main.len() as u64) as usize;
        let retracted: Vec<NumberAndHash> =
            blocks.drain(fork + 1..).rev().map(|block| block.number_and_hash()).collect();
        let mut branch_states = states[..=fork].to_vec();
        let mut enacted: Vec<NumberAndHash> = Vec::new();
        for (index, writes) in side.iter().enumerate() {
            let mut state = branch_states.last().cloned().unwrap_or_default();
            let block = block((fork + 1 + index) as u64, "side", writes, &mut state);
            let parent = branch_states.last().cloned().unwrap_or_default();
            enacted.push(block.number_and_hash());
            let is_tip = index + 1 == side.len();
            references.push((block.number, long_values(&parent, &state)));
            block.write_on(&store, &parent, is_tip.then_some((&enacted, &retracted)));
            blocks.push(block);
            branch_states.push(state);
        }
        assert_states(&store, &branch_states, oldest);
        assert_values(&store, &oldest_state, &references);
        drop(store);
        let store = open();
        assert_states(&store, &branch_states, oldest);

        let low = low.clamp(oldest, blocks.len() as u64 - 1) as usize;
        let retracted: Vec<NumberAndHash> =
            blocks.drain(low + 1..).rev().map(|block| block.number_and_hash()).collect();
        let head = blocks.last().map(|block| block.hash).unwrap_or_default();
        let difference = &store.difference(&retracted, &[]).unwrap();
        let (height, state_root, flushed) = (low as u64, B256::ZERO, None);
        let rewind = Rewind { height, head, retracted: &retracted, difference, state_root, flushed };
        store.delete_above(rewind).unwrap();
        assert_states(&store, &branch_states[..=low], oldest);
        references.retain(|(number, _)| *number <= low as u64);
        assert_values(&store, &oldest_state, &references);

        prune(&store, low as u64);
        assert_states(&store, &branch_states[..=low], low as u64);
        assert_values(&store, &branch_states[low], &references);
        Ok(())
    };
    let config = ProptestConfig { cases: 24, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random).run(&cases, run).unwrap();
}
