//! Speed of the synchronization with scripted peers. Takes minutes: `cargo test --release -p rhizome-net speed -- --ignored --nocapture`.

use crate::reference_peer::{Behaviour, ReferencePeer, ServedChain};
use crate::relay::transfer;
use crate::scripted_peer::{ScriptedPeer, connect};
use crate::support::{key, wait_for};
use crate::sync::{NOW, SyncingNode, config, mined, open};
use rhizome_chain::{Chain, ChainConfig, PoolOptions, PreparedBlock};
use rhizome_net::{Enode, NetworkOptions};
use rhizome_primitives::{B256, ChainSpec};
use rhizome_wire::rsk::RskMessage;
use rhizome_wire::session::{Capability, codes};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(600);

fn blocks_of(served: &ServedChain) -> impl Iterator<Item = Option<((), PreparedBlock)>> {
    served.blocks().iter().skip(1).map(|block| Some(((), PreparedBlock::new(block.clone()))))
}

#[test]
#[ignore = "takes four minutes"]
fn speed_of_ten_limited_peers_over_three_minutes() {
    let served = mined("a", 30_000);
    let node = SyncingNode::start(open("", None));
    let limited = Behaviour { is_limited: true, ..Behaviour::default() };
    let start = Instant::now();
    let peers: Vec<ReferencePeer> = (2..12).map(|fill| node.peer(fill, &served, limited.clone())).collect();
    std::thread::sleep(Duration::from_secs(180));
    let rate = node.chain.head().number() as f64 / start.elapsed().as_secs_f64();
    let lost: u64 = peers.iter().map(ReferencePeer::lost).sum();
    eprintln!("{rate:.1} blocks/s from 10 peers, {lost} messages lost");
    assert!(rate >= 150.0 && lost == 0);
}

#[test]
#[ignore = "takes a minute"]
fn speed_of_a_heavier_branch() {
    let (own, heavier) = (mined("a", 5_199), mined("b", 5_299));
    let import = |chain: &Chain, served: &ServedChain| {
        let start = Instant::now();
        chain.import_from_peers(blocks_of(served), |(), _| ControlFlow::Continue(())).unwrap();
        start.elapsed()
    };
    let chain = open("", None);
    import(&chain, &own);
    let from_file = import(&chain, &heavier);
    assert_eq!(chain.head().hash(), heavier.best().hash);
    let chain = open("", None);
    import(&chain, &own);
    let node = SyncingNode::start(chain);
    let _peer = node.peer(2, &heavier, Behaviour { serves_snap: true, ..Behaviour::default() });
    let from_peer = node.reaches(heavier.best());
    eprintln!("5,299 blocks over 5,199: {from_peer:?} from a peer, {from_file:?} without the network");
    assert!(from_peer < 2 * from_file + Duration::from_millis(500));
}

#[test]
#[ignore = "takes a minute"]
fn speed_of_whole_blocks() {
    let served = mined("a", 5_200);
    let node = SyncingNode::start(open("", None));
    let _peer = node.peer(2, &served, Behaviour { serves_snap: true, is_limited: true, ..Behaviour::default() });
    let time = node.reaches(served.best());
    eprintln!("5,200 blocks in {time:?}");
    assert!(time < Duration::from_secs(8));
}

/// A chain of blocks with 12 transfers, each to another account.
fn busy(blocks: u64) -> Arc<Chain> {
    let pool = PoolOptions { has_rate_limiter: false, ..PoolOptions::default() };
    let chain = Chain::open(ChainConfig { pool, ..config("a", ChainSpec::regtest(), None) }).unwrap();
    for block in 0..blocks {
        for nonce in 12 * block..12 * (block + 1) {
            chain.submit(transfer(nonce)).unwrap();
        }
        chain.mine(NOW).unwrap();
    }
    chain
}

#[test]
#[ignore = "takes a minute"]
fn speed_of_mining_during_a_synchronization() {
    let source = SyncingNode::start_with(busy(3_000), |options| NetworkOptions { key: key(9), ..options });
    let node = SyncingNode::start(open("miner", None));
    node.network.add_peer(source.network.enode().unwrap());
    wait_for("the first blocks", PATIENCE, || node.chain.head().number() > 200);
    let mut times = Vec::new();
    while node.chain.head().number() < 2_500 && times.len() < 40 {
        let start = Instant::now();
        node.chain.mine(NOW).unwrap();
        times.push(start.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    times.sort();
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    let head = node.chain.head().number();
    eprintln!("{} blocks mined up to block {head}: median {median:?}, longest {longest:?}", times.len());
}

#[test]
#[ignore = "takes a minute"]
fn speed_of_nodes_of_this_project() {
    let served = ServedChain::of(&busy(1_500));
    let file: Vec<Vec<u8>> = served.blocks().iter().skip(1).map(|block| block.encode()).collect();
    let imported = open("", None);
    let start = Instant::now();
    imported.import_stream(file.into_iter(), |_| ControlFlow::Continue(())).unwrap();
    let import = start.elapsed();
    let sources: Vec<SyncingNode> = (1..3)
        .map(|fill| {
            let chain = open("", None);
            chain.import_from_peers(blocks_of(&served), |(), _| ControlFlow::Continue(())).unwrap();
            SyncingNode::start_with(chain, |options| NetworkOptions { key: key(fill), ..options })
        })
        .collect();
    for count in 1..=2 {
        let node = SyncingNode::start_with(open("", None), |options| NetworkOptions { key: key(9), ..options });
        let start = Instant::now();
        for source in &sources[..count] {
            node.network.add_peer(source.network.enode().unwrap());
        }
        wait_for("the head", PATIENCE, || node.chain.head().hash() == served.best().hash);
        let time = start.elapsed();
        let ratio = import.as_secs_f64() / time.as_secs_f64();
        eprintln!("1,500 blocks, 18,000 transactions: import {import:?}, from {count} nodes {time:?}, {ratio:.2}");
    }
}

/// Downloads whole blocks without checking anything: `PEER=enode://... cargo test ... bare_download -- --ignored --nocapture`.
#[test]
#[ignore = "needs a live node"]
fn speed_of_a_bare_download() {
    let Ok(peer) = std::env::var("PEER") else { return };
    let peer: Enode = peer.parse().unwrap();
    let address: SocketAddr = format!("{}:{}", peer.address.host, peer.address.port).parse().unwrap();
    let capabilities = [Capability::rsk(), Capability { name: "snap".to_owned(), version: 1 }];
    let genesis: B256 = std::env::var("GENESIS").unwrap().parse().unwrap();
    let mut client = ScriptedPeer::join_with(connect(address), &key(9), peer.id, &capabilities, genesis.as_slice());
    let best: u64 = std::env::var("BLOCKS").unwrap().parse().unwrap();
    let mut numbers = (1..best).step_by(400).map(|first| (first + 400).min(best));
    let (start, mut waiting, mut bytes) = (Instant::now(), 0, 0);
    loop {
        while waiting < 2
            && let Some(number) = numbers.next()
        {
            client.send(codes::RSK, &RskMessage::SnapBlocksRequest { id: number, number }.encode());
            waiting += 1;
        }
        if waiting == 0 {
            break;
        }
        let frame = client.receive().unwrap();
        if frame.code == codes::PING {
            client.send(codes::PONG, &[0xc0]);
        } else if frame.code == codes::RSK
            && matches!(RskMessage::decode(frame.payload()), Ok(RskMessage::SnapBlocksResponse { .. }))
        {
            bytes += frame.payload().len();
            waiting -= 1;
        }
    }
    eprintln!("{best} blocks, {bytes} bytes in {:?}", start.elapsed());
}
