//! Faulty blocks that honest peers pass on: neither they nor this node are punished for them.

use crate::relay::{join, mined, next, node, send_block};
use crate::scripted_peer::ScriptedPeer;
use crate::support::wait;
use crate::sync::{NOW, SyncingNode};
use crate::sync_faults::timed_by;
use rhizome_chain::Chain;
use rhizome_primitives::rlp::{decode_list, list, put_bytes, put_u64};
use rhizome_primitives::{B256, Block, ChainSpec, Header, U256, keccak256};
use rhizome_wire::rsk::{BlockIdentifier, RskMessage, types};
use rhizome_wire::session::codes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time in which a node would have acted on a block.
const MOMENT: Duration = Duration::from_millis(300);

/// Returns a block with a changed header and proof of work.
fn changed(mut block: Block, change: impl FnOnce(&mut Header)) -> Block {
    change(&mut block.header);
    block.header.forget_hash();
    rhizome_pow::solve(&mut block.header, None, &ChainSpec::regtest(), u32::MAX).unwrap();
    block.header.forget_hash();
    block
}

/// Sends the parts of a block as they are.
fn send_parts(peer: &mut ScriptedPeer, header: &[u8], transactions: &[u8], uncles: &[u8]) {
    let (mut body, mut message) = (Vec::new(), Vec::new());
    put_bytes(&mut body, &list(&[header, &list(transactions), &list(uncles)].concat()));
    put_u64(&mut message, u64::from(types::BLOCK));
    put_bytes(&mut message, &list(&body));
    peer.send(codes::RSK, &list(&list(&message)));
}

/// Announces a block, and waits until it is asked for.
fn announce(peer: &mut ScriptedPeer, block: &Block) {
    let identifier = BlockIdentifier { hash: block.hash(), number: block.header.number };
    peer.send(codes::RSK, &RskMessage::NewBlockHashes(vec![identifier]).encode());
    assert_eq!(RskMessage::decode(&next(peer)).unwrap(), RskMessage::GetBlock { hash: block.hash() });
}

/// Returns the hash of the next block that a peer receives.
fn next_block(peer: &mut ScriptedPeer) -> B256 {
    match RskMessage::decode(&next(peer)).unwrap() {
        RskMessage::Block(block) => block.header(&ChainSpec::regtest()).unwrap().hash(),
        RskMessage::NewBlockHashes(blocks) => blocks[0].hash,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_that_cannot_be_read_is_not_punished() {
    let node = node(1, "a");
    let mut relayer = join(&node, 8);
    let block = mined(1).remove(0);
    announce(&mut relayer, &block);
    // The reference relays a block before it looks at its transactions.
    send_parts(&mut relayer, &block.header.encode(), &list(&[0x80; 9]).repeat(70_000), &[]);
    // It reads a header of version 0 at any height, but writes no version then.
    let other = changed(block.clone(), |header| header.version = 0);
    announce(&mut relayer, &other);
    send_block(&mut relayer, &other);
    std::thread::sleep(MOMENT);
    assert_eq!((node.network.peers().len(), node.network.closed().get("punished")), (1, None));
    // This one was not asked.
    let mut liar = join(&node, 9);
    send_block(&mut liar, &other);
    wait("the end", || node.network.closed().contains_key("punished"));
    send_block(&mut relayer, &block);
    wait("the block", || node.chain.head().hash() == block.hash());
}

#[test]
fn a_block_that_peers_could_not_read_is_not_passed_on() {
    let node = node(1, "a");
    let mut watcher = join(&node, 9);
    let block = mined(1).remove(0);
    let transactions = block.transactions[0].encoded();
    // Received with their version, they would be sent without.
    let header = changed(block.clone(), |header| header.version = 0).header;
    send_parts(&mut join(&node, 7), &with_version(&header), transactions, &[]);
    let uncle = with_version(&header);
    let nephew = changed(block.clone(), |header| header.uncles_hash = keccak256(list(&uncle)).to_vec().into()).header;
    send_parts(&mut join(&node, 8), &nephew.encode(), transactions, &uncle);
    std::thread::sleep(MOMENT);
    let mut sender = join(&node, 10);
    send_block(&mut sender, &block);
    assert_eq!(next_block(&mut watcher), block.hash());
}

/// Returns the full form of a header of version 0 as its sender writes it, with the version.
fn with_version(header: &Header) -> Vec<u8> {
    let encoding = header.encode();
    let item = decode_list(&encoding).unwrap();
    let mut elements: Vec<&[u8]> = item.list("header").unwrap().iter().map(|element| element.encoding()).collect();
    let version = 16 + usize::from(header.umm_root.is_some());
    elements.insert(version, &[0]);
    list(&elements.concat())
}

#[test]
fn a_block_at_the_limit_of_the_clock_waits_for_peers_with_another_clock() {
    let now = Arc::new(AtomicU64::new(NOW));
    let chain = || Chain::open(timed_by(&now)).unwrap();
    // Times more than 20 s ahead of the clock are not allowed.
    let block = chain().mine(NOW + 20).unwrap().block.clone();
    let node = SyncingNode::start(chain());
    let (mut sender, mut watcher) = (join(&node, 8), join(&node, 9));
    send_block(&mut sender, &block);
    std::thread::sleep(MOMENT);
    let mined = node.chain.mine(NOW).unwrap();
    assert_eq!(next_block(&mut watcher), mined.hash);
    now.store(NOW + 5, Ordering::Relaxed);
    assert_eq!(next_block(&mut watcher), block.hash());
    assert_eq!(node.network.peers().len(), 2, "{:?}", node.network.closed());
}

#[test]
fn a_block_of_a_peer_that_is_gone_is_not_the_fault_of_the_next_one() {
    let blocks = mined(10);
    for at in 0..9 {
        let node = node(1, "a");
        let mut honest = join(&node, 9);
        blocks[..at].iter().for_each(|block| send_block(&mut honest, block));
        wait("the blocks", || node.chain.head().number() == at as u64);
        let mut liar = join(&node, 8);
        // The difficulty shows only beside the parent.
        let orphan = changed(blocks[at + 1].clone(), |header| header.difficulty = Some(U256::from(7)));
        send_orphan(&mut liar, &orphan);
        drop((liar, honest));
        wait("the end of the peers", || node.network.peers().is_empty());
        let mut next: Vec<ScriptedPeer> = (20..24).map(|fill| join(&node, fill)).collect();
        send_block(&mut next[0], &blocks[at]);
        wait("the parent", || node.chain.head().hash() == blocks[at].hash());
        std::thread::sleep(MOMENT);
        assert_eq!((node.network.peers().len(), node.network.closed().get("punished")), (4, None));
    }
}

/// Sends a block, and waits until its parent is asked for.
fn send_orphan(peer: &mut ScriptedPeer, block: &Block) {
    send_block(peer, block);
    let parent = block.header.parent().unwrap();
    assert_eq!(RskMessage::decode(&next(peer)).unwrap(), RskMessage::GetBlock { hash: parent });
}
