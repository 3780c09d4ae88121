//! Work of the synchronization that takes more than a millisecond. It never runs on the threads of the network.

use super::peers::PeerKey;
use super::task::SyncWork;
use crate::peer::events::{MessageKind, PeerMessage};
use crate::requests::BackgroundWork;
use crate::verified_blocks::join;
use rayon::prelude::*;
use rhizome_chain::{Chain, ChainError, ChainedHeader, HeaderFault, HeaderRun, PreparedBlock};
use rhizome_primitives::{B256, DecodeError, Header};
use rhizome_wire::rhz::{self, RhzMessage};
use rhizome_wire::rsk::{BlockIdentifier, EncodedBlock, EncodedBody, RskMessage, RskMessageError};
use std::collections::HashMap;
use std::sync::Arc;

/// Fault of an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AnswerFault {
    #[error(transparent)]
    Message(#[from] RskMessageError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Header(#[from] HeaderFault),
    /// Not the headers that were asked for.
    #[error("the headers are not those asked for")]
    OtherHeaders,
}

/// Header of a requested block.
pub(super) type RequestedHeader = (BlockIdentifier, Arc<ChainedHeader>);

/// Requested block in an answer.
pub(super) enum DeliveredBlock {
    Block(Box<PreparedBlock>),
    /// The body does not belong to the header.
    Wrong,
    /// The peer does not have the block.
    Unknown,
    /// The answer ended before, at its size limit.
    Left,
}

/// Result of adding a chunk.
pub(super) struct AppendedHeaders {
    /// The last verified header.
    pub(super) base: Arc<ChainedHeader>,
    /// Headers that are not part of the best header chain yet.
    pub(super) candidate: Vec<Arc<ChainedHeader>>,
    /// Number of new headers.
    pub(super) count: usize,
    /// Number of the first header of the branch that the best header chain has switched to.
    pub(super) switched_at: Option<u64>,
}

/// Reason why a chunk was not added.
#[derive(Debug, thiserror::Error)]
pub(super) enum AppendError {
    #[error(transparent)]
    Fault(#[from] HeaderFault),
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// Decodes and verifies the headers of an answer.
pub(super) fn verify_headers(
    background: &BackgroundWork<SyncWork>,
    key: PeerKey,
    message: PeerMessage,
    end: BlockIdentifier,
    count: u32,
) {
    background.start(move |chain| {
        let result = header_run(chain, &message, &end, count);
        SyncWork::Headers { key, end, result }
    });
}

fn header_run(
    chain: &Chain,
    message: &PeerMessage,
    end: &BlockIdentifier,
    count: u32,
) -> Result<HeaderRun, AnswerFault> {
    let RskMessage::BlockHeadersResponse { headers, .. } = RskMessage::decode(message.payload())? else {
        return Err(AnswerFault::OtherHeaders);
    };
    if headers.len() != count as usize {
        return Err(AnswerFault::OtherHeaders);
    }
    let mut headers: Vec<Header> = headers.compressed_headers(chain.spec()).collect::<Result<_, _>>()?;
    headers.reverse();
    let run = HeaderRun::verify(headers, chain.spec(), chain.config().clock.now())?;
    if run.positions().last() != Some((end.number, end.hash)) {
        return Err(AnswerFault::OtherHeaders);
    }
    Ok(run)
}

/// Adds a verified chunk to the best header chain, or to the branch of the round as long as that is lighter. `may_tie`: the last
/// chunk; a branch of the same weight is taken, because uncles may decide.
pub(super) fn append_headers(
    background: &BackgroundWork<SyncWork>,
    (round, key): (u64, PeerKey),
    base: Arc<ChainedHeader>,
    candidate: Vec<Arc<ChainedHeader>>,
    run: HeaderRun,
    may_tie: bool,
) {
    background.start(move |chain| {
        let result = append(chain, base, candidate, run, may_tie);
        SyncWork::Appended { round, key, result }
    });
}

fn append(
    chain: &Chain,
    mut base: Arc<ChainedHeader>,
    mut candidate: Vec<Arc<ChainedHeader>>,
    run: HeaderRun,
    may_tie: bool,
) -> Result<AppendedHeaders, AppendError> {
    let headers = chain.headers();
    let mut known = 0;
    if candidate.is_empty() {
        for (number, hash) in run.positions() {
            let Some(header) = headers.find(number, &hash)? else { break };
            base = header;
            known += 1;
        }
    }
    let attached = headers.attach(&base, run.skip(known))?;
    let count = attached.len();
    base = attached.last().map_or(base, Arc::clone);
    candidate.extend(attached);
    let first = candidate.first().map(|first| (first.header.number, first.header.parent()));
    let tip = headers.tip().map_or_else(|| chain.head().hash(), |tip| tip.hash);
    let is_extension = first.is_some_and(|(_, parent)| parent == Some(tip));
    let mut switched_at = None;
    if is_extension || headers.is_heavier(&candidate, may_tie)? {
        headers.adopt(&candidate)?;
        candidate.clear();
        switched_at = first.map(|(number, _)| number).filter(|_| !is_extension);
    }
    Ok(AppendedHeaders { base, candidate, count, switched_at })
}

/// Joins the bodies of an answer with their headers, or decodes whole blocks.
pub(super) fn verify_blocks(
    background: &BackgroundWork<SyncWork>,
    key: PeerKey,
    message: PeerMessage,
    blocks: Vec<RequestedHeader>,
) {
    background.start(move |chain| {
        let identifiers: Vec<BlockIdentifier> = blocks.iter().map(|(identifier, _)| *identifier).collect();
        let result = delivered(chain, &message, blocks);
        SyncWork::Blocks { key, identifiers, result }
    });
}

fn delivered(
    chain: &Chain,
    message: &PeerMessage,
    blocks: Vec<RequestedHeader>,
) -> Result<Vec<DeliveredBlock>, RskMessageError> {
    let join_all = |bodies: Vec<Option<EncodedBody<'_>>>| {
        let join_one = |((_, header), body): (&RequestedHeader, &Option<EncodedBody<'_>>)| match body {
            Some(body) => {
                let joined = join(chain, &header.header, body);
                joined.map_or(DeliveredBlock::Wrong, |block| DeliveredBlock::Block(Box::new(block)))
            }
            None => DeliveredBlock::Unknown,
        };
        let mut delivered: Vec<DeliveredBlock> = blocks.par_iter().zip(&bodies).map(join_one).collect();
        delivered.resize_with(blocks.len(), || DeliveredBlock::Left);
        delivered
    };
    if let MessageKind::Rhizome(number) = message.kind {
        let RhzMessage::Bodies { bodies, .. } = RhzMessage::decode(number, message.payload())? else {
            return Ok(Vec::new());
        };
        return Ok(join_all(rhz::bodies(bodies).collect::<Result<_, _>>()?));
    }
    match RskMessage::decode(message.payload())? {
        RskMessage::BodyResponse { body, .. } => Ok(join_all(vec![Some(body)])),
        RskMessage::SnapBlocksResponse { blocks: whole, .. } => {
            let encoded: Vec<EncodedBlock<'_>> =
                whole.blocks().map(|block| block.map(|(block, _)| block)).collect::<Result<_, _>>()?;
            let mut decoded: HashMap<B256, DeliveredBlock> =
                encoded.par_iter().filter_map(|block| wanted(chain, block, &blocks)).collect();
            let take = |(identifier, _): &RequestedHeader| decoded.remove(&identifier.hash);
            Ok(blocks.iter().map(take).map(|block| block.unwrap_or(DeliveredBlock::Unknown)).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// Decodes a block if it was asked for. The chain of a snap server may have changed, so another block is no fault.
fn wanted(chain: &Chain, block: &EncodedBlock<'_>, blocks: &[RequestedHeader]) -> Option<(B256, DeliveredBlock)> {
    let header = block.header(chain.spec()).ok()?;
    let hash = header.hash();
    blocks.iter().find(|(identifier, _)| identifier.hash == hash)?;
    let joined = PreparedBlock::join(&header, block.transactions().encoding(), block.uncles().encoding(), chain.spec());
    Some((hash, joined.map_or(DeliveredBlock::Wrong, |block| DeliveredBlock::Block(Box::new(block)))))
}
