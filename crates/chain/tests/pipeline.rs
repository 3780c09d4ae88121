//! A sequence of blocks in which one is wrong, while others are already executed on top of it.

use std::ops::ControlFlow;

use rhizome_chain::{Chain, ImportOutcome};
use rhizome_pow::solve;
use rhizome_primitives::{B256, Block, ChainSpec, Header};

use crate::temporary;

const CHAIN: &str = "min-gas";
const BLOCKS: usize = 8;

/// Empty blocks on the genesis.
fn mined() -> Vec<Block> {
    let chain = temporary(CHAIN);
    let now = chain.config().clock.now();
    (0..BLOCKS).map(|_| chain.mine(now).unwrap().block.clone()).collect()
}

/// Changes one of the blocks, and builds the later ones on it.
fn spoiled(blocks: &[Block], wrong: usize, spoil: fn(&mut Header), spec: &ChainSpec) -> Vec<Block> {
    let mut blocks = blocks.to_vec();
    spoil(&mut blocks[wrong].header);
    let mut parent = None;
    for block in &mut blocks[wrong..] {
        if let Some(parent) = parent {
            block.header.parent_hash = B256::into(parent);
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
    let on_block = |block: rhizome_chain::StreamedBlock| {
        outcomes.push(block.result.as_ref().map_or("", ImportOutcome::name));
        ControlFlow::Continue(())
    };
    chain.import_stream(raws, on_block).unwrap();
    outcomes
}

#[test]
fn blocks_executed_on_a_wrong_block_are_dropped() {
    let spoilers: [fn(&mut Header); 3] = [
        |header| header.state_root = vec![7; 32].into(),
        |header| header.receipts_root = vec![7; 32].into(),
        |header| header.gas_used += 1,
    ];
    for spoil in spoilers {
        let chain = temporary(CHAIN);
        let right = mined();
        let wrong = spoiled(&right, 2, spoil, chain.spec());
        let mut expected = vec!["NO_PARENT"; BLOCKS];
        expected[..3].copy_from_slice(&["IMPORTED_BEST", "IMPORTED_BEST", "INVALID_BLOCK"]);
        // In one sequence: the right blocks above the wrong ones, and wrong ones again.
        let sequence = [&wrong[..], &right[2..], &wrong[2..]].concat();
        expected.extend(["IMPORTED_BEST"; BLOCKS - 2]);
        expected.push("INVALID_BLOCK");
        expected.extend(["NO_PARENT"; BLOCKS - 3]);
        assert_eq!(outcomes(&chain, &sequence), expected);
        assert_eq!(chain.head().hash(), right[BLOCKS - 1].hash());
        // The importer continues from the right state.
        chain.mine(chain.config().clock.now()).unwrap();
        assert_eq!(chain.head().number(), BLOCKS as u64 + 1);
    }
}
