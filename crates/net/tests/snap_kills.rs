//! Kills of a new node while it gets a state from peers: no chunk is fetched twice but those in flight.

use crate::chunk_server::ChunkServer;
use crate::reference_peer::ReferencePeer;
use crate::snap::{new_chain, serving, source, start, verify};
use crate::support::{key, wait_for};
use rhizome_net::NodeId;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const KILLS: usize = 20;
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

/// A node in a separate process.
struct KilledNode {
    process: Child,
    lines: Box<dyn Iterator<Item = String>>,
    address: SocketAddr,
}

impl KilledNode {
    fn start(directory: &Path) -> KilledNode {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["snap_kills::killed_node", "--exact", "--ignored", "--nocapture"])
            .env(DIRECTORY, directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut lines = Box::new(output.lines().map_while(Result::ok));
        let address = lines.find_map(|line| line.strip_prefix("address ").map(|address| address.parse().unwrap()));
        KilledNode { process, address: address.unwrap(), lines }
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn a_killed_download_continues_with_the_missing_chunks() {
    let (chain, served) = source();
    let directory = tempfile::tempdir().unwrap();
    let (honest, liar) = (ChunkServer::new(&chain, false, None), ChunkServer::new(&chain, true, None));
    let id: NodeId = key(1).id();
    for _ in 0..KILLS {
        let node = KilledNode::start(directory.path());
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
        node.kill();
    }
    let mut node = KilledNode::start(directory.path());
    let _liar = ReferencePeer::start(node.address, key(2), id, Arc::clone(&served), serving(&liar));
    let _honest = ReferencePeer::start(node.address, key(3), id, Arc::clone(&served), serving(&honest));
    let last = format!("head {}", served.best().number);
    assert!(node.lines.any(|line| line == last));
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
