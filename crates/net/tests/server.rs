//! Requests that peers send to a node.

use crate::scripted_peer::{ScriptedPeer, connect};
use crate::support::{key, wait_for};
use crate::sync::{NOW, SyncingNode, config, open};
use rhizome_chain::{Chain, ChainConfig, ProvenBlocks, STATE_CHUNK_BYTES, SnapshotHeights};
use rhizome_net::NetworkOptions;
use rhizome_primitives::{B256, ChainSpec};
use rhizome_wire::rhz::{self, RhzMessage};
use rhizome_wire::rsk::RskMessage;
use rhizome_wire::session::{Capability, Hello, codes};
use std::time::{Duration, Instant};

fn node_with(blocks: u64, serves_snap: bool) -> SyncingNode {
    let chain = open("served", None);
    for _ in 0..blocks {
        chain.mine(NOW).unwrap();
    }
    SyncingNode::start_with(chain, |options| NetworkOptions { serves_snap, ..options })
}

pub(crate) fn join(node: &SyncingNode, capabilities: &[Capability]) -> ScriptedPeer {
    let genesis = node.chain.main_hash(0).unwrap().unwrap();
    let address = node.network.listening().unwrap();
    ScriptedPeer::join_with(connect(address), &key(9), node.network.id(), capabilities, genesis.as_slice())
}

/// Sends a request, then a second request, which is always answered. Returns the message that arrives first.
fn ask(peer: &mut ScriptedPeer, request: &RskMessage<'_>) -> Vec<u8> {
    peer.send(codes::RSK, &request.encode());
    peer.send(codes::RSK, &RskMessage::BlockHashRequest { id: 777, height: 1 }.encode());
    let mut answers = Vec::new();
    loop {
        let frame = peer.receive().unwrap();
        if frame.code != codes::RSK {
            continue;
        }
        let is_last = RskMessage::decode(frame.payload()).unwrap().id() == Some(777);
        answers.push(frame.payload().to_vec());
        if is_last {
            return answers.swap_remove(0);
        }
    }
}

fn is_silent(peer: &mut ScriptedPeer, request: &RskMessage<'_>) -> bool {
    RskMessage::decode(&ask(peer, request)).unwrap().id() == Some(777)
}

#[test]
fn requests_are_answered_as_by_the_reference() {
    let node = node_with(450, false);
    let mut peer = join(&node, &[Capability::rsk()]);
    let hash = |number: u64| node.chain.main_hash(number).unwrap().unwrap();
    let spec = node.chain.spec();

    for height in [0, 1, 450] {
        let answer = ask(&mut peer, &RskMessage::BlockHashRequest { id: 1, height });
        assert_eq!(RskMessage::decode(&answer).unwrap(), RskMessage::BlockHashResponse { id: 1, hash: hash(height) });
    }
    assert!(is_silent(&mut peer, &RskMessage::BlockHashRequest { id: 1, height: 451 }));

    let answer = ask(&mut peer, &RskMessage::BlockHeadersRequest { id: 2, hash: hash(192), count: 192 });
    let RskMessage::BlockHeadersResponse { id: 2, headers } = RskMessage::decode(&answer).unwrap() else { panic!() };
    let headers: Vec<_> = headers.compressed_headers(spec).collect::<Result<_, _>>().unwrap();
    assert_eq!(headers.len(), 192);
    assert!((0..).zip(&headers).all(|(index, header)| header.hash() == hash(192 - index)));
    let answer = ask(&mut peer, &RskMessage::BlockHeadersRequest { id: 2, hash: hash(2), count: 192 });
    let RskMessage::BlockHeadersResponse { headers, .. } = RskMessage::decode(&answer).unwrap() else { panic!() };
    assert_eq!(headers.len(), 3);
    let answer = ask(&mut peer, &RskMessage::BlockHeadersRequest { id: 2, hash: hash(2), count: 0 });
    let RskMessage::BlockHeadersResponse { headers, .. } = RskMessage::decode(&answer).unwrap() else { panic!() };
    assert_eq!(headers.len(), 1);
    assert!(is_silent(&mut peer, &RskMessage::BlockHeadersRequest { id: 2, hash: hash(300), count: 193 }));
    assert!(is_silent(&mut peer, &RskMessage::BlockHeadersRequest { id: 2, hash: B256::ZERO, count: 1 }));

    for (start, numbers) in [(0, &[0, 192, 384, 450][..]), (400, &[384, 450]), (450, &[384, 450])] {
        let answer = ask(&mut peer, &RskMessage::SkeletonRequest { id: 3, start });
        let RskMessage::SkeletonResponse { skeleton, .. } = RskMessage::decode(&answer).unwrap() else { panic!() };
        let found: Vec<_> = skeleton.iter().map(|block| (block.number, block.hash)).collect();
        assert_eq!(found, numbers.iter().map(|&number| (number, hash(number))).collect::<Vec<_>>());
    }
    assert!(is_silent(&mut peer, &RskMessage::SkeletonRequest { id: 3, start: 451 }));

    for number in [0, 7, 450] {
        let block = node.chain.main_block(number).unwrap().unwrap().block.clone();
        let answer = ask(&mut peer, &RskMessage::GetBlock { hash: hash(number) });
        let RskMessage::Block(found) = RskMessage::decode(&answer).unwrap() else { panic!() };
        assert_eq!(found.encoding(), block.encode());
        let answer = ask(&mut peer, &RskMessage::BlockRequest { id: 4, hash: hash(number) });
        let RskMessage::BlockResponse { id: 4, block: found } = RskMessage::decode(&answer).unwrap() else { panic!() };
        assert_eq!(found.encoding(), block.encode());
        let answer = ask(&mut peer, &RskMessage::BodyRequest { id: 5, hash: hash(number) });
        let RskMessage::BodyResponse { id: 5, body } = RskMessage::decode(&answer).unwrap() else { panic!() };
        assert_eq!(body.transactions.len(), block.transactions.len());
        assert_eq!(body.extension().map(<[u8]>::to_vec), block.header.extension_wire());
    }
    for request in [
        RskMessage::GetBlock { hash: B256::ZERO },
        RskMessage::BodyRequest { id: 5, hash: B256::ZERO },
        RskMessage::SnapBlocksRequest { id: 6, number: 400 },
        RskMessage::SnapStatusRequest { id: 6 },
    ] {
        assert!(is_silent(&mut peer, &request), "{request:?}");
    }
}

#[test]
fn whole_blocks_are_served_on_request_of_the_operator() {
    let node = node_with(450, true);
    let mut peer = join(&node, &[Capability::rsk()]);
    let answer = ask(&mut peer, &RskMessage::SnapBlocksRequest { id: 6, number: 450 });
    let RskMessage::SnapBlocksResponse { blocks, .. } = RskMessage::decode(&answer).unwrap() else { panic!() };
    assert_eq!(blocks.len(), 400);
    let last = node.chain.main_block(449).unwrap().unwrap();
    assert_eq!(blocks.difficulties().last(), Some(&last.total_difficulty));
    let (block, _) = blocks.blocks().last().unwrap().unwrap();
    assert_eq!(block.encoding(), last.block.encode());
    assert!(is_silent(&mut peer, &RskMessage::SnapBlocksRequest { id: 6, number: 451 }));
    assert!(is_silent(&mut peer, &RskMessage::SnapBlocksRequest { id: 6, number: 1 }));
    // A short chain has its checkpoint at genesis.
    let answer = ask(&mut peer, &RskMessage::SnapStatusRequest { id: 7 });
    let RskMessage::SnapStatusResponse { blocks, trie_size, .. } = RskMessage::decode(&answer).unwrap() else {
        panic!()
    };
    assert_eq!(blocks.len(), 1);
    assert!(trie_size > 1_000);
}

#[test]
fn states_are_served_in_chunks() {
    let node = node_with(20, true);
    let mut peer = join(&node, &[Capability::rsk()]);
    let snapshot = node.chain.state_snapshot(7).unwrap().unwrap();
    let request = |number, from| RskMessage::StateChunkRequest { id: 8, number, from, chunk_size: 50 };
    let answer = ask(&mut peer, &request(7, 0));
    let RskMessage::StateChunkResponse { id: 8, chunk, number, from, to, is_complete } =
        RskMessage::decode(&answer).unwrap()
    else {
        panic!()
    };
    assert_eq!((number, from, to, is_complete), (7, 0, STATE_CHUNK_BYTES, true));
    assert_eq!(chunk, snapshot.chunk(0).unwrap().unwrap().bytes);
    // Beyond the end of the state, unknown blocks.
    for (number, from) in [(7, STATE_CHUNK_BYTES), (7, i64::MAX as u64), (21, 0), (i64::MAX as u64, 0)] {
        assert!(is_silent(&mut peer, &request(number, from)), "{number} {from}");
    }
}

#[test]
fn snap_is_announced_as_soon_as_there_is_a_state() {
    let dir = tempfile::tempdir().unwrap();
    let announced = |chain| {
        let node = SyncingNode::start_with(chain, |options| NetworkOptions { serves_snap: true, ..options });
        let mut peer = ScriptedPeer::shake(connect(node.network.listening().unwrap()), &key(9), node.network.id());
        peer.hello(4, &[Capability::rsk()]);
        let hello = peer.receive().unwrap();
        assert_eq!(hello.code, codes::HELLO);
        Hello::decode(hello.payload()).unwrap().capabilities.contains(&Capability::snap())
    };
    let current = |snapshots| {
        let settings = config("", ChainSpec::regtest(), Some(dir.path()));
        Chain::open(ChainConfig { proven_blocks: ProvenBlocks::Last(2), snapshots, ..settings }).unwrap()
    };
    assert!(announced(open("all states", None)));
    assert!(!announced(current(None)));
    let chain = current(Some(SnapshotHeights::default()));
    wait_for("a snapshot", Duration::from_secs(20), || chain.state_snapshot(0).unwrap().is_some());
    assert!(announced(chain));
    // Peers ask for that of genesis.
    let later = current(Some(SnapshotHeights { interval: 1, first: 1 }));
    (0..5).for_each(|_| drop(later.mine(NOW).unwrap()));
    let has = |number| later.state_snapshot(number).unwrap().is_some();
    wait_for("later snapshots", Duration::from_secs(20), || has(5) && has(4) && !has(0));
    assert!(!announced(later.clone()));
}

#[test]
fn headers_and_bodies_by_the_hundred() {
    let node = node_with(300, false);
    let mut peer = join(&node, &[Capability::rsk(), Capability::rhizome()]);
    let hash = |number: u64| node.chain.main_hash(number).unwrap().unwrap();
    let mut ask = |request: &RhzMessage<'_>| {
        peer.send(codes::RHIZOME + request.number(), &request.encode());
        loop {
            let frame = peer.receive().unwrap();
            if frame.code >= codes::RHIZOME {
                return (frame.code - codes::RHIZOME, frame.payload().to_vec());
            }
        }
    };
    let (number, payload) = ask(&RhzMessage::HeadersRequest { id: 1, hash: hash(290), count: 1_024 });
    let RhzMessage::Headers { id: 1, headers } = RhzMessage::decode(number, &payload).unwrap() else { panic!() };
    assert_eq!(headers.len(), 291);
    let hashes = vec![hash(1), B256::ZERO, hash(300)];
    let (number, payload) = ask(&RhzMessage::BodiesRequest { id: 2, hashes });
    let RhzMessage::Bodies { id: 2, bodies } = RhzMessage::decode(number, &payload).unwrap() else { panic!() };
    let bodies: Vec<_> = rhz::bodies(bodies).collect::<Result<_, _>>().unwrap();
    assert_eq!(bodies.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
    let (number, payload) = ask(&RhzMessage::HeadersRequest { id: 3, hash: B256::ZERO, count: 5 });
    let RhzMessage::Headers { headers, .. } = RhzMessage::decode(number, &payload).unwrap() else { panic!() };
    assert!(headers.is_empty());
}

#[test]
fn a_malformed_request_is_punished() {
    let node = node_with(1, false);
    let mut peer = join(&node, &[Capability::rsk()]);
    // GET_BLOCK with a hash of 31 bytes.
    let mut payload = RskMessage::GetBlock { hash: B256::ZERO }.encode();
    let length = payload.len();
    payload.truncate(length - 1);
    for prefix in [0, 1, 3, 4] {
        payload[prefix] -= 1;
    }
    payload[5] -= 1;
    peer.send(codes::RSK, &payload);
    wait_for("the end", Duration::from_secs(1), || node.network.closed().contains_key("punished"));
}

#[test]
fn a_second_node_syncs_from_the_first() {
    let first = node_with(2_000, false);
    let second = SyncingNode::start_with(open("", None), |options| NetworkOptions { key: key(2), ..options });
    let start = Instant::now();
    second.network.add_peer(first.network.enode().unwrap());
    let head = first.chain.head().hash();
    wait_for("the head", Duration::from_secs(40), || second.chain.head().hash() == head);
    eprintln!("2,000 blocks in {:?}", start.elapsed());
}
