//! A state of millions of entries, from two servers of which one lies, for a node that is killed again and again.
//!
//! ```text
//! LARGE_SNAP_SPEC=spec.json LARGE_SNAP_SOURCE=COPY \
//!     node scripts/cargo.mjs test --release -p rhizome-net snap_large::a_large -- --ignored --nocapture
//! ```
//!
//! COPY is a copy of the data directory of a node with that specification, `storage.proofs` 128 and `storage.snapshots`. Blocks are
//! mined on it.

use crate::child_node::ChildNode;
use crate::reference_peer::ServedChain;
use crate::snap::verify;
use crate::snap_kills::{IN_FLIGHT, KILLS, StateServers, print_heads, sleep_at_random};
use crate::support::wait_for;
use crate::sync::{NOW, SyncingNode, config};
use rhizome_chain::{Chain, ChainConfig, ProvenBlocks, STATE_CHUNK_BYTES, SnapshotHeights, StateHistory};
use rhizome_net::NetworkOptions;
use rhizome_primitives::ChainSpec;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// File with the specification of the chain.
const SPEC: &str = "LARGE_SNAP_SPEC";
/// Data directory of the chain.
const SOURCE: &str = "LARGE_SNAP_SOURCE";
/// Data directory of the node to run.
const DIRECTORY: &str = "KILLED_LARGE_SNAP_NODE_DIRECTORY";
/// Distance of the blocks that may be pivots.
const GRID: u64 = 5_000;
/// Distance of the pivot from the grid.
const DISTANCE: u64 = 3_840;
/// Longest time for each step.
const PATIENCE: Duration = Duration::from_secs(1_200);

fn open(directory: &Path, snapshots: Option<SnapshotHeights>) -> Arc<Chain> {
    let text = std::fs::read_to_string(std::env::var(SPEC).unwrap()).unwrap();
    let settings = ChainConfig {
        proven_blocks: ProvenBlocks::Last(128),
        history: StateHistory::Full,
        snapshots,
        cache_bytes: 256 << 20,
        write_buffer_bytes: 64 << 20,
        ..config("", ChainSpec::from_json(&text).unwrap(), Some(directory))
    };
    Chain::open(settings).unwrap()
}

/// The program of the killed process.
#[test]
#[ignore = "is started by another test"]
fn killed_node() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let chain = open(Path::new(&directory), None);
    print_heads(&SyncingNode::start_with(chain, |options| NetworkOptions { downloads_state: true, ..options }));
}

#[test]
#[ignore = "needs the data directory of a large chain"]
fn a_large_state_comes_through_kills_and_lies() {
    let Ok(source) = std::env::var(SOURCE) else { return };
    let source = Path::new(&source);
    let chain = open(source, Some(SnapshotHeights::default()));
    // The pivot is not below the block with the whole state.
    let target = (chain.head().number() + DISTANCE).next_multiple_of(GRID);
    while chain.head().number() < target {
        chain.mine(NOW).unwrap();
    }
    let pivot = target - DISTANCE;
    wait_for("the snapshot", PATIENCE, || chain.state_snapshot(pivot).unwrap().is_some());
    let size = chain.state_snapshot(pivot).unwrap().unwrap().trie().size().unwrap();
    let served = ServedChain::of(&chain);
    let servers = StateServers::new(&chain, Arc::clone(&served));
    let directory = tempfile::tempdir_in(source.parent().unwrap()).unwrap();
    let start = || ChildNode::start("snap_large::killed_node", DIRECTORY, directory.path());
    let begin = Instant::now();
    let between_kills = (size / STATE_CHUNK_BYTES) as u32 / (KILLS + 1);
    let mut peak = 0;
    for kill in 1..=KILLS {
        let mut node = start();
        let _peers = servers.connect(&node);
        wait_for("the chunks before a kill", PATIENCE, || servers.delivered().0 >= kill * between_kills);
        sleep_at_random();
        assert_eq!(node.last_printed("head"), Some(0_u64), "the download is complete before the last kill");
        peak = peak.max(node.memory("VmHWM"));
        node.kill();
    }
    let killed = begin.elapsed();
    let mut node = start();
    let _peers = servers.connect(&node);
    assert!(node.values("head").any(|number: u64| number == served.best().number));
    peak = peak.max(node.memory("VmHWM"));
    node.kill();
    let (chunks, repeated) = servers.delivered();
    eprintln!("{size} bytes in {chunks} chunks, {repeated} of them fetched again after {KILLS} kills");
    eprintln!("last kill after {killed:.1?}, head after {:.1?}, memory at most {peak} KiB", begin.elapsed());
    assert!(repeated <= KILLS * IN_FLIGHT, "{repeated}");
    let chain = open(directory.path(), None);
    assert_eq!(chain.head().hash(), served.best().hash);
    verify(&chain, pivot);
}
