//! Faulty blocks that honest peers pass on: neither they nor this node are punished for them.

use crate::relay::{join, mined, next, node, send_block};
use crate::scripted_peer::ScriptedPeer;
use crate::support::wait;
use rhizome_primitives::{Block, ChainSpec, Header, U256};
use rhizome_wire::rsk::RskMessage;
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
