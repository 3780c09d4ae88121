use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rhizome_primitives::{B256, Bytes};
use rhizome_storage::{Rewind, Store};

use crate::{NumberAndHash, TestBlock, temporary};

type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// Keys of which some are prefixes of others, and of others with a block number behind them.
const KEYS: [&[u8]; 6] = [b"a", b"ab", b"a\0\0\0\0\0\0\0\x02", b"b", b"b\0", b"c"];
/// Blocks of the longest chain.
const HEIGHT: u64 = 12;

/// A change of the state: index of a key, and length of its new value (0 deletes it).
type Write = (usize, usize);

fn block(number: u64, name: &str, writes: &[Write], state: &mut State) -> TestBlock {
    let mut block = TestBlock::new(number, name);
    for (key, length) in writes {
        let (key, value) = (KEYS[*key], vec![number as u8; *length]);
        block = block.with_flat(key, (*length > 0).then_some(&value));
        match length {
            0 => drop(state.remove(key)),
            _ => drop(state.insert(key.to_vec(), value)),
        }
    }
    block
}

fn assert_states(store: &Store, states: &[State]) {
    for (number, state) in (0..).zip(states) {
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

#[test]
fn every_state_is_read_after_extensions_branches_and_rewinds() {
    let writes = || prop::collection::vec((0..KEYS.len(), prop::sample::select(vec![0_usize, 1, 32, 33, 500])), 0..5);
    let chain = || prop::collection::vec(writes(), 1..HEIGHT as usize);
    // A chain, a branch with the height of its fork point, and a height to go back to.
    let cases = (chain(), chain(), 0..HEIGHT, 0..HEIGHT);
    let run = |(main, side, fork, low): (Vec<Vec<Write>>, Vec<Vec<Write>>, u64, u64)| {
        let store = temporary();
        let mut states = vec![State::new()];
        let mut blocks = vec![TestBlock::new(0, "genesis")];
        blocks[0].write_best(&store);
        for (number, writes) in (1..).zip(&main) {
            let mut state = states.last().cloned().unwrap_or_default();
            let block = block(number, "main", writes, &mut state);
            block.write_best(&store);
            blocks.push(block);
            states.push(state);
        }
        assert_states(&store, &states);

        let fork = fork.min(main.len() as u64) as usize;
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
            block.write_on(&store, &parent, is_tip.then_some((&enacted, &retracted)));
            blocks.push(block);
            branch_states.push(state);
        }
        assert_states(&store, &branch_states);

        let low = low.min(blocks.len() as u64 - 1) as usize;
        let retracted: Vec<NumberAndHash> =
            blocks.drain(low + 1..).rev().map(|block| block.number_and_hash()).collect();
        let head = blocks.last().map(|block| block.hash).unwrap_or_default();
        let rewind = Rewind { height: low as u64, head, retracted: &retracted, state_root: B256::ZERO, flushed: None };
        store.delete_above(rewind).unwrap();
        assert_states(&store, &branch_states[..=low]);
        Ok(())
    };
    let config = ProptestConfig { cases: 40, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random).run(&cases, run).unwrap();
}
