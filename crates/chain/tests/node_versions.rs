//! A database with the current trie nodes only, beside one with all versions: the same chain, states and tries.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rhizome_chain::{Chain, ChainError, ProvenBlocks};
use rhizome_primitives::{Address, I256};

use crate::{config, import, lines, raw, spec, temporary, with_state};

const CHAIN: &str = "uncles-and-reorgs";
const ARRIVALS: &str = "uncles-and-reorgs.arrivals.txt.gz";
/// Blocks below the head whose tries are kept.
const KEPT: u64 = 6;

#[derive(Debug, Clone)]
enum Operation {
    /// Imports this number of blocks.
    Import(usize),
    /// Opens the database with current nodes again.
    Reopen,
    /// Goes back by this number of blocks.
    Rewind(u64),
    /// Takes a snapshot, sets a balance by hand twice, compares, and goes back.
    SetAndRevert(u8),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (1..60_usize).prop_map(Operation::Import),
        2 => Just(Operation::Reopen),
        1 => (0..30_u64).prop_map(Operation::Rewind),
        1 => any::<u8>().prop_map(Operation::SetAndRevert),
    ]
}

fn open(dir: &Path, flushed_keys: usize) -> Arc<Chain> {
    let mut config = config(spec(CHAIN), Some(dir));
    config.proven_blocks = ProvenBlocks::Last(KEPT);
    config.flushed_keys = flushed_keys;
    config.grouped_from = 1;
    config.is_trie_in_memory = flushed_keys.is_multiple_of(2);
    if flushed_keys.is_multiple_of(3) {
        // Few nodes stay in memory, and a rewind takes several batches.
        config.cache_bytes = 16 << 10;
        config.trie_bytes = 16 << 10;
    }
    Chain::open(config).unwrap()
}

fn set_balance(chain: &Chain, seed: u8) {
    let balance = I256::try_from(u64::from(seed) + 1).unwrap();
    chain.change_state(move |state| state.set_balance(Address::repeat_byte(seed), balance)).unwrap();
}

/// Compares head, tries and states of some blocks.
fn compare(all: &Chain, current: &Chain, seed: u64) {
    let head = all.head();
    assert_eq!(current.head().hash(), head.hash());
    assert_eq!(current.head().record.state_root, head.record.state_root);
    let entries: Vec<_> = all.state_trie(&head.record).unwrap().entries().map(Result::unwrap).collect();
    let found: Vec<_> = current.state_trie(&current.head().record).unwrap().entries().map(Result::unwrap).collect();
    assert_eq!(found, entries);
    for number in [0, seed % (head.number() + 1), head.number().saturating_sub(seed % (KEPT + 2))] {
        let record = all.main_block(number).unwrap().unwrap();
        let trie = all.state_trie(&record).unwrap();
        match current.state_trie(&record) {
            Ok(found) => assert_eq!(found.root_hash(), trie.root_hash()),
            Err(ChainError::TrieNotKept { kept: KEPT, .. }) => assert!(number + KEPT < head.number()),
            Err(error) => panic!("{error}"),
        }
        for chain in [all, current] {
            let state = chain.state_at(&record).unwrap();
            let by_number = chain.main_state(number).unwrap();
            assert_eq!(by_number.is_some(), number < head.number());
            for (key, _) in entries.iter().step_by(3) {
                let value = trie.get(key).unwrap();
                assert_eq!(state.get(key).unwrap(), value, "{key:?} after {number}");
                assert!(by_number.as_ref().is_none_or(|state| state.get(key).unwrap() == value));
            }
            let mut keys = Vec::new();
            let visit = &mut |key: &[u8]| {
                keys.push(key.to_vec());
                ControlFlow::Continue(())
            };
            state.visit_keys(&[], visit).unwrap();
            keys.sort();
            assert_eq!(keys, trie.collect_keys(None).unwrap(), "keys after {number}");
        }
    }
}

#[test]
fn a_state_is_read_while_its_block_is_deleted() {
    let lines = lines(ARRIVALS);
    let dir = tempfile::tempdir().unwrap();
    for (chain, survives) in [(temporary(CHAIN), true), (open(dir.path(), 40), false)] {
        lines[..30].iter().for_each(|line| drop(import(&chain, line)));
        let head = chain.head();
        let key = chain.state_trie(&head.record).unwrap().collect_keys(None).unwrap().remove(0);
        let state = head.state();
        let value = state.get(&key).unwrap();
        chain.rewind(head.number() - 3).unwrap();
        match state.get(&key) {
            Ok(found) => assert!(survives && found == value),
            Err(error) => assert!(!survives && error.to_string().contains("has just been deleted"), "{error}"),
        }
    }
}

#[test]
fn current_nodes_lead_to_the_same_states() {
    let lines = lines(ARRIVALS);
    let cases = (prop::collection::vec((operation(), any::<u64>()), 4..14), 1..60_usize);
    let run = |(operations, flushed_keys): (Vec<(Operation, u64)>, usize)| {
        let dir = tempfile::tempdir().unwrap();
        let (all, mut current) = (temporary(CHAIN), open(dir.path(), flushed_keys));
        let mut arrived = 0;
        for (operation, seed) in operations {
            match operation {
                Operation::Import(count) if count > 30 => {
                    let arriving = lines.iter().skip(arrived).take(count);
                    arriving.clone().for_each(|line| drop(import(&all, line)));
                    current.import_stream(arriving.map(|line| raw(line)), |_| ControlFlow::Continue(())).unwrap();
                    arrived += count;
                }
                Operation::Import(count) => {
                    for line in lines.iter().skip(arrived).take(count) {
                        let expected = import(&all, line);
                        assert_eq!(format!("{:?}", import(&current, line)), format!("{expected:?}"));
                    }
                    arrived += count;
                }
                Operation::Reopen => {
                    drop(current);
                    current = open(dir.path(), flushed_keys);
                }
                Operation::Rewind(blocks) => {
                    let height = all.head().number().saturating_sub(blocks);
                    all.rewind(height).unwrap();
                    current.rewind(height).unwrap();
                    // The deleted blocks arrive again.
                    arrived = 0;
                }
                Operation::SetAndRevert(seed) => {
                    let ids = [all.snapshot().unwrap(), current.snapshot().unwrap()];
                    for change in [seed, seed ^ 0x55] {
                        set_balance(&all, change);
                        set_balance(&current, change);
                    }
                    compare(&all, &current, u64::from(seed));
                    assert!(all.revert(ids[0]).unwrap() && current.revert(ids[1]).unwrap());
                }
            }
            compare(&all, &current, seed);
        }
        let verified = current.verify(with_state(0, current.head().number()), |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((verified.difference, verified.blocks), (None, all.head().number() + 1));
        Ok(())
    };
    let config = ProptestConfig { cases: 12, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random).run(&cases, run).unwrap();
}
