//! Databases that give up old states: the kept ones stay the same, older ones fail with an error that names the oldest.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rhizome_chain::{
    Chain, ChainConfig, ChainError, ImportError, ProvenBlocks, PruneProgress, StateHistory, VerificationError,
    VerificationScope,
};
use rhizome_primitives::{Block, Bytes, ChainSpec};
use rhizome_trie::StateError;

use crate::{config, import, lines, spec, temporary};

const CHAIN: &str = "uncles-and-reorgs";
const ARRIVALS: &str = "uncles-and-reorgs.arrivals.txt.gz";
const NOW: u64 = 1_700_000_000;
/// Blocks below the head whose states are kept. More than the reorganizations of the chain go back.
const KEPT: u64 = 24;

#[derive(Debug, Clone)]
enum Operation {
    /// Imports this number of blocks.
    Import(usize),
    /// Opens the database again.
    Reopen,
    /// Goes back by this number of blocks, at most to the oldest kept state.
    Rewind(u64),
    /// Gives up old states.
    Prune,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (1..60_usize).prop_map(Operation::Import),
        1 => Just(Operation::Reopen),
        1 => (0..KEPT).prop_map(Operation::Rewind),
        4 => Just(Operation::Prune),
    ]
}

fn open(dir: &Path, proven: ProvenBlocks, flushed_keys: usize) -> Arc<Chain> {
    let history = StateHistory::Last(KEPT);
    let config = config(spec(CHAIN), Some(dir));
    Chain::open(ChainConfig { proven_blocks: proven, flushed_keys, history, ..config }).unwrap()
}

fn prune(chain: &Chain) {
    chain.prune(chain.config().history, |_| ControlFlow::Continue(())).unwrap();
}

/// Compares states and tries around the oldest kept state and the head.
fn compare(all: &Chain, pruned: &Chain) {
    let head = all.head().number();
    assert_eq!(pruned.head().hash(), all.head().hash());
    let oldest = pruned.oldest_state();
    for number in [0, oldest.saturating_sub(1), oldest, oldest + 1, (oldest + head) / 2, head] {
        let Some(record) = all.main_block(number).unwrap() else { continue };
        let trie = all.state_trie(&record).unwrap();
        if number < oldest {
            let Err(error) = pruned.state_at(&record) else { panic!("state of block {number}") };
            assert!(matches!(error, ChainError::StateNotKept { .. }), "{error}");
            assert!(matches!(pruned.main_state(number), Err(ChainError::StateNotKept { .. })));
            continue;
        }
        let state = pruned.state_at(&record).unwrap();
        for entry in trie.entries() {
            let (key, value) = entry.unwrap();
            assert_eq!(state.get(&key).unwrap(), Some(value), "{key:?} after {number}");
        }
        // The second one is not derived again.
        for _ in 0..2 {
            match pruned.state_trie(&record) {
                Ok(found) => {
                    assert_eq!(found.root_hash(), trie.root_hash());
                    assert!(found.entries().map(Result::unwrap).eq(trie.entries().map(Result::unwrap)));
                }
                Err(ChainError::TrieNotKept { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn kept_states_stay_the_same() {
    let lines = lines(ARRIVALS);
    let cases = (prop::collection::vec(operation(), 4..14), 1..60_usize, any::<bool>());
    let run = |(operations, flushed_keys, has_all_nodes): (Vec<Operation>, usize, bool)| {
        let dir = tempfile::tempdir().unwrap();
        let proven = if has_all_nodes { ProvenBlocks::All } else { ProvenBlocks::Last(6) };
        let (all, mut pruned) = (temporary(CHAIN), open(dir.path(), proven, flushed_keys));
        let mut arrived = 0;
        for operation in operations {
            match operation {
                Operation::Import(count) => {
                    for line in lines.iter().skip(arrived).take(count) {
                        let expected = import(&all, line);
                        assert_eq!(format!("{:?}", import(&pruned, line)), format!("{expected:?}"));
                    }
                    arrived += count;
                }
                Operation::Reopen => {
                    let oldest = pruned.oldest_state();
                    drop(pruned);
                    pruned = open(dir.path(), proven, flushed_keys);
                    assert_eq!(pruned.oldest_state(), oldest);
                }
                Operation::Rewind(blocks) => {
                    let height = all.head().number().saturating_sub(blocks).max(pruned.oldest_state());
                    all.rewind(height).unwrap();
                    pruned.rewind(height).unwrap();
                    // The deleted blocks arrive again.
                    let known = |line: &String| {
                        let number = line.split(',').next().and_then(|number| number.parse::<u64>().ok());
                        number.is_some_and(|number| number <= height)
                    };
                    arrived = lines.iter().position(|line| !known(line)).unwrap_or(lines.len());
                }
                Operation::Prune => {
                    let (before, head) = (pruned.oldest_state(), pruned.head().number());
                    prune(&pruned);
                    assert!(pruned.oldest_state() <= before.max(head.saturating_sub(KEPT)));
                }
            }
            compare(&all, &pruned);
        }
        let oldest = pruned.oldest_state();
        let from = if oldest == 0 { 0 } else { oldest + 1 };
        let head = pruned.head().number();
        if from <= head {
            let scope = VerificationScope { blocks: Some((from, head)), has_state: true };
            let verified = pruned.verify(scope, |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(verified.difference, None);
        }
        Ok(())
    };
    let config = ProptestConfig { cases: 12, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random).run(&cases, run).unwrap();
}

fn miner(name: &'static str, history: StateHistory) -> Arc<Chain> {
    let extra_data = Bytes::from_static(name.as_bytes());
    let proven_blocks = ProvenBlocks::Last(4);
    let config = config(ChainSpec::regtest(), None);
    // The trie is flushed by each block, so that it never holds the pruning back.
    Chain::open(ChainConfig { extra_data, proven_blocks, history, flushed_keys: 1, ..config }).unwrap()
}

fn mined(name: &'static str, count: usize) -> Vec<Block> {
    let chain = miner(name, StateHistory::Archive);
    (0..count).map(|_| chain.mine(NOW).unwrap().block.clone()).collect()
}

#[test]
fn pruning_an_archive_keeps_its_states_and_rewrites_its_files() {
    let chain = miner("archive", StateHistory::Archive);
    for _ in 0..5 {
        chain.mine(NOW).unwrap();
    }
    let mut steps = Vec::new();
    let on_progress = |progress| {
        steps.push(progress);
        ControlFlow::Continue(())
    };
    chain.prune(StateHistory::Archive, on_progress).unwrap();
    assert_eq!(chain.oldest_state(), 0);
    assert!(matches!(steps.last(), Some(PruneProgress::Files { done, total }) if done == total), "{steps:?}");
    assert!(steps.iter().all(|step| matches!(step, PruneProgress::Files { .. })), "{steps:?}");
}

#[test]
fn older_states_and_branches_fail_with_the_oldest_kept_state() {
    let chain = miner("head", StateHistory::Last(10));
    for _ in 0..40 {
        chain.mine(NOW).unwrap();
    }
    let old_head = chain.head();
    let key = chain.state_trie(&old_head.record).unwrap().collect_keys(None).unwrap().remove(0);
    prune(&chain);
    assert_eq!(chain.oldest_state(), 30);
    let message = "state of block 29 is not kept (history = 10); the oldest kept state is that of block 30";
    let error = chain.state_at(&chain.main_block(29).unwrap().unwrap()).err().unwrap();
    assert_eq!(error.to_string(), message);
    assert!(matches!(chain.rewind(29), Err(ChainError::StateNotKept { number: 29, oldest: 30, .. })));
    let scope = VerificationScope { blocks: Some((30, 40)), has_state: false };
    assert!(matches!(
        chain.verify(scope, |_| ControlFlow::Continue(())),
        Err(VerificationError::NotKept { oldest: 30 })
    ));
    let state_only = VerificationScope { blocks: None, has_state: true };
    let verified = chain.verify(state_only, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((verified.blocks, verified.difference, verified.is_partial), (0, None, false));
    assert!(verified.keys > 0);
    // A reader that has the state already.
    for _ in 0..20 {
        chain.mine(NOW).unwrap();
    }
    prune(&chain);
    let Err(StateError::Reader(reason)) = old_head.state().get(&key) else { panic!("state of block 40") };
    let error = reason.downcast_ref::<ChainError>().unwrap();
    assert!(matches!(error, ChainError::StateNotKept { number: 40, oldest: 50, .. }), "{error}");

    // A heavier branch on the genesis.
    let branch = mined("branch", 62);
    let head = chain.head().hash();
    let stream = chain.import_stream(branch.iter().map(Block::encode), |_| ControlFlow::Continue(()));
    let Err(ImportError::Chain(error)) = stream else { panic!("no failure") };
    let ChainError::BranchBelowHistory { number, hash, fork: 0, fork_hash, oldest: 50, .. } = &error else {
        panic!("{error}")
    };
    let tip = &branch[*number as usize - 1];
    assert_eq!((*hash, Some(*fork_hash)), (tip.hash(), chain.main_hash(0).unwrap()));
    assert!(error.to_string().contains("into a new data directory"), "{error}");
    assert_eq!(chain.head().hash(), head);
    assert_eq!(chain.mine(NOW).unwrap().number(), 61);
}

#[test]
fn states_are_given_up_in_the_background() {
    let chain = miner("head", StateHistory::Last(20));
    for _ in 0..60 {
        chain.mine(NOW).unwrap();
    }
    let start = Instant::now();
    while chain.oldest_state() < 38 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was pruned");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(chain.oldest_state() <= 40);
}
