//! Branches whose changes do not fit into the memory for them.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_chain::{Chain, ChainConfig, ChainEvent, ProvenBlocks};
use rhizome_pow::solve;
use rhizome_primitives::{Address, B256, Block, ChainSpec};
use rhizome_storage::{ChainIdentity, CurrentNodes, NodeVersions, Store, StoreOptions};
use rhizome_trie::{NodePosition, NodeSource};

use crate::{config, outcomes, with_state};

const NOW: u64 = 1_700_000_000;
/// More than the blocks of one step.
const HEAD: usize = 90;
const BRANCH: usize = 100;

/// Opens a chain with room for a few changes and trie nodes.
fn open(dir: Option<&Path>, proven_blocks: ProvenBlocks, miner: u8) -> Arc<Chain> {
    Chain::open(ChainConfig {
        proven_blocks,
        coinbase: Address::repeat_byte(miner),
        cache_bytes: 16 << 10,
        trie_bytes: 16 << 10,
        flushed_keys: 40,
        ..config(ChainSpec::regtest(), dir)
    })
    .unwrap()
}

fn mined(miner: u8, count: usize) -> Vec<Block> {
    let chain = open(None, ProvenBlocks::All, miner);
    (0..count).map(|_| chain.mine(NOW).unwrap().block.clone()).collect()
}

fn check(chain: &Chain, tip: &Block) {
    let head = chain.head();
    assert_eq!(head.hash(), tip.hash());
    let verified = chain.verify(with_state(0, head.number()), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verified.difference, None);
    let trie = chain.state_trie(&head.record).unwrap();
    assert_eq!(trie.root_hash(), head.record.state_root);
    for entry in trie.entries() {
        let (key, value) = entry.unwrap();
        assert_eq!(head.state().get(&key).unwrap(), Some(value), "{key:?}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn a_long_branch_becomes_the_best_chain() {
    let (head, branch) = (mined(1, HEAD), mined(2, BRANCH));
    for proven in [ProvenBlocks::Last(10), ProvenBlocks::All] {
        let (dir, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let chain = open(Some(dir.path()), proven, 1);
        outcomes(&chain, &head);
        // The directory after a kill behind each step.
        let left: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
        let (source, target, seen) = (dir.path().to_owned(), copies.path().to_owned(), Arc::clone(&left));
        chain.on_event(Box::new(move |event| {
            let ChainEvent::NewHead { number, .. } = event else { return };
            let path = target.join(format!("{} at {number}", seen.lock().len()));
            copy(&source, &path);
            seen.lock().push(path);
        }));
        outcomes(&chain, &branch);
        check(&chain, &branch[BRANCH - 1]);
        assert!(!dir.path().join("branch").exists());
        let left = left.lock().clone();
        // Down and up again in steps of 16 blocks.
        let steps: Vec<_> = left.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
        let moved = HEAD.div_ceil(16) + (HEAD + 1).div_ceil(16);
        assert!(steps.len() >= moved, "{steps:?}");
        for path in left[..moved].iter().step_by(3) {
            assert!(path.join("branch").exists());
            let resumed = open(Some(path), proven, 1);
            let tip = branch.iter().find(|block| block.hash() == resumed.head().hash());
            check(&resumed, tip.unwrap_or(&head[0]));
            assert!(!path.join("branch").exists());
            outcomes(&resumed, &branch);
            check(&resumed, &branch[BRANCH - 1]);
        }
        assert_eq!(chain.mine(NOW).unwrap().number(), BRANCH as u64 + 1);
        // Back to the first branch.
        let longer = mined(1, BRANCH + 10);
        outcomes(&chain, &longer);
        check(&chain, &longer[BRANCH + 9]);
        drop(chain);
        let chain = open(Some(dir.path()), proven, 1);
        check(&chain, &longer[BRANCH + 9]);
        chain.rewind(20).unwrap();
        check(&chain, &longer[19]);
    }
}

#[test]
fn the_rows_of_the_state_are_those_of_a_straight_import() {
    let (head, branch) = (mined(1, HEAD), mined(2, BRANCH));
    let (straight, over) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let rows = |dir: &Path, imported: &[&[Block]]| {
        let chain = open(Some(dir), ProvenBlocks::Last(10), 1);
        let identity = ChainIdentity { chain_id: chain.spec().chain_id, genesis: chain.main_hash(0).unwrap().unwrap() };
        imported.iter().for_each(|blocks| drop(outcomes(&chain, blocks)));
        // A clean stop flushes the trie.
        drop(chain);
        let options = StoreOptions { node_versions: NodeVersions::Current, ..StoreOptions::default() };
        let store = Arc::new(Store::open(dir, &identity, &options).unwrap());
        let nodes = CurrentNodes::new(&store).nodes_below(NodePosition::ROOT, &B256::ZERO).unwrap();
        let mut flat = Vec::new();
        let add = |key: &[u8], value| {
            flat.push((key.to_vec(), value));
            Ok(())
        };
        store.visit_flat(&[], add).unwrap();
        (nodes, flat)
    };
    let expected = rows(straight.path(), &[&branch]);
    assert!(expected.0.len() > 20 && expected.1.len() > 10, "{} nodes, {} values", expected.0.len(), expected.1.len());
    assert_eq!(rows(over.path(), &[&head, &branch]), expected);
}

#[test]
fn an_invalid_long_branch_leaves_the_head() {
    let (head, mut branch) = (mined(1, HEAD), mined(2, BRANCH));
    for index in HEAD - 5..BRANCH {
        if index == HEAD - 5 {
            branch[index].header.state_root = vec![7; 32].into();
        } else {
            branch[index].header.parent_hash = branch[index - 1].hash().into();
        }
        solve(&mut branch[index].header, None, &ChainSpec::regtest(), u32::MAX).unwrap();
        // A clone does not cache the hash from before.
        branch[index].header = branch[index].header.clone();
    }
    for proven in [ProvenBlocks::Last(10), ProvenBlocks::All] {
        let dir = tempfile::tempdir().unwrap();
        let chain = open(Some(dir.path()), proven, 1);
        outcomes(&chain, &head);
        assert!(outcomes(&chain, &branch).contains(&"INVALID_BLOCK"));
        check(&chain, &head[HEAD - 1]);
        assert!(!dir.path().join("branch").exists());
        assert_eq!(chain.mine(NOW).unwrap().number(), HEAD as u64 + 1);
    }
}
