//! Checkpoints of the header store (docs/spec/bridge.md, 5.2).
//!
//! A file has one line for each checkpoint that the creation time of a federation can select, in order: height, chain work and
//! header.

use crate::constants::FirstBlock;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::slots::stored_header::StoredHeader;
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::{Network, U256, hex};

const MAINNET: &str = include_str!("mainnet_checkpoints.txt");
const TESTNET: &str = include_str!("testnet_checkpoints.txt");
/// Seconds between the checkpoint and the creation time of the federation, at least.
const WEEK: i64 = 604_800;

/// Decodes the first block of a store.
pub(super) fn first_header(block: &FirstBlock) -> Result<StoredHeader> {
    let header = BitcoinHeader::parse(&block.header).map_err(|_malformed| MethodFailure::Rejected)?;
    Ok(StoredHeader { work: block.work, height: block.height, header })
}

/// Returns the most recent checkpoint that is a week older than `creation`, the creation time of the active federation in
/// milliseconds. The reference takes it for seconds. Without such a checkpoint, and without checkpoints of the network, the
/// genesis block.
pub(super) fn checkpoint_before(ctx: &CallContext<'_>, creation: i64) -> Result<StoredHeader> {
    let genesis = first_header(&ctx.constants.genesis)?;
    if !has_checkpoints(ctx) {
        return Ok(genesis);
    }
    let time = creation.checked_sub(WEEK).filter(|time| *time > i64::from(genesis.header.time()));
    let time = time.ok_or(MethodFailure::Rejected)?;
    checkpoint(ctx.call.network, time).map_or(Ok(genesis), |block| first_header(&block))
}

/// Returns true if the network has checkpoints.
pub(super) fn has_checkpoints(ctx: &CallContext<'_>) -> bool {
    lines_of(ctx.call.network).is_some()
}

/// Returns the most recent checkpoint of a network that is not after `time`, in seconds since 1970.
pub fn checkpoint(network: Network, time: i64) -> Option<FirstBlock> {
    let blocks = lines_of(network)?.lines().filter_map(parse);
    blocks.take_while(|block| i64::from(block.time()) <= time).last()
}

fn lines_of(network: Network) -> Option<&'static str> {
    match network {
        Network::Mainnet => Some(MAINNET),
        Network::Testnet | Network::Testnet2 => Some(TESTNET),
        Network::Regtest | Network::Devnet => None,
    }
}

fn parse(line: &str) -> Option<FirstBlock> {
    let mut fields = line.split(' ');
    Some(FirstBlock {
        height: fields.next()?.parse().ok()?,
        work: U256::from_str_radix(fields.next()?, 16).ok()?,
        header: hex::decode(fields.next()?).ok()?.try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_in_the_order_of_time() {
        for (network, count, first, last) in
            [(Network::Mainnet, 1, 499_968, 499_968), (Network::Testnet, 51, 1_413_216, 1_514_016)]
        {
            let blocks: Vec<FirstBlock> = lines_of(network).unwrap().lines().map(|line| parse(line).unwrap()).collect();
            assert_eq!(blocks.len(), count);
            assert!(blocks.is_sorted_by_key(FirstBlock::time) && blocks.is_sorted_by_key(|block| block.work));
            assert_eq!(checkpoint(network, i64::from(blocks[0].time())).unwrap().height, first);
            assert!(checkpoint(network, i64::from(blocks[0].time()) - 1).is_none());
            assert_eq!(checkpoint(network, i64::MAX).unwrap().height, last);
        }
    }
}
