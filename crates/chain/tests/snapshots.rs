//! Snapshots of the state at agreed heights.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rhizome_chain::{
    Chain, ChainConfig, ChainError, ProvenBlocks, SnapshotHeights, StateHistory, StateSnapshot, UpkeepTask,
};
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, B256, Block, Bytes, ChainSpec, I256, keccak256};
use rhizome_trie::snap_chunk::{CHUNK_SIZE, verify_chunk};

use crate::config;

const NOW: u64 = 1_700_000_000;
const HEIGHTS: SnapshotHeights = SnapshotHeights { interval: 10, first: 4 };

fn open(dir: &Path, name: &'static str, flushed_keys: usize) -> Arc<Chain> {
    Chain::open(ChainConfig {
        extra_data: Bytes::from_static(name.as_bytes()),
        proven_blocks: ProvenBlocks::Last(2),
        history: StateHistory::Last(20),
        snapshots: Some(HEIGHTS),
        flushed_keys,
        ..config(ChainSpec::regtest(), Some(dir))
    })
    .unwrap()
}

fn mine(chain: &Chain, count: usize) -> Vec<Block> {
    (0..count).map(|_| chain.mine(NOW).unwrap().block.clone()).collect()
}

/// Waits for the snapshots of these heights of the best chain.
fn wait_for(chain: &Chain, heights: &[u64]) -> Vec<Arc<StateSnapshot>> {
    let start = Instant::now();
    loop {
        let found = chain.state_snapshots();
        let numbers: Vec<u64> = found.iter().map(|snapshot| snapshot.block().0).collect();
        let is_main = |snapshot: &Arc<StateSnapshot>| {
            let (number, hash) = snapshot.block();
            chain.main_hash(number).unwrap() == Some(hash)
        };
        if numbers == heights && found.iter().all(is_main) {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{numbers:?}, expected {heights:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Compares a snapshot with the state root of its header, and reads all of it in chunks.
fn expect_complete(chain: &Chain, snapshot: &StateSnapshot) {
    let (number, hash) = snapshot.block();
    let record = chain.main_block(number).unwrap().unwrap();
    assert_eq!((record.hash, record.state_root), (hash, snapshot.root()));
    let keys = snapshot.trie().collect_keys(None).unwrap().len();
    let mut from = 0;
    let mut nodes = 0;
    while let Some(chunk) = snapshot.chunk(from).unwrap() {
        let (root, to) = (snapshot.root(), from + CHUNK_SIZE);
        let verified = verify_chunk(root, &chunk.bytes, from, to, chunk.is_complete).unwrap();
        nodes += verified.nodes.len();
        from = to;
    }
    assert!(keys > 0 && nodes > 0);
}

fn folders(dir: &Path) -> usize {
    fs::read_dir(dir.join("snapshots")).unwrap().count()
}

#[test]
fn a_trie_is_derived_up_to_a_deadline_and_a_number_of_changes() {
    let chain = |cache_bytes: usize| {
        let proven_blocks = ProvenBlocks::Last(50);
        Chain::open(ChainConfig { cache_bytes, proven_blocks, ..config(ChainSpec::regtest(), None) }).unwrap()
    };
    let passed = Deadline::at(Instant::now());
    let inline = || Deadline::inline(Duration::from_secs(60));
    let large = chain(8 << 20);
    mine(&large, 20);
    let record = large.main_block(5).unwrap().unwrap();
    let head = large.head();
    for deadline in [&passed, &inline()] {
        assert!(matches!(large.state_trie_until(&record, deadline), Err(ChainError::DeadlineExceeded)));
        assert!(large.state_trie_until(&head.record, deadline).is_ok());
    }
    let trie = large.state_trie_until(&record, &Deadline::none()).unwrap();
    assert_eq!(trie.root_hash(), record.state_root);
    // The derived trie is kept.
    assert!(large.state_trie_until(&record, &inline()).is_ok());

    let small = chain(512 * 2);
    mine(&small, 20);
    let far = small.main_block(0).unwrap().unwrap();
    assert!(matches!(small.state_trie_until(&far, &Deadline::none()), Err(ChainError::TrieTooFar { most: 2, .. })));
}

#[test]
fn the_last_two_snapshots_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path(), "head", 1_000_000);
    mine(&chain, 3);
    wait_for(&chain, &[0]);
    mine(&chain, 5);
    wait_for(&chain, &[4, 0]);
    mine(&chain, 12);
    let held = wait_for(&chain, &[14, 4]);
    held.iter().for_each(|snapshot| expect_complete(&chain, snapshot));
    mine(&chain, 30);
    wait_for(&chain, &[44, 34]);
    // Snapshots that are not wanted any more stay readable while they are held.
    held.iter().for_each(|snapshot| expect_complete(&chain, snapshot));
    drop(held);
    assert_eq!(folders(dir.path()), 2);
    assert!(chain.state_snapshot(44).unwrap().is_some());
    assert!(chain.state_snapshot(43).unwrap().is_none());
    drop(chain);

    // The rest of an unfinished snapshot, and a damaged one.
    let folder = dir.path().join("snapshots");
    fs::create_dir_all(folder.join("unfinished/chain")).unwrap();
    let mut damaged = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let damaged = damaged.find(|path| path.to_string_lossy().contains("/44-")).unwrap();
    fs::remove_file(damaged.join("chain/CURRENT")).unwrap();
    let chain = open(dir.path(), "head", 1_000_000);
    let found = wait_for(&chain, &[44, 34]);
    found.iter().for_each(|snapshot| expect_complete(&chain, snapshot));
    assert_eq!(folders(dir.path()), 2);
}

#[test]
fn a_snapshot_that_cannot_be_made_is_a_failure_of_the_task_until_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path(), "head", 1);
    wait_for(&chain, &[0]);
    let snapshots = dir.path().join("snapshots");
    fs::remove_dir_all(&snapshots).unwrap();
    fs::write(&snapshots, b"").unwrap();
    mine(&chain, 8);
    let start = Instant::now();
    while chain.upkeep().failures.is_empty() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let failures = chain.upkeep().failures;
    assert!(
        matches!(&failures[..], [(UpkeepTask::Snapshots, reason)] if reason.starts_with("block 4: ")),
        "{failures:?}"
    );
    drop(chain);
    fs::remove_file(snapshots).unwrap();
    let chain = open(dir.path(), "head", 1);
    wait_for(&chain, &[4, 0]);
    assert!(chain.upkeep().failures.is_empty());
}

#[test]
fn a_snapshot_off_the_best_chain_is_made_again() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let chain = open(dir.path(), "head", 1);
    mine(&chain, 16);
    let old: Vec<B256> = wait_for(&chain, &[14, 4]).iter().map(|snapshot| snapshot.block().1).collect();
    let branch = mine(&open(other.path(), "branch", 1), 18);
    for block in &branch {
        chain.import_block(block.clone()).unwrap();
    }
    assert_eq!(chain.head().number(), 18);
    let found = wait_for(&chain, &[14, 4]);
    assert!(found.iter().all(|snapshot| !old.contains(&snapshot.block().1)));
    found.iter().for_each(|snapshot| expect_complete(&chain, snapshot));
}

#[test]
fn a_state_below_the_history_becomes_no_snapshot_and_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let open = |snapshots| {
        let chain = ChainConfig {
            proven_blocks: ProvenBlocks::Last(2),
            history: StateHistory::Last(8),
            flushed_keys: 1,
            snapshots,
            ..config(ChainSpec::regtest(), Some(dir.path()))
        };
        Chain::open(chain).unwrap()
    };
    let chain = open(None);
    mine(&chain, 20);
    chain.prune(StateHistory::Last(8), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(chain.oldest_state(), 12);
    drop(chain);
    let chain = open(Some(HEIGHTS));
    wait_for(&chain, &[14]);
    std::thread::sleep(Duration::from_millis(2_500));
    wait_for(&chain, &[14]);
    assert_eq!(chain.upkeep().failures, []);
}

#[test]
fn snapshots_are_counted_and_go_with_their_setting() {
    let dir = tempfile::tempdir().unwrap();
    let open = |snapshots, prunes_states| {
        let proven_blocks = ProvenBlocks::Last(2);
        let chain = config(ChainSpec::regtest(), Some(dir.path()));
        Chain::open(ChainConfig { proven_blocks, snapshots, prunes_states, ..chain }).unwrap()
    };
    let snapshots = dir.path().join("snapshots");
    let chain = open(Some(HEIGHTS), true);
    mine(&chain, 8);
    wait_for(&chain, &[4, 0]);
    let bytes = chain.disk_bytes().unwrap();
    assert!(bytes.snapshots > 0 && bytes.total() >= bytes.snapshots, "{bytes:?}");
    drop(chain);
    // A command that reads leaves them. `prune` removes them, and a start.
    let prune = |chain: &Chain| chain.prune(StateHistory::Archive, |_| ControlFlow::Continue(())).unwrap();
    let chain = open(Some(HEIGHTS), false);
    prune(&chain);
    drop(chain);
    let chain = open(None, false);
    assert!(snapshots.exists());
    prune(&chain);
    assert!(!snapshots.exists() && chain.disk_bytes().unwrap().snapshots == 0);
    drop(chain);
    drop(wait_for(&open(Some(HEIGHTS), true), &[4, 0]));
    assert!(snapshots.exists());
    drop(open(None, true));
    assert!(!snapshots.exists());
}

/// Set for the process that makes a snapshot.
const FAR: &str = "RHIZOME_TEST_FAR_SNAPSHOT";
/// Blocks, and keys that each of them adds.
const FAR_BLOCKS: u64 = 40;
const FAR_KEYS: u64 = 4_000;

fn open_far(dir: &Path, snapshots: Option<SnapshotHeights>) -> Arc<Chain> {
    Chain::open(ChainConfig {
        proven_blocks: ProvenBlocks::Last(2),
        snapshots,
        ..config(ChainSpec::regtest(), Some(dir))
    })
    .unwrap()
}

#[test]
fn a_far_snapshot_takes_little_memory_and_ends_with_the_chain() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open_far(dir.path(), None);
    for block in 0..FAR_BLOCKS {
        chain.mine(NOW).unwrap();
        let filled = chain.change_state(move |state| {
            for number in 0..FAR_KEYS {
                let account = Address::from_word(keccak256((block * FAR_KEYS + number).to_be_bytes()));
                state.set_balance(account, I256::ONE)?;
            }
            Ok(())
        });
        filled.unwrap();
    }
    drop(chain);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["snapshots::makes_a_far_snapshot", "--exact", "--ignored", "--nocapture"])
        .env(FAR, dir.path())
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let value = |name: &str| -> u64 {
        let found = lines.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap_or_else(|| panic!("{name} in {lines}")).parse().unwrap()
    };
    assert!(value("stopped after ms ") < 1_000, "{lines}");
    assert!(value("memory in KiB ") < 150 << 10, "{lines}");
}

/// Runs in a process for [`a_far_snapshot_takes_little_memory_and_ends_with_the_chain`].
#[test]
#[ignore = "part of another test"]
fn makes_a_far_snapshot() {
    let dir = std::env::var_os(FAR).unwrap();
    let dir = Path::new(&dir);
    let heights = SnapshotHeights { interval: 1_000, first: 1 };
    let chain = open_far(dir, Some(heights));
    while !dir.join("snapshots/unfinished/chain/CURRENT").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let start = Instant::now();
    drop(chain);
    println!("\nstopped after ms {}", start.elapsed().as_millis());
    assert!(dir.join("snapshots/unfinished").exists());
    let chain = open_far(dir, Some(heights));
    let made = wait_for(&chain, &[1, 0]);
    made.iter().for_each(|snapshot| expect_complete(&chain, snapshot));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("\nmemory in KiB {}", peak.map_or("0", |peak| peak.trim().trim_end_matches(" kB")));
}
