//! Kills of a new node while it gets a state from peers: no chunk is fetched twice but those in flight.

use crate::child_node::ChildNode;
use crate::chunk_server::ChunkServer;
use crate::reference_peer::{ReferencePeer, ServedChain};
use crate::snap::{PIVOT, new_chain, serving, source, start, verify};
use crate::support::{key, wait_for};
use crate::sync::SyncingNode;
use rhizome_chain::Chain;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const KILLS: u32 = 20;
/// Chunks that each of two servers delivers between two kills: fewer than the state has, so that each kill interrupts the download.
const CHUNKS_BETWEEN_KILLS: usize = 2;
/// Chunks in flight at a kill: a node of the reference is asked for two at a time, and there are two servers.
pub(crate) const IN_FLIGHT: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(90);
/// Data directory of the node to run.
const DIRECTORY: &str = "KILLED_SNAP_NODE_DIRECTORY";

/// The program of the killed process.
#[test]
#[ignore = "is started by another test"]
fn killed_node() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    print_heads(&start(Path::new(&directory)));
}

/// Prints the address of a node, then its head, until nothing reads them.
pub(crate) fn print_heads(node: &SyncingNode) {
    let mut output = std::io::stdout();
    writeln!(output, "\naddress {}", node.network.listening().unwrap()).unwrap();
    while writeln!(output, "head {}", node.chain.head().number()).is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Two servers of the states of a chain. A third of the chunks of the first one is wrong or missing.
pub(crate) struct StateServers {
    served: Arc<ServedChain>,
    states: [Arc<ChunkServer>; 2],
}

impl StateServers {
    pub(crate) fn new(chain: &Arc<Chain>, served: Arc<ServedChain>) -> StateServers {
        StateServers { served, states: [true, false].map(|is_lying| ChunkServer::new(chain, is_lying, None)) }
    }

    pub(crate) fn connect(&self, node: &ChildNode) -> [ReferencePeer; 2] {
        [0, 1].map(|at| {
            let (served, behaviour) = (Arc::clone(&self.served), serving(&self.states[at]));
            ReferencePeer::start(node.address, key(2 + at as u8), key(1).id(), served, behaviour)
        })
    }

    /// Each server delivers at most `count` chunks from now on.
    fn allow(&self, count: usize) {
        self.states.iter().for_each(|server| server.allow(count));
    }

    /// Returns the number of chunks that were delivered, and how often one was delivered again.
    pub(crate) fn delivered(&self) -> (u32, u32) {
        let [mut counts, honest] = [0, 1].map(|at| self.states[at].served());
        honest.into_iter().for_each(|(index, count)| *counts.entry(index).or_default() += count);
        (counts.len() as u32, counts.values().map(|count| count - 1).sum())
    }
}

/// Sleeps for up to 32 ms.
pub(crate) fn sleep_at_random() {
    let mut random = [0];
    getrandom::fill(&mut random).unwrap();
    std::thread::sleep(Duration::from_millis(u64::from(random[0]) / 8));
}

fn start_killed(directory: &Path) -> ChildNode {
    ChildNode::start("snap_kills::killed_node", DIRECTORY, directory)
}

#[test]
fn a_killed_download_continues_with_the_missing_chunks() {
    let (chain, served) = source();
    let directory = tempfile::tempdir().unwrap();
    let servers = StateServers::new(&chain, Arc::clone(&served));
    for _ in 0..KILLS {
        servers.allow(CHUNKS_BETWEEN_KILLS);
        let mut node = start_killed(directory.path());
        let before = servers.delivered();
        let _peers = servers.connect(&node);
        let limit = std::time::Instant::now() + Duration::from_secs(10);
        while servers.delivered() == before && std::time::Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
        sleep_at_random();
        assert_eq!(node.last_printed("head"), Some(0_u64), "the download is complete before the last kill");
        node.kill();
    }
    servers.allow(usize::MAX);
    let mut node = start_killed(directory.path());
    let _peers = servers.connect(&node);
    assert!(node.values("head").any(|number: u64| number == served.best().number));
    node.kill();
    let (chunks, repeated) = servers.delivered();
    eprintln!("{chunks} chunks, {repeated} of them fetched again after {KILLS} kills");
    assert!(repeated <= KILLS * IN_FLIGHT, "{repeated}");
    let chain = new_chain(directory.path());
    wait_for("the head", PATIENCE, || chain.head().hash() == served.best().hash);
    verify(&chain, PIVOT);
}
