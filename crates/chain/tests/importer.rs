//! Branches, invalid blocks and the order of checks, as far as other parts of the node see them.

use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_chain::{Chain, ChainConfig, ImportOutcome, PreparedBlock};
use rhizome_pow::solve;
use rhizome_primitives::{Block, Bytes, ChainSpec};

use crate::{config, outcomes, with_state};

const NOW: u64 = 1_700_000_000;

fn open(name: &'static str) -> Arc<Chain> {
    let extra_data = Bytes::from_static(name.as_bytes());
    Chain::open(ChainConfig { extra_data, ..config(ChainSpec::regtest(), None) }).unwrap()
}

fn mined(name: &'static str, count: usize) -> Vec<Block> {
    let chain = open(name);
    (0..count).map(|_| chain.mine(NOW).unwrap().block.clone()).collect()
}

fn executed_side_blocks(chain: &Chain, blocks: &[Block]) -> usize {
    let records = blocks.iter().map(|block| chain.block(&block.hash()).unwrap().unwrap());
    records.filter(|record| record.is_executed()).count()
}

fn resolved(mut block: Block, spec: &ChainSpec) -> Block {
    solve(&mut block.header, None, spec, u32::MAX).unwrap();
    // A clone does not cache the hash from before.
    block.header = block.header.clone();
    block
}

#[test]
fn a_branch_is_executed_when_it_can_win() {
    let chain = open("");
    let (head, branch) = (mined("head", 20), mined("branch", 21));
    assert_eq!(outcomes(&chain, &head), ["IMPORTED_BEST"; 20]);
    let losing = outcomes(&chain, &branch[..19]);
    assert_eq!(losing, ["IMPORTED_NOT_BEST"; 19]);
    assert_eq!(executed_side_blocks(&chain, &branch[..19]), 0);
    outcomes(&chain, &branch[19..]);
    assert_eq!(chain.head().hash(), branch[20].hash());
    assert_eq!(executed_side_blocks(&chain, &branch), 21);
    assert_eq!(chain.blocks_at(5).unwrap().len(), 2, "stored once, written twice");
    let verified = chain.verify(with_state(0, 21), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verified.difference, None);
    // The head that was left can win again.
    let longer = mined("head", 23);
    outcomes(&chain, &longer[20..]);
    assert_eq!(chain.head().hash(), longer[22].hash());
    assert_eq!(chain.mine(NOW).unwrap().number(), 24);
    let verified = chain.verify(with_state(0, 24), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verified.difference, None);
}

#[test]
fn readers_get_the_state_of_a_branch_that_did_not_win() {
    let chain = open("");
    let (head, branch) = (mined("head", 9), mined("branch", 6));
    outcomes(&chain, &head);
    outcomes(&chain, &branch);
    assert_eq!(executed_side_blocks(&chain, &branch), 0);
    let tip = chain.block(&branch[5].hash()).unwrap().unwrap();
    let expected = branch[5].header.state_root.clone();
    assert_eq!(chain.state_trie(&tip).unwrap().root_hash().as_slice(), expected.as_ref());
    assert_eq!(chain.receipts(&branch[5].hash()).unwrap().unwrap().len(), 1, "REMASC");
    assert_eq!(executed_side_blocks(&chain, &branch), 6);
    assert_eq!(chain.head().hash(), head[8].hash());
    assert_eq!(chain.mine(NOW).unwrap().number(), 10);
}

#[test]
fn an_invalid_ancestor_stops_its_branch() {
    let chain = open("");
    let head = mined("head", 6);
    let mut branch = mined("branch", 8);
    branch[2].header.state_root = vec![7; 32].into();
    for index in 2..8 {
        if index > 2 {
            branch[index].header.parent_hash = branch[index - 1].hash().into();
        }
        branch[index] = resolved(branch[index].clone(), chain.spec());
    }
    outcomes(&chain, &head);
    let found = outcomes(&chain, &branch);
    assert_eq!(&found[..5], ["IMPORTED_NOT_BEST"; 5]);
    assert!(found[5..].contains(&"INVALID_BLOCK"), "{found:?}");
    assert_eq!(chain.head().hash(), head[5].hash());
    // The head continues from its own state.
    assert_eq!(chain.mine(NOW).unwrap().number(), 7);
    let verified = chain.verify(with_state(0, 7), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verified.difference, None);
}

#[test]
fn a_known_invalid_block_is_rejected_by_its_hash() {
    let chain = open("");
    let mut block = mined("head", 1).remove(0);
    block.header.gas_used += 1;
    let block = resolved(block, chain.spec());
    let import = |block: &Block| match chain.import_prepared(PreparedBlock::new(block.clone())).unwrap() {
        ImportOutcome::Invalid(reason) => reason.to_string(),
        other => panic!("{other:?}"),
    };
    let first = import(&block);
    assert!(first.starts_with("gas used"), "{first}");
    let again = import(&block);
    assert_eq!(again, format!("block {} is known to be invalid: {first}", block.hash()));
    // A replaced state may make it valid.
    chain.rewind(0).unwrap();
    assert_eq!(import(&block), first);
}

#[test]
fn mining_does_not_wait_behind_the_blocks_of_a_source() {
    let blocks = mined("source", 3_000);
    let chain = open("miner");
    let source = Arc::clone(&chain);
    let feeding = std::thread::spawn(move || {
        let blocks = blocks.into_iter().map(|block| Some(((), PreparedBlock::new(block))));
        source.import_from_peers(blocks, |(), _| ControlFlow::Continue(())).unwrap();
    });
    let mut times = Vec::new();
    while !feeding.is_finished() && times.len() < 20 {
        let start = std::time::Instant::now();
        chain.mine(NOW).unwrap();
        times.push(start.elapsed());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    feeding.join().unwrap();
    times.sort();
    assert!(times[times.len() / 2] < std::time::Duration::from_millis(50), "{times:?}");
}
