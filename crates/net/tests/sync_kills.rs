//! Kills of a node during a synchronization: a block that was published as head is never lost, and nothing is downloaded again from
//! genesis.

use crate::child_node::ChildNode;
use crate::reference_peer::{Behaviour, ReferencePeer, ServedChain};
use crate::support::{key, wait_for};
use crate::sync::{PATIENCE, SyncingNode, mined, open};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const KILLS: u64 = 20;
const BLOCKS: u64 = 4_000;
/// Data directory of the node to run.
const DIRECTORY: &str = "KILLED_NODE_DIRECTORY";

/// The program of the killed process: prints its address, then each number of the head.
#[test]
#[ignore = "is started by another test"]
fn killed_node() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let node = SyncingNode::start(open("", Some(Path::new(&directory))));
    let mut output = std::io::stdout();
    writeln!(output, "\naddress {}", node.network.listening().unwrap()).unwrap();
    let mut last = None;
    // Ends without a reader.
    loop {
        let number = node.chain.head().number();
        if last.replace(number) != Some(number) && writeln!(output, "head {number}").is_err() {
            return;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// A node in a separate process.
struct KilledNode {
    node: ChildNode,
    /// Number of the head after the start.
    first: u64,
    /// Last published number of the head.
    head: u64,
}

impl KilledNode {
    fn start(directory: &Path) -> KilledNode {
        let node = ChildNode::start("sync_kills::killed_node", DIRECTORY, directory);
        let first = node.value("head");
        KilledNode { node, first, head: first }
    }

    fn peer(&self, chain: &Arc<ServedChain>, behaviour: Behaviour) -> ReferencePeer {
        ReferencePeer::start(self.node.address, key(2), key(1).id(), Arc::clone(chain), behaviour)
    }

    fn head(&mut self) -> u64 {
        self.head = self.node.last_printed("head").unwrap_or(self.head);
        self.head
    }

    /// Kills the process. Returns the last number that it has published.
    fn kill(mut self) -> u64 {
        self.node.kill();
        self.node.values("head").last().unwrap_or(self.head)
    }
}

#[test]
fn no_published_head_is_lost_by_kills() {
    let served = mined("a", BLOCKS);
    let directory = tempfile::tempdir().unwrap();
    let mut published = 0;
    for round in 0..KILLS {
        let node = KilledNode::start(directory.path());
        assert!(node.first >= published, "the head went back from {published} to {}", node.first);
        // The chain grows: however much a round imports, the next one has something to ask for.
        let grown = served.first(BLOCKS / KILLS * (round + 1));
        // Whole blocks fill the queue of the importer, single ones leave gaps.
        let is_bulk = round % 4 == 0;
        let connect =
            || node.peer(&grown, Behaviour { serves_snap: is_bulk, is_limited: true, ..Behaviour::default() });
        let mut peer = connect();
        wait_for("the first answer", PATIENCE, || {
            // A busy machine may exceed the time of the handshake.
            if peer.is_closed() {
                peer = connect();
            }
            peer.answers() > 0
        });
        let mut random = [0];
        getrandom::fill(&mut random).unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(random[0]) * if is_bulk { 1 } else { 2 }));
        published = node.kill();
    }
    let mut node = KilledNode::start(directory.path());
    assert!(node.first >= published && published > 0);
    let _peer = node.peer(&served, Behaviour { serves_snap: true, ..Behaviour::default() });
    wait_for("the last block", PATIENCE, || node.head() == BLOCKS);
    assert_eq!(node.kill(), BLOCKS);
    let chain = open("", Some(directory.path()));
    assert_eq!(chain.head().hash(), served.best().hash);
}
