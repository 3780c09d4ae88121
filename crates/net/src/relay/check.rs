//! Checks of announced blocks before anything is executed, cheapest first. They run on rayon.

use super::accepted_blocks::AcceptedBlocks;
use crate::standing::ScoreEvent;
use rhizome_chain::{Chain, ChainError, PreparedBlock};
use rhizome_pow::header_rules::timestamp_after_parent;
use rhizome_pow::{HeaderRuleError, check_header, proof_of_work};
use rhizome_primitives::{B256, ChainSpec, keccak256};
use rhizome_wire::rsk::{BlockIdentifier, EncodedBlock, RskMessage};
use rhizome_wire::session::MAX_FRAME_BODY;
use std::iter;

/// Distance above the head up to which blocks are taken: a skeleton of the reference.
pub(super) const MAX_ABOVE: u64 = 192 * 20;
/// Distance below the head up to which blocks are taken.
pub(super) const MAX_BELOW: u64 = 7;
/// Seconds beyond the drift of the network for which a block waits.
const MAX_WAIT: u64 = 30;
/// Seconds for which the clock of a peer may be behind that of this node. The reference bans the sender of a block that is too early by
/// its own clock.
const CLOCK_MARGIN: u64 = 5;
/// Size in bytes of the largest block that fits a frame with the lists and numbers around it.
const MAX_BLOCK_BYTES: usize = MAX_FRAME_BODY - 63;

/// Result of the checks of a block.
pub(super) enum BlockVerdict {
    /// Known, out of range, or not to be decided by this node.
    Ignored,
    /// A fault that an honest peer checks before it relays a block.
    BadHeader(ScoreEvent),
    /// The header names another body. An honest peer may relay such a block, because it relays before the execution.
    BadBody,
    /// Valid, but later than the clock allows until `due`, in seconds.
    Future { block: PreparedBlock, due: u64 },
    /// Has proof of work; its parent is not stored.
    Orphan(PreparedBlock),
    /// Passes all rules about the header and its parent.
    Valid(PreparedBlock),
}

/// An announced block after its checks. `hash` is `None` if the header could not be read.
pub(super) struct JudgedBlock {
    pub(super) hash: Option<B256>,
    pub(super) verdict: BlockVerdict,
}

/// Checks a message BLOCK.
pub(super) fn check_message(chain: &Chain, accepted: &AcceptedBlocks, payload: &[u8]) -> JudgedBlock {
    let malformed = JudgedBlock { hash: None, verdict: BlockVerdict::BadHeader(ScoreEvent::InvalidMessage) };
    let Ok(RskMessage::Block(block)) = RskMessage::decode(payload) else { return malformed };
    let Ok(header) = block.header(chain.spec()) else { return malformed };
    let hash = header.hash();
    let position = BlockIdentifier { hash, number: header.number };
    let verdict = if !is_wanted(chain, accepted, &position) {
        BlockVerdict::Ignored
    } else if proof_of_work(&header, chain.spec()).is_err() {
        BlockVerdict::BadHeader(ScoreEvent::InvalidBlock)
    } else {
        check_body(chain, &block)
    };
    JudgedBlock { hash: Some(hash), verdict }
}

/// Whether a block is near the head, not stored and not known to be invalid.
pub(super) fn is_wanted(chain: &Chain, accepted: &AcceptedBlocks, block: &BlockIdentifier) -> bool {
    let best = chain.head().number();
    let is_near = block.number > 0 && block.number <= best + MAX_ABOVE && block.number + MAX_BELOW >= best;
    let is_new = || !accepted.contains(&block.hash) && !chain.headers().is_known_invalid(&block.hash);
    // A block that cannot be looked up is not asked for.
    is_near && is_new() && chain.headers().has(block.number, &block.hash).is_ok_and(|is_known| !is_known)
}

/// Decodes a block with proof of work, and checks it against its parent.
fn check_body(chain: &Chain, block: &EncodedBlock<'_>) -> BlockVerdict {
    let Ok(prepared) = PreparedBlock::decode(block.encoding(), chain.spec()) else { return BlockVerdict::BadBody };
    let uncles_hash = keccak256(block.uncles().encoding());
    if prepared.block().header.uncles_hash.as_ref() != uncles_hash.as_slice()
        || !can_be_relayed(&prepared, chain.spec())
    {
        return BlockVerdict::BadBody;
    }
    // A failed read is no fault of the block.
    check_parent(chain, prepared).unwrap_or(BlockVerdict::Ignored)
}

/// Whether peers can read the regular encoding of a block. A frame can have more room for another encoding, and the reference closes
/// the connection over a header that it has read, but cannot read again.
fn can_be_relayed(block: &PreparedBlock, spec: &ChainSpec) -> bool {
    let mut headers = iter::once(&block.block().header).chain(&block.block().uncles);
    block.size() <= MAX_BLOCK_BYTES && headers.all(|header| header.survives_encoding(spec))
}

/// Checks a block against its parent and the clock.
pub(super) fn check_parent(chain: &Chain, block: PreparedBlock) -> Result<BlockVerdict, ChainError> {
    let header = &block.block().header;
    let Some(parent_hash) = header.parent() else { return Ok(BlockVerdict::BadHeader(ScoreEvent::InvalidBlock)) };
    let Some(parent) = chain.block(&parent_hash)? else { return Ok(BlockVerdict::Orphan(block)) };
    let parent = &parent.block.header;
    let now = chain.config().clock.now();
    let result = check_header(header, parent, chain.spec(), now.saturating_sub(CLOCK_MARGIN))
        .and_then(|()| timestamp_after_parent(header, parent, chain.spec()));
    Ok(match result {
        Ok(()) => BlockVerdict::Valid(block),
        Err(HeaderRuleError::InTheFuture { timestamp, drift, .. }) => {
            let due = timestamp.saturating_sub(drift).saturating_add(CLOCK_MARGIN);
            if due <= now.saturating_add(MAX_WAIT) {
                BlockVerdict::Future { block, due }
            } else {
                BlockVerdict::Ignored
            }
        }
        // Not checked by the reference before it relays a block.
        Err(HeaderRuleError::GasLimitFloor { .. }) => BlockVerdict::Ignored,
        Err(_) => BlockVerdict::BadHeader(ScoreEvent::InvalidBlock),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_chain::{ChainConfig, DataDir};
    use rhizome_primitives::rlp::{list, put_bytes, put_u64};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    /// Message BLOCK with transactions of 160 bytes.
    fn message(header: &[u8], transactions: usize) -> Vec<u8> {
        let mut transaction = Vec::new();
        put_bytes(&mut transaction, &[7; 156]);
        let encoded = list(&[header, &list(&list(&transaction).repeat(transactions)), &list(&[])].concat());
        let mut body = Vec::new();
        put_bytes(&mut body, &encoded);
        let mut message = Vec::new();
        put_u64(&mut message, 2);
        put_bytes(&mut message, &list(&body));
        list(&list(&message))
    }

    #[test]
    fn a_block_without_work_is_refused_before_its_transactions_are_read() {
        let small = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        let chain = Chain::open(ChainConfig { cache_bytes: 8 << 20, write_buffer_bytes: 8 << 20, ..small }).unwrap();
        let mut header = chain.mine(1_700_000_000).unwrap().block.header.clone();
        header.extra_data = vec![1].into();
        let message = message(&header.encode(), 44_000);
        assert!(message.len() > 6_900_000 && message.len() < 8 << 20);
        let mut shortest = Duration::MAX;
        for _ in 0..5 {
            let start = Instant::now();
            let block = check_message(&chain, &AcceptedBlocks::default(), &message);
            shortest = shortest.min(start.elapsed());
            assert!(matches!(block.verdict, BlockVerdict::BadHeader(ScoreEvent::InvalidBlock)));
        }
        assert!(shortest < Duration::from_millis(10), "{shortest:?}");
        eprintln!("44,000 transactions, {} bytes: {shortest:?}", message.len());
    }

    #[test]
    fn a_rule_that_no_relay_of_the_reference_checks_is_not_punished() {
        let mut spec = ChainSpec::regtest();
        let small = |spec| ChainConfig::new(Arc::new(spec), DataDir::Temporary);
        let chain =
            |spec| Chain::open(ChainConfig { cache_bytes: 8 << 20, write_buffer_bytes: 8 << 20, ..small(spec) });
        let mined = chain(spec.clone()).unwrap().mine(1_700_000_000).unwrap();
        spec.constants.min_gas_limit = u64::MAX;
        let block = PreparedBlock::new(mined.block.clone());
        assert!(matches!(check_parent(&chain(spec).unwrap(), block), Ok(BlockVerdict::Ignored)));
    }
}
