//! A sequence of blocks in which one is wrong, while others are already executed on top of it.

use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_chain::{Chain, ImportOutcome, ProvenBlocks, StreamedBlock};
use rhizome_pow::solve;
use rhizome_primitives::{B256, Block, ChainSpec, Header};

use crate::{config, lines, raw, spec, temporary, with_state};

const CHAIN: &str = "min-gas";
const BLOCKS: usize = 8;

/// Empty blocks on the genesis.
fn mined() -> Vec<Block> {
    let chain = temporary(CHAIN);
    let now = chain.config().clock.now();
    (0..BLOCKS).map(|_| chain.mine(now).unwrap().block.clone()).collect()
}

/// Changes one of the blocks, and builds the later ones on it. Behind a wrong state root all state roots are wrong.
fn spoiled(blocks: &[Block], wrong: usize, spoil: fn(&mut Header), spec: &ChainSpec) -> Vec<Block> {
    let mut blocks = blocks.to_vec();
    let root = blocks[wrong].header.state_root.clone();
    spoil(&mut blocks[wrong].header);
    let has_wrong_root = blocks[wrong].header.state_root != root;
    let mut parent = None;
    for block in &mut blocks[wrong..] {
        if let Some(parent) = parent {
            block.header.parent_hash = B256::into(parent);
            if has_wrong_root {
                block.header.state_root = vec![8; 32].into();
            }
        }
        solve(&mut block.header, None, spec, u32::MAX).unwrap();
        // A clone does not cache the hash from before the proof of work.
        block.header = block.header.clone();
        parent = Some(block.hash());
    }
    blocks
}

fn outcomes(chain: &Chain, blocks: &[Block]) -> Vec<&'static str> {
    let mut outcomes = Vec::new();
    let raws = blocks.iter().map(Block::encode);
    let on_block = |block: StreamedBlock| {
        outcomes.push(block.result.as_ref().map_or("", ImportOutcome::name));
        ControlFlow::Continue(())
    };
    chain.import_stream(raws, on_block).unwrap();
    outcomes
}

const SPOILERS: [fn(&mut Header); 3] = [
    |header| header.state_root = vec![7; 32].into(),
    |header| header.receipts_root = vec![7; 32].into(),
    |header| header.gas_used += 1,
];

/// Opens a chain with the current trie nodes, whose blocks are imported in groups.
fn current_nodes(chain: &str) -> Arc<Chain> {
    let mut config = config(spec(chain), None);
    config.proven_blocks = ProvenBlocks::Last(6);
    config.grouped_from = 1;
    Chain::open(config).unwrap()
}

#[test]
fn blocks_executed_on_a_wrong_block_are_dropped() {
    for (open, wrong_block) in
        [(temporary as fn(&str) -> Arc<Chain>, 2), (current_nodes, 2), (current_nodes, 0), (current_nodes, 7)]
    {
        for spoil in SPOILERS {
            let chain = open(CHAIN);
            let right = mined();
            let wrong = spoiled(&right, wrong_block, spoil, chain.spec());
            let mut expected = vec!["IMPORTED_BEST"; wrong_block];
            let after = |rest| BLOCKS - wrong_block - rest;
            expected.push("INVALID_BLOCK");
            expected.extend(vec!["NO_PARENT"; after(1)]);
            // In one sequence: the right blocks above the wrong ones, and wrong ones again.
            let sequence = [&wrong[..], &right[wrong_block..], &wrong[wrong_block..]].concat();
            expected.extend(vec!["IMPORTED_BEST"; after(0)]);
            expected.push("INVALID_BLOCK");
            expected.extend(vec!["NO_PARENT"; after(1)]);
            assert_eq!(outcomes(&chain, &sequence), expected);
            assert_eq!(chain.head().hash(), right[BLOCKS - 1].hash());
            // The importer continues from the right state.
            chain.mine(chain.config().clock.now()).unwrap();
            assert_eq!(chain.head().number(), BLOCKS as u64 + 1);
        }
    }
}

/// The first wrong block is named for its own fault, also if blocks behind it have other faults.
#[test]
fn the_first_wrong_block_of_a_group_is_named() {
    let blocks = mined();
    for (first, second) in [(0, 1), (1, 5), (3, 4), (6, 7)] {
        for (spoil_first, fault) in SPOILERS.into_iter().zip(["state root", "receipts root", "gas used"]) {
            for spoil_second in SPOILERS {
                let chain = current_nodes(CHAIN);
                let wrong = spoiled(&blocks, first, spoil_first, chain.spec());
                let wrong = spoiled(&wrong, second, spoil_second, chain.spec());
                let mut invalid = Vec::new();
                let on_block = |block: StreamedBlock| {
                    if let Ok(ImportOutcome::Invalid(reason)) = &block.result {
                        invalid.push((block.number, reason.to_string()));
                    }
                    ControlFlow::Continue(())
                };
                chain.import_stream(wrong.iter().map(Block::encode), on_block).unwrap();
                assert!(
                    matches!(&invalid[..], [(Some(number), reason)] if *number == first as u64 + 1 && reason.starts_with(fault)),
                    "{invalid:?}"
                );
                assert_eq!(chain.head().number(), first as u64);
            }
        }
    }
}

#[test]
fn groups_lead_to_the_same_chain() {
    let blocks: Vec<Vec<u8>> = lines("uncles-and-reorgs.arrivals.txt.gz").iter().map(|line| raw(line)).collect();
    let chains = [temporary, current_nodes].map(|open| open("uncles-and-reorgs"));
    for chain in &chains {
        chain.import_stream(blocks.iter().cloned(), |_| ControlFlow::Continue(())).unwrap();
    }
    let [alone, grouped] = &chains;
    let head = alone.head();
    assert_eq!(grouped.head().hash(), head.hash());
    for number in 0..=head.number() {
        let [hash, other] = [alone, grouped].map(|chain| chain.main_hash(number).unwrap().unwrap());
        assert_eq!(hash, other);
        let [receipts, others] = [alone, grouped].map(|chain| format!("{:?}", chain.receipts(&hash).unwrap()));
        assert_eq!(receipts, others, "block {number}");
    }
    let verified = grouped.verify(with_state(0, head.number()), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verified.difference, None);
}
