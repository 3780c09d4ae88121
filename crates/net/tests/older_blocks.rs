//! Blocks below the ones of a state download.

use crate::child_node::ChildNode;
use crate::chunk_server::ChunkServer;
use crate::reference_peer::{Behaviour, ReferencePeer, ServedChain};
use crate::scripted_peer::{ScriptedPeer, connect, status};
use crate::server::join;
use crate::snap::{new_chain, serving, start};
use crate::support::{NETWORK, key, wait_for};
use crate::sync::{NOW, SyncingNode, open};
use rhizome_chain::{Chain, ChainError};
use rhizome_net::{Enode, HostPort, NetworkOptions};
use rhizome_primitives::{Block, U256};
use rhizome_wire::rsk::{RskMessage, message_id};
use rhizome_wire::session::{Capability, codes};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

const BLOCKS: u64 = 10_050;
/// The pivot is block 6,160.
const LOWEST: u64 = 160;
/// Uncles of block 2, which headers do not show.
const UNCLES: u64 = 4;
/// Longest time for a synchronization.
const PATIENCE: Duration = Duration::from_secs(120);
/// Data directory of the node to run.
const DIRECTORY: &str = "KILLED_OLDER_BLOCKS_DIRECTORY";

fn source() -> (Arc<Chain>, Arc<ServedChain>) {
    static SOURCE: OnceLock<(Arc<Chain>, Arc<ServedChain>)> = OnceLock::new();
    let (chain, served) = SOURCE.get_or_init(|| mined(BLOCKS));
    (Arc::clone(chain), Arc::clone(served))
}

fn mined(blocks: u64) -> (Arc<Chain>, Arc<ServedChain>) {
    let chain = open("source", None);
    chain.mine(NOW).unwrap();
    for name in ["a", "b", "c", "d"] {
        let uncle = open(name, None).mine(NOW).unwrap().block.clone();
        chain.import_block(uncle).unwrap();
    }
    assert_eq!(chain.mine(NOW).unwrap().block.uncles.len() as u64, UNCLES);
    while chain.head().number() < blocks {
        chain.mine(NOW).unwrap();
    }
    let served = ServedChain::of(&chain);
    (chain, served)
}

fn lowest(chain: &Chain) -> u64 {
    chain.oldest_block().unwrap().map_or(0, |oldest| oldest.number)
}

/// Returns a node that got a state from a peer, which it has left, and has no blocks below 160. The tests share the download.
fn with_state(dir: &Path) -> SyncingNode {
    static DOWNLOADED: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    let downloaded = DOWNLOADED.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        drop(with_state_of(dir.path(), &source(), LOWEST));
        files(dir.path(), Path::new(""))
    });
    for (path, content) in downloaded {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let node = start_serving(dir);
    assert_eq!(lowest(&node.chain), LOWEST);
    node
}

/// Reads all files below a folder.
fn files(root: &Path, folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| folder.join(entry.unwrap().file_name()));
    let read = |path: PathBuf| match root.join(&path).is_dir() {
        true => files(root, &path),
        false => vec![(path.clone(), std::fs::read(root.join(path)).unwrap())],
    };
    entries.flat_map(read).collect()
}

fn start_serving(dir: &Path) -> SyncingNode {
    let change = |options| NetworkOptions { downloads_state: true, serves_snap: true, ..options };
    SyncingNode::start_with(new_chain(dir), change)
}

fn with_state_of(dir: &Path, (chain, served): &(Arc<Chain>, Arc<ServedChain>), lowest_block: u64) -> SyncingNode {
    let node = start_serving(dir);
    let states = ChunkServer::new(chain, false, None);
    // Without older blocks, like a node that began with a state itself.
    let _server = node.peer(2, served, Behaviour { lowest: lowest_block, ..serving(&states) });
    wait_for("the head", PATIENCE, || node.chain.head().hash() == served.best().hash);
    wait_for("the lowest block", PATIENCE, || node.status().older.is_some_and(|older| older.oldest == lowest_block));
    assert_eq!(lowest(&node.chain), lowest_block);
    let missing = node.chain.check_stored(lowest_block - 1);
    assert!(matches!(missing, Err(ChainError::BlockNotStored { first, .. }) if first == lowest_block), "{missing:?}");
    assert!(node.chain.check_stored(lowest_block).is_ok() && node.chain.check_stored(0).is_ok());
    wait_for("the end", PATIENCE, || !node.status().is_syncing);
    node
}

fn gets_all(node: &SyncingNode) {
    // The lower bound of the headers, until the first block is there.
    let difficulty = || node.chain.head().record.total_difficulty;
    let (_, served) = source();
    assert_eq!(difficulty(), served.total_difficulty() - U256::from(UNCLES));
    wait_for("the older blocks", PATIENCE, || lowest(&node.chain) == 1);
    wait_for("the end", PATIENCE, || node.status().older.is_none());
    assert_eq!(difficulty(), served.total_difficulty());
    compare(&node.chain);
    // The STATUS for peers.
    let mut socket = ScriptedPeer::shake(connect(node.network.listening().unwrap()), &key(7), node.network.id());
    socket.hello(4, &[Capability::rsk()]);
    let genesis = node.chain.main_hash(0).unwrap().unwrap();
    socket.send(codes::STATUS, &status(62, NETWORK, genesis.as_slice()));
    let sent = loop {
        let frame = socket.receive().unwrap();
        if frame.code == codes::RSK {
            break frame;
        }
    };
    let RskMessage::Status(sent) = RskMessage::decode(sent.payload()).unwrap() else { panic!() };
    assert_eq!(sent.parent_and_difficulty.map(|(_, difficulty)| difficulty), Some(served.total_difficulty()));
}

/// Compares the total difficulties of blocks that leave and join the best chain above the source's.
fn compare_reorganized(chain: &Chain) {
    let difficulty = |blocks: u64| source().1.total_difficulty() + U256::from(blocks);
    let branch: Vec<Block> = (0..2).map(|_| chain.mine(NOW).unwrap().block.clone()).collect();
    chain.rewind(BLOCKS).unwrap();
    let left = chain.mine(NOW + 100_000).unwrap().hash;
    branch.iter().for_each(|block| drop(chain.import_block(block.clone()).unwrap()));
    assert_eq!((chain.head().hash(), chain.head().record.total_difficulty), (branch[1].hash(), difficulty(2)));
    assert_eq!(chain.block(&left).unwrap().unwrap().total_difficulty, difficulty(1));
    let entries = chain.blocks_at(BLOCKS + 1).unwrap();
    assert!(entries.len() == 2 && entries.iter().all(|entry| entry.total_difficulty == difficulty(1)), "{entries:?}");
}

/// Compares the lowest blocks with those of the source.
fn compare(chain: &Chain) {
    let (source, _) = source();
    for number in 0..=LOWEST + 1 {
        let (own, expected) = (chain.main_block(number).unwrap().unwrap(), source.main_block(number).unwrap().unwrap());
        assert_eq!((own.hash, own.total_difficulty), (expected.hash, expected.total_difficulty));
        assert_eq!((&own.block, own.senders()), (&expected.block, expected.senders()));
        for transaction in &own.block.transactions {
            assert!(chain.transaction(&transaction.hash()).unwrap().is_some(), "{number}");
        }
        let receipts = chain.receipts(&own.hash);
        assert!(if number == 0 {
            receipts.is_ok()
        } else {
            matches!(receipts, Err(ChainError::ReceiptsNotKept { .. }))
        });
    }
}

#[test]
fn whole_blocks_come_from_a_snap_server() {
    let dir = tempfile::tempdir().unwrap();
    let node = with_state(dir.path());
    // It serves the blocks that it has.
    let mut client = join(&node, &[Capability::rsk()]);
    client.send(codes::RSK, &RskMessage::SnapBlocksRequest { id: 1, number: 300 }.encode());
    let answer = loop {
        let frame = client.receive().unwrap();
        if frame.code == codes::RSK && message_id(frame.payload()) == Ok(1) {
            break frame;
        }
    };
    let RskMessage::SnapBlocksResponse { blocks, .. } = RskMessage::decode(answer.payload()).unwrap() else { panic!() };
    assert_eq!(blocks.len() as u64, 300 - LOWEST);
    let peer = node.peer(3, &source().1, Behaviour { serves_snap: true, ..Behaviour::default() });
    gets_all(&node);
    assert!(peer.answers() < 10, "{}", peer.answers());
    compare_reorganized(&node.chain);
    drop((node, peer));
    let chain = new_chain(dir.path());
    compare(&chain);
    assert_eq!(chain.head().record.total_difficulty, source().1.total_difficulty() + U256::from(2));
}

#[test]
fn bodies_come_from_other_peers_and_a_wrong_one_is_punished() {
    let dir = tempfile::tempdir().unwrap();
    let node = with_state(dir.path());
    let (_, served) = source();
    let liar = node.peer(3, &served, Behaviour { wrong_bodies_from: Some(1), ..Behaviour::default() });
    wait_for("the end of the liar", PATIENCE, || liar.is_closed());
    // Counted after the connection is closed.
    wait_for("the punishment", PATIENCE, || node.network.closed().get("punished") == Some(&1));
    assert_eq!(lowest(&node.chain), LOWEST);
    let limited = Behaviour { is_limited: true, ..Behaviour::default() };
    let peers: Vec<ReferencePeer> = (4..6).map(|fill| node.peer(fill, &served, limited.clone())).collect();
    gets_all(&node);
    assert!(peers.iter().all(|peer| peer.lost() == 0 && peer.answers() > 20 && !peer.is_closed()));
}

#[test]
fn bodies_come_by_the_hundred_from_a_node_of_this_project() {
    let (chain, _) = source();
    let server = SyncingNode::start_with(chain, |options| NetworkOptions { key: key(4), ..options });
    let dir = tempfile::tempdir().unwrap();
    let node = with_state(dir.path());
    let address = server.network.listening().unwrap();
    let address = HostPort { host: address.ip().to_string(), port: address.port() };
    node.network.add_peer(Enode { id: server.network.id(), address });
    gets_all(&node);
}

/// The program of the killed process: prints its address, then its lowest block.
#[test]
#[ignore = "is started by another test"]
fn killed_node() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let node = start(Path::new(&directory));
    let mut output = std::io::stdout();
    writeln!(output, "\naddress {}", node.network.listening().unwrap()).unwrap();
    // Ends without a reader.
    while writeln!(output, "lowest {}", lowest(&node.chain)).is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn start_killed(directory: &Path) -> ChildNode {
    ChildNode::start("older_blocks::killed_node", DIRECTORY, directory)
}

#[test]
fn a_killed_download_continues_below_the_lowest_block() {
    let dir = tempfile::tempdir().unwrap();
    drop(with_state(dir.path()));
    let (_, served) = source();
    let id = key(1).id();
    let mut before = LOWEST;
    for kill in 0..5 {
        let mut node = start_killed(dir.path());
        let limited = Behaviour { is_limited: true, ..Behaviour::default() };
        let _peer = ReferencePeer::start(node.address, key(3), id, Arc::clone(&served), limited);
        let mut random = [0];
        getrandom::fill(&mut random).unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(random[0])));
        let first = node.value("lowest");
        assert!(first <= before, "{first} after {before} at kill {kill}");
        before = first;
        node.kill();
    }
    let mut node = start_killed(dir.path());
    let whole = Behaviour { serves_snap: true, ..Behaviour::default() };
    let _peer = ReferencePeer::start(node.address, key(3), id, Arc::clone(&served), whole);
    assert!(node.values("lowest").any(|lowest: u64| lowest == 1));
    node.kill();
    let chain = new_chain(dir.path());
    assert_eq!(chain.head().record.total_difficulty, served.total_difficulty());
    compare(&chain);
}

/// `-- --ignored --nocapture speed_of_older_blocks`: 15,159 empty blocks more than 6,000 below the pivot.
#[test]
#[ignore = "measures"]
fn speed_of_older_blocks() {
    let source = mined(25_050);
    let lowest_block = 21_160 - 6_000;
    let server = SyncingNode::start_with(Arc::clone(&source.0), |options| NetworkOptions { key: key(4), ..options });
    for has_snap in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let node = with_state_of(dir.path(), &source, lowest_block);
        let begin = Instant::now();
        let _peer = has_snap.then(|| node.peer(3, &source.1, Behaviour { serves_snap: true, ..Behaviour::default() }));
        if !has_snap {
            let address = server.network.listening().unwrap();
            let address = HostPort { host: address.ip().to_string(), port: address.port() };
            node.network.add_peer(Enode { id: server.network.id(), address });
        }
        wait_for("the older blocks", PATIENCE, || lowest(&node.chain) == 1);
        eprintln!("{lowest_block} older blocks in {:?}, snap server: {has_snap}", begin.elapsed());
    }
}

#[test]
fn a_skeleton_names_no_block_whose_headers_are_missing() {
    let dir = tempfile::tempdir().unwrap();
    let node = with_state(dir.path());
    // From genesis on, 159 headers of the first chunk would be missing.
    let request = |id, start| RskMessage::SkeletonRequest { id, start };
    assert_eq!(first_answered(&node, [request(1, 0), request(2, 192)]), 2);
}

#[test]
fn headers_that_end_at_a_missing_block_are_not_sent() {
    let dir = tempfile::tempdir().unwrap();
    let node = with_state(dir.path());
    let hash = node.chain.main_hash(LOWEST + 9).unwrap().unwrap();
    let request = |id, count| RskMessage::BlockHeadersRequest { id, hash, count };
    assert_eq!(first_answered(&node, [request(1, 11), request(2, 10)]), 2);
}

/// Sends requests, and returns the id of the first request that is answered.
fn first_answered(node: &SyncingNode, requests: [RskMessage<'_>; 2]) -> u64 {
    let mut peer = join(node, &[Capability::rsk()]);
    for request in requests {
        peer.send(codes::RSK, &request.encode());
    }
    loop {
        let frame = peer.receive().unwrap();
        let message = RskMessage::decode(frame.payload());
        if frame.code == codes::RSK
            && let Ok(RskMessage::SkeletonResponse { id, .. } | RskMessage::BlockHeadersResponse { id, .. }) = message
        {
            break id;
        }
    }
}
