//! Kills of a new node while it gets a state from peers: no chunk is fetched twice but those in flight.

use crate::child_node::ChildNode;
use crate::chunk_server::ChunkServer;
use crate::reference_peer::ReferencePeer;
use crate::snap::{new_chain, serving, source, start, verify};
use crate::support::{key, wait_for};
use rhizome_net::NodeId;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const KILLS: usize = 20;
/// Chunks that each of two servers delivers between two kills: fewer than the state has, so that each kill interrupts the download.
const CHUNKS_BETWEEN_KILLS: usize = 2;
/// Requests for chunks that wait for answers of a node of the reference.
const IN_FLIGHT: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(90);
/// Data directory of the node to run.
const DIRECTORY: &str = "KILLED_SNAP_NODE_DIRECTORY";

/// The program of the killed process: prints its address, then waits for the head.
#[test]
#[ignore = "is started by another test"]
fn killed_node() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let node = start(Path::new(&directory));
    let mut output = std::io::stdout();
    writeln!(output, "\naddress {}", node.network.listening().unwrap()).unwrap();
    // Ends without a reader.
    while writeln!(output, "head {}", node.chain.head().number()).is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn start_killed(directory: &Path) -> ChildNode {
    ChildNode::start("snap_kills::killed_node", DIRECTORY, directory)
}

#[test]
fn a_killed_download_continues_with_the_missing_chunks() {
    let (chain, served) = source();
    let directory = tempfile::tempdir().unwrap();
    let (honest, liar) = (ChunkServer::new(&chain, false, None), ChunkServer::new(&chain, true, None));
    let id: NodeId = key(1).id();
    for _ in 0..KILLS {
        [&honest, &liar].iter().for_each(|server| server.allow(CHUNKS_BETWEEN_KILLS));
        let mut node = start_killed(directory.path());
        let before = honest.served().len() + liar.served().len();
        let _liar = ReferencePeer::start(node.address, key(2), id, Arc::clone(&served), serving(&liar));
        let _honest = ReferencePeer::start(node.address, key(3), id, Arc::clone(&served), serving(&honest));
        let answered = || honest.served().len() + liar.served().len() > before;
        let limit = std::time::Instant::now() + Duration::from_secs(10);
        while !answered() && std::time::Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut random = [0];
        getrandom::fill(&mut random).unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(random[0]) / 8));
        assert_eq!(node.last_printed("head"), Some(0_u64), "the download is complete before the last kill");
        node.kill();
    }
    [&honest, &liar].iter().for_each(|server| server.allow(usize::MAX));
    let mut node = start_killed(directory.path());
    let _liar = ReferencePeer::start(node.address, key(2), id, Arc::clone(&served), serving(&liar));
    let _honest = ReferencePeer::start(node.address, key(3), id, Arc::clone(&served), serving(&honest));
    assert!(node.values("head").any(|number: u64| number == served.best().number));
    node.kill();
    let mut counts = honest.served();
    liar.served().into_iter().for_each(|(index, count)| *counts.entry(index).or_default() += count);
    let repeated: u32 = counts.values().map(|count| count - 1).sum();
    eprintln!("{} chunks, {repeated} of them fetched again after {KILLS} kills", counts.len());
    // Two servers.
    assert!(repeated <= KILLS as u32 * 2 * IN_FLIGHT, "{repeated}");
    let chain = new_chain(directory.path());
    wait_for("the head", PATIENCE, || chain.head().hash() == served.best().hash);
    verify(&chain);
}
