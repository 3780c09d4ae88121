//! Relay of blocks and transactions between nodes.

use crate::scripted_peer::{ScriptedPeer, connect};
use crate::support::{key, wait_for};
use crate::sync::{NOW, SyncingNode, open};
use rhizome_net::NetworkOptions;
use rhizome_primitives::rlp::{list, put_bytes, put_u64};
use rhizome_primitives::{Address, Block, Bytes, Transaction, U256, UnsignedTransaction, keccak256};
use rhizome_wire::rsk::{BlockIdentifier, EncodedBlock, EncodedList, RskMessage};
use rhizome_wire::session::{Capability, codes};
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_secs(5);

pub(crate) fn node(fill: u8, name: &'static str) -> SyncingNode {
    SyncingNode::start_with(open(name, None), |options| NetworkOptions { key: key(fill), ..options })
}

/// Starts nodes in a line, each connected to the next one.
fn line(count: u8) -> Vec<SyncingNode> {
    let names = ["a", "b", "c", "d"];
    let nodes: Vec<SyncingNode> = (1..=count).zip(names).map(|(fill, name)| node(fill, name)).collect();
    for pair in nodes.windows(2) {
        pair[0].network.add_peer(pair[1].network.enode().unwrap());
    }
    wait_for("connections", SHORT, || {
        nodes.windows(2).all(|pair| pair.iter().all(|node| !node.network.peers().is_empty()))
    });
    nodes
}

pub(crate) fn join(node: &SyncingNode, fill: u8) -> ScriptedPeer {
    let genesis = node.chain.main_hash(0).unwrap().unwrap();
    let address = node.network.listening().unwrap();
    ScriptedPeer::join_with(connect(address), &key(fill), node.network.id(), &[Capability::rsk()], genesis.as_slice())
}

pub(crate) fn send_block(peer: &mut ScriptedPeer, block: &Block) {
    let encoding = block.encode();
    peer.send(codes::RSK, &RskMessage::Block(EncodedBlock::split(&encoding).unwrap()).encode());
}

/// Waits for a message of rsk/62 other than STATUS.
pub(crate) fn next(peer: &mut ScriptedPeer) -> Vec<u8> {
    loop {
        let frame = peer.receive().unwrap();
        if frame.code == codes::RSK && !matches!(RskMessage::decode(frame.payload()), Ok(RskMessage::Status(_))) {
            return frame.payload().to_vec();
        }
    }
}

/// Blocks of another chain with the same genesis.
pub(crate) fn mined(count: u64) -> Vec<Block> {
    let chain = open("x", None);
    (0..count).map(|_| chain.mine(NOW).unwrap().block.clone()).collect()
}

/// A transfer of the first development account.
pub(crate) fn transfer(nonce: u64) -> Transaction {
    transfer_with(Bytes::new(), nonce)
}

pub(crate) fn transfer_with(data: Bytes, nonce: u64) -> Transaction {
    let unsigned = UnsignedTransaction {
        nonce: U256::from(nonce),
        gas_price: U256::from(1_000_000_000_u64),
        gas_limit: 21_000 + 4 * data.len() as u64,
        to: Some(Address::from_word(keccak256(nonce.to_be_bytes()))),
        value: U256::from(1),
        data,
    };
    Transaction::sign(unsigned, 33, &keccak256("cow")).unwrap()
}

#[test]
fn a_mined_block_reaches_all_nodes() {
    let nodes = line(3);
    let mut times = Vec::new();
    for _ in 0..20 {
        let start = Instant::now();
        let block = nodes[0].chain.mine(NOW).unwrap();
        wait_for("the block", SHORT, || nodes[2].chain.head().hash() == block.hash);
        times.push(start.elapsed());
    }
    times.sort();
    eprintln!("mined and seen two nodes on: median {:?}, last {:?}", times[10], times[19]);
    assert!(times[10] < Duration::from_millis(100));
    // The other way.
    let block = nodes[2].chain.mine(NOW).unwrap();
    wait_for("the block", SHORT, || nodes[0].chain.head().hash() == block.hash);
}

#[test]
fn a_transaction_reaches_all_nodes_once() {
    let nodes = line(3);
    let mut watcher = join(&nodes[2], 9);
    let mut sender = join(&nodes[0], 8);
    let transactions: Vec<Transaction> = (0..3).map(transfer).collect();
    let start = Instant::now();
    let encoded = list(&transactions.iter().flat_map(|one| one.encoded().to_vec()).collect::<Vec<_>>());
    let message = RskMessage::Transactions(EncodedList::decode(&encoded, "transactions").unwrap()).encode();
    sender.send(codes::RSK, &message);
    let mut seen = 0;
    while seen < 3 {
        let payload = next(&mut watcher);
        let RskMessage::Transactions(list) = RskMessage::decode(&payload).unwrap() else { panic!() };
        seen += list.len();
    }
    eprintln!("three transactions seen two nodes on after {:?}", start.elapsed());
    assert!(nodes.iter().all(|node| node.chain.pool().pending().len() == 3));
    // A second copy is not relayed, and the sender gets none: the next message is a block.
    sender.send(codes::RSK, &message);
    let block = nodes[0].chain.mine(NOW).unwrap();
    for peer in [&mut sender, &mut watcher] {
        let payload = next(peer);
        let is_block = match RskMessage::decode(&payload).unwrap() {
            RskMessage::Block(found) => found.encoding() == block.block.encode(),
            RskMessage::NewBlockHashes(found) => found[0].hash == block.hash,
            _ => false,
        };
        assert!(is_block);
    }
}

#[test]
fn the_root_of_the_number_of_peers_gets_the_whole_block() {
    let node = node(1, "a");
    let mut peers: Vec<ScriptedPeer> = (10..19).map(|fill| join(&node, fill)).collect();
    wait_for("the peers", SHORT, || node.network.peers().len() == 9);
    let block = node.chain.mine(NOW).unwrap();
    let mut whole = 0;
    for peer in &mut peers {
        match RskMessage::decode(&next(peer)).unwrap() {
            RskMessage::Block(found) => {
                assert_eq!(found.encoding(), block.block.encode());
                whole += 1;
            }
            RskMessage::NewBlockHashes(found) => {
                assert_eq!(found, [BlockIdentifier { hash: block.hash, number: 1 }]);
                peer.send(codes::RSK, &RskMessage::GetBlock { hash: block.hash }.encode());
                assert!(matches!(RskMessage::decode(&next(peer)).unwrap(), RskMessage::Block(_)));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(whole, 3);
}

#[test]
fn an_announced_block_is_fetched_and_passed_on() {
    let node = node(1, "a");
    let (mut announcer, mut other) = (join(&node, 8), join(&node, 9));
    let block = mined(1).remove(0);
    let identifier = BlockIdentifier { hash: block.hash(), number: 1 };
    announcer.send(codes::RSK, &RskMessage::NewBlockHashes(vec![identifier]).encode());
    let payload = next(&mut announcer);
    assert_eq!(RskMessage::decode(&payload).unwrap(), RskMessage::GetBlock { hash: block.hash() });
    send_block(&mut announcer, &block);
    assert!(matches!(RskMessage::decode(&next(&mut other)).unwrap(), RskMessage::Block(_)));
    wait_for("the block", SHORT, || node.chain.head().hash() == block.hash());
}

#[test]
fn a_block_that_a_peer_keeps_back_is_fetched_from_another() {
    let node = node(1, "a");
    let (mut silent, mut leaving, mut other) = (join(&node, 7), join(&node, 8), join(&node, 9));
    let block = mined(1).remove(0);
    let announcement = RskMessage::NewBlockHashes(vec![BlockIdentifier { hash: block.hash(), number: 1 }]).encode();
    let request = RskMessage::GetBlock { hash: block.hash() };
    silent.send(codes::RSK, &announcement);
    assert_eq!(RskMessage::decode(&next(&mut silent)).unwrap(), request);
    leaving.send(codes::RSK, &announcement);
    assert_eq!(RskMessage::decode(&next(&mut leaving)).unwrap(), request);
    // The silent peer has announced the block, too, but has missed a request.
    other.send(codes::RSK, &announcement);
    drop(leaving);
    assert_eq!(RskMessage::decode(&next(&mut other)).unwrap(), request);
    send_block(&mut other, &block);
    wait_for("the block", SHORT, || node.chain.head().hash() == block.hash());
}

#[test]
fn missing_parents_are_fetched() {
    let node = node(1, "a");
    let mut peer = join(&node, 8);
    let blocks = mined(4);
    send_block(&mut peer, &blocks[3]);
    for at in [2, 1, 0] {
        let payload = next(&mut peer);
        assert_eq!(RskMessage::decode(&payload).unwrap(), RskMessage::GetBlock { hash: blocks[at].hash() });
        send_block(&mut peer, &blocks[at]);
    }
    wait_for("the head", SHORT, || node.chain.head().hash() == blocks[3].hash());
}

#[test]
fn a_block_without_work_is_punished_and_not_relayed() {
    let node = node(1, "a");
    let (mut liar, mut other) = (join(&node, 8), join(&node, 9));
    let mut block = mined(1).remove(0);
    block.header.extra_data = vec![1].into();
    send_block(&mut liar, &block);
    wait_for("the end", Duration::from_secs(1), || node.network.closed().contains_key("punished"));
    let mined = node.chain.mine(NOW).unwrap();
    let payload = next(&mut other);
    let RskMessage::Block(found) = RskMessage::decode(&payload).unwrap() else { panic!() };
    assert_eq!(found.encoding(), mined.block.encode());
}

#[test]
fn a_block_with_another_body_is_punished_if_it_was_not_asked_for() {
    let node = node(1, "a");
    let mut block = mined(1).remove(0);
    block.transactions.push(transfer(0));
    let mut relayer = join(&node, 8);
    let identifier = BlockIdentifier { hash: block.hash(), number: 1 };
    relayer.send(codes::RSK, &RskMessage::NewBlockHashes(vec![identifier]).encode());
    assert!(matches!(RskMessage::decode(&next(&mut relayer)).unwrap(), RskMessage::GetBlock { .. }));
    send_block(&mut relayer, &block);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(node.network.peers().len(), 1);
    let mut miner = join(&node, 9);
    send_block(&mut miner, &block);
    wait_for("the end", Duration::from_secs(1), || node.network.closed().contains_key("punished"));
}

#[test]
fn a_large_block_without_work_costs_little() {
    let node = node(1, "a");
    let mut liar = join(&node, 8);
    let mut block = mined(1).remove(0);
    block.header.extra_data = vec![1].into();
    let transaction = transfer(0);
    let mut transactions = Vec::new();
    for _ in 0..44_000 {
        transactions.extend_from_slice(transaction.encoded());
    }
    let raw = list(&[&block.header.encode()[..], &list(&transactions), &list(&[])].concat());
    let mut body = Vec::new();
    put_bytes(&mut body, &raw);
    let mut message = Vec::new();
    put_u64(&mut message, 2);
    put_bytes(&mut message, &list(&body));
    liar.send(codes::RSK, &list(&list(&message)));
    wait_for("the end", SHORT, || node.network.closed().contains_key("punished"));
}
