//! Messages that no honest peer sends: each costs this node little, and most of them cost the peer its connection.

use crate::relay::{join, mined, next, node, send_block, transfer_with};
use crate::scripted_peer::{ScriptedPeer, connect};
use crate::support::{key, wait, wait_for};
use crate::sync::{NOW, SyncingNode, config, open};
use crate::sync_faults::timed_by;
use rhizome_chain::{Chain, ChainConfig, PoolOptions};
use rhizome_net::{NetworkOptions, NodeId};
use rhizome_primitives::rlp::{list, put_bytes, put_u64};
use rhizome_primitives::{B256, Block, ChainSpec, Header, keccak256};
use rhizome_wire::rhz::RhzMessage;
use rhizome_wire::rsk::{BlockIdentifier, RskMessage, types};
use rhizome_wire::session::{Capability, codes};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);
/// Memory that the messages of one peer may occupy (docs/spec/p2p-additions.md, F).
const PEER_MEMORY: usize = 16 << 20;

/// Returns an envelope with any bytes as the body.
fn envelope(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    put_u64(&mut message, u64::from(kind));
    put_bytes(&mut message, body);
    list(&list(&message))
}

/// Lists that contain each other.
fn nested(depth: usize) -> Vec<u8> {
    (0..depth).fold(Vec::new(), |inner, _| list(&inner))
}

/// Returns the bytes that wait in both directions for a peer.
fn waiting(node: &SyncingNode, id: &NodeId) -> usize {
    let peer = node.network.peer(id);
    peer.map_or(0, |peer| peer.waiting().iter().map(|(bytes, _)| bytes).sum())
}

/// A mined block reaches a peer: the node still works.
fn still_relays(node: &SyncingNode, peer: &mut ScriptedPeer) {
    let mined = node.chain.mine(NOW).unwrap();
    loop {
        match RskMessage::decode(&next(peer)).unwrap() {
            RskMessage::Block(block) if block.encoding() == mined.block.encode() => return,
            RskMessage::NewBlockHashes(blocks) if blocks.iter().any(|block| block.hash == mined.hash) => return,
            _ => {}
        }
    }
}

#[test]
fn malformed_messages_are_punished_within_a_second() {
    let identifier = list(&[&[0xa0][..], &[7; 32], &[1]].concat());
    let headers = |elements: usize| {
        let mut body = Vec::new();
        put_u64(&mut body, 1);
        body.extend_from_slice(&list(&list(&vec![0xc0; elements])));
        list(&body)
    };
    let cases: [(&str, Vec<u8>); 10] = [
        ("an empty message", Vec::new()),
        ("no list", vec![0x80]),
        ("a list that ends early", vec![0xf9, 0xff, 0xff, 1]),
        ("a string that ends early", envelope(types::BLOCK, &[0xc4, 0xb8, 0x7f, 1, 2])),
        ("a length of eight bytes", vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ("a thousand lists in each other", nested(1_000)),
        ("a body of a thousand lists in each other", envelope(types::BLOCK, &nested(1_000))),
        ("65,537 headers", envelope(types::BLOCK_HEADERS_RESPONSE, &headers(65_537))),
        ("65,537 transactions", envelope(types::TRANSACTIONS, &list(&vec![0xc0; 65_537]))),
        ("an identifier without a hash", envelope(types::NEW_BLOCK_HASHES, &list(&list(&identifier[..20])))),
    ];
    let node = node(1, "a");
    for (at, (name, payload)) in cases.iter().enumerate() {
        let mut liar = join(&node, 10 + at as u8);
        let start = Instant::now();
        liar.send(codes::RSK, payload);
        liar.end();
        assert!(start.elapsed() < SECOND, "{name}");
        wait(name, || node.network.closed().get("punished") == Some(&(at as u64 + 1)));
    }
}

#[test]
fn a_hundred_thousand_announcements_lead_to_sixteen_requests() {
    let node = node(1, "a");
    let mut other = join(&node, 9);
    let mut liar = join(&node, 8);
    let writer = std::thread::spawn(move || {
        for message in 0..1_000_u32 {
            let announced = (0..100_u32).map(|at| {
                let hash = keccak256((message * 100 + at).to_be_bytes());
                BlockIdentifier { hash, number: 1 }
            });
            liar.send(codes::RSK, &RskMessage::NewBlockHashes(announced.collect()).encode());
        }
        liar
    });
    while !writer.is_finished() {
        assert!(waiting(&node, &key(8).id()) < PEER_MEMORY);
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut liar = writer.join().unwrap();
    still_relays(&node, &mut other);
    let requests = requests(&mut liar);
    // Requests that were not answered for 5 s make room for others.
    assert!((16..=64).contains(&requests), "{requests}");
    assert_eq!(node.network.peers().len(), 2);
}

#[test]
fn invented_announcements_of_many_peers_do_not_hide_a_block() {
    let node = node(1, "a");
    let mut liars: Vec<ScriptedPeer> = (100..120).map(|fill| join(&node, fill)).collect();
    for (at, liar) in liars.iter_mut().enumerate() {
        let announced =
            (0..16).map(|number| BlockIdentifier { hash: keccak256([at as u8, number as u8]), number: number + 1 });
        liar.send(codes::RSK, &RskMessage::NewBlockHashes(announced.collect()).encode());
    }
    for liar in &mut liars {
        for _ in 0..16 {
            assert!(matches!(RskMessage::decode(&next(liar)).unwrap(), RskMessage::GetBlock { .. }));
        }
    }
    let mut other = join(&node, 9);
    let block = BlockIdentifier { hash: mined(1)[0].hash(), number: 1 };
    other.send(codes::RSK, &RskMessage::NewBlockHashes(vec![block]).encode());
    assert_eq!(RskMessage::decode(&next(&mut other)).unwrap(), RskMessage::GetBlock { hash: block.hash });
}

/// Returns the number of GET_BLOCKs that a peer has received, until none arrives any more.
fn requests(peer: &mut ScriptedPeer) -> usize {
    peer.socket.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let (mut count, mut last) = (0, Instant::now());
    while last.elapsed() < SECOND {
        if let Some(frame) = peer.poll().unwrap() {
            last = Instant::now();
            count += usize::from(matches!(RskMessage::decode(frame.payload()), Ok(RskMessage::GetBlock { .. })));
        }
    }
    count
}

#[test]
fn a_peer_that_asks_and_does_not_read_occupies_the_memory_of_one_answer() {
    let pool = PoolOptions { has_rate_limiter: false, ..PoolOptions::default() };
    let chain = Chain::open(ChainConfig { pool, ..config("large", ChainSpec::regtest(), None) }).unwrap();
    for nonce in 0..40 {
        chain.submit(transfer_with(vec![0; 100_000].into(), nonce)).unwrap();
        chain.mine(NOW).unwrap();
    }
    let hashes: Vec<B256> = (1..=40).map(|number| chain.main_hash(number).unwrap().unwrap()).collect();
    let node = SyncingNode::start(Arc::clone(&chain));
    let genesis = chain.main_hash(0).unwrap().unwrap();
    let (address, capabilities) = (node.network.listening().unwrap(), [Capability::rsk(), Capability::rhizome()]);
    let mut peer =
        ScriptedPeer::join_with(connect(address), &key(8), node.network.id(), &capabilities, genesis.as_slice());
    let repeated: Vec<B256> = hashes.iter().cycle().take(512).copied().collect();
    for id in 0..200 {
        let request = RhzMessage::BodiesRequest { id, hashes: repeated.clone() };
        peer.send(codes::RHIZOME + request.number(), &request.encode());
    }
    let answer = || node.network.peer(&key(8).id()).map_or(0, |peer| peer.waiting()[1].0);
    wait("an answer in the queue", || answer() > 1 << 20);
    std::thread::sleep(Duration::from_millis(500));
    // The next answer waits in the queue until the socket has taken the one before.
    assert!(answer() < 5 << 20 && waiting(&node, &key(8).id()) < PEER_MEMORY / 2);
    let mut other = join(&node, 9);
    still_relays(&node, &mut other);
}

/// Returns a block with work and a wrong state root that depends on `salt`.
fn child(template: &Block, parent: &Header, salt: u64) -> Block {
    child_at(parent.timestamp + 1, template, parent, salt)
}

/// [`child`] with a time.
fn child_at(timestamp: u64, template: &Block, parent: &Header, salt: u64) -> Block {
    let mut header = template.header.clone();
    header.parent_hash = parent.hash().to_vec().into();
    header.number = parent.number + 1;
    header.timestamp = timestamp;
    header.state_root = keccak256(salt.to_be_bytes()).to_vec().into();
    rhizome_pow::solve(&mut header, None, &ChainSpec::regtest(), u32::MAX).unwrap();
    // Without its cached hash.
    Block { header: header.clone(), transactions: template.transactions.clone(), uncles: Vec::new() }
}

#[test]
fn ten_thousand_side_blocks_are_not_executed() {
    let chain = open("a", None);
    for _ in 0..5 {
        chain.mine(NOW).unwrap();
    }
    let block_at = |number| chain.main_block(number).unwrap().unwrap().block.clone();
    let (parent, template) = (block_at(2).header, block_at(3));
    let head = chain.head().hash();
    let node = SyncingNode::start_with(chain, |options| NetworkOptions { key: key(1), ..options });
    let mut sender = join(&node, 8);
    let mut hashes = Vec::new();
    for salt in 0..10_000 {
        let block = child(&template, &parent, salt);
        hashes.push(block.hash());
        send_block(&mut sender, &block);
        assert!(waiting(&node, &key(8).id()) < PEER_MEMORY);
    }
    wait_for("the last block", Duration::from_secs(60), || waiting(&node, &key(8).id()) == 0);
    assert_eq!(node.chain.head().hash(), head);
    // Their state roots are wrong: the first execution would show it.
    assert!(!hashes.iter().any(|hash| node.chain.headers().is_known_invalid(hash)));
    assert_eq!(node.network.peers().len(), 1, "{:?}", node.network.closed());
    still_relays(&node, &mut join(&node, 9));
}

#[test]
fn orphans_without_end_are_bounded() {
    let node = node(1, "a");
    let (mut other, mut sender) = (join(&node, 9), join(&node, 8));
    let template = mined(1).remove(0);
    let mut unknown = template.header.clone();
    for at in 0..2_000_u64 {
        unknown.extra_data = at.to_be_bytes().to_vec().into();
        // Without its cached hash.
        unknown = unknown.clone();
        let orphan = child(&template, &unknown, at);
        send_block(&mut sender, &orphan);
        assert!(waiting(&node, &key(8).id()) < PEER_MEMORY);
    }
    wait("the last block", || waiting(&node, &key(8).id()) == 0);
    let requests = requests(&mut sender);
    assert!((16..=64).contains(&requests), "{requests}");
    assert_eq!((node.chain.head().number(), node.network.peers().len()), (0, 2));
    still_relays(&node, &mut other);
}

#[test]
fn sixteen_blocks_of_the_future_wait_until_they_are_due() {
    let now = Arc::new(AtomicU64::new(NOW));
    let chain = || Chain::open(timed_by(&now)).unwrap();
    // Times more than 20 s ahead of the clock are not allowed.
    let source = chain();
    now.store(NOW + 25, Ordering::Relaxed);
    let good = source.mine(NOW + 25).unwrap().block.clone();
    now.store(NOW, Ordering::Relaxed);
    let genesis = source.main_block(0).unwrap().unwrap().block.header.clone();
    let bad: Vec<Block> = (0..40).map(|salt| child_at(NOW + 40, &good, &genesis, salt)).collect();
    let too_late = child_at(NOW + 3_600, &good, &genesis, 40);
    let node = SyncingNode::start(chain());
    let mut sender = join(&node, 8);
    bad.iter().chain([&good, &too_late]).for_each(|block| send_block(&mut sender, block));
    // A message behind them shows that all were read.
    sender.send(codes::RSK, &RskMessage::BlockHashRequest { id: 1, height: 0 }.encode());
    wait("the last block", || node.network.figures().received.iter().any(|count| count.name == "block_hash_request"));
    wait("the checks", || waiting(&node, &key(8).id()) == 0);
    assert_eq!(node.chain.head().number(), 0);
    now.store(NOW + 10, Ordering::Relaxed);
    wait("the block", || node.chain.head().hash() == good.hash());
    node.chain.mine(NOW).unwrap();
    let stored = || bad.iter().filter(|block| node.chain.headers().has(1, &block.hash()).unwrap()).count();
    assert_eq!(stored(), 0);
    now.store(NOW + 25, Ordering::Relaxed);
    wait("the blocks that waited", || stored() == 15);
    let mut other = join(&node, 9);
    still_relays(&node, &mut other);
    assert_eq!((stored(), node.network.peers().len()), (15, 2), "{:?}", node.network.closed());
    // Their state roots are wrong: the first execution would show it.
    assert!(!bad.iter().any(|block| node.chain.headers().is_known_invalid(&block.hash())));
    assert!(!node.chain.headers().has(1, &too_late.hash()).unwrap());
}
