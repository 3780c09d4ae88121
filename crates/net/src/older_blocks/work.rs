//! Work of the download that takes more than a millisecond. It never runs on the threads of the network.

use crate::peer::PeerKey;
use crate::peer::events::{MessageKind, PeerMessage};
use crate::requests::BackgroundWork;
use crate::verified_blocks::{join, linked_blocks, linked_headers};
use rayon::prelude::*;
use rhizome_chain::{ChainError, OldestBlock, PreparedBlock};
use rhizome_primitives::{B256, Header};
use rhizome_wire::rhz::{self, RhzMessage};
use rhizome_wire::rsk::{EncodedBody, RskMessage};
use std::sync::Arc;

/// Headers of a batch with their hashes, descending.
pub(super) type BatchHeaders = Arc<Vec<(Header, B256)>>;

/// Result of work outside of the task.
pub(super) enum OlderWork {
    /// The lowest stored block, after a read or a write.
    Oldest(Result<Option<OldestBlock>, ChainError>),
    /// The lowest stored block after whole blocks of an answer were written, and how many of them fitted.
    Blocks { key: PeerKey, stored: usize, result: Result<Option<OldestBlock>, ChainError> },
    /// Headers of an answer; `None` if they are not those asked for.
    Headers { key: PeerKey, headers: Option<Vec<(Header, B256)>> },
    /// Bodies of an answer, by index in the batch.
    Bodies { key: PeerKey, batch: u64, bodies: Vec<(usize, DeliveredBody)> },
}

/// Requested body in an answer.
pub(super) enum DeliveredBody {
    Block(Box<PreparedBlock>),
    /// It does not belong to the header.
    Wrong,
    /// The peer does not have the block, or the answer ended before.
    Missing,
}

/// Reads the lowest stored block.
pub(super) fn read_oldest(background: &BackgroundWork<OlderWork>) {
    background.start(|chain| OlderWork::Oldest(chain.oldest_block()));
}

/// Writes the blocks of a batch, descending.
pub(super) fn store(background: &BackgroundWork<OlderWork>, blocks: Vec<PreparedBlock>) {
    background.start(move |chain| {
        OlderWork::Oldest(chain.add_older_blocks(&blocks).and_then(|_stored| chain.oldest_block()))
    });
}

/// Verifies and writes whole blocks of an answer, those below a block.
pub(super) fn store_blocks(
    background: &BackgroundWork<OlderWork>,
    key: PeerKey,
    message: PeerMessage,
    above: OldestBlock,
) {
    background.start(move |chain| {
        let next = (above.number.saturating_sub(1), above.parent);
        let linked = match RskMessage::decode(message.payload()) {
            Ok(RskMessage::SnapBlocksResponse { blocks, .. }) => linked_blocks(chain, &blocks, next),
            _ => Vec::new(),
        };
        let linked: Vec<PreparedBlock> = linked.into_iter().map(|(block, _)| block).collect();
        let written = chain.add_older_blocks(&linked);
        let stored = *written.as_ref().unwrap_or(&0);
        OlderWork::Blocks { key, stored, result: written.and_then(|_stored| chain.oldest_block()) }
    });
}

/// Verifies the headers of an answer.
pub(super) fn verify_headers(
    background: &BackgroundWork<OlderWork>,
    key: PeerKey,
    message: PeerMessage,
    first: B256,
    count: u32,
) {
    background.start(move |chain| {
        let headers = match message.kind {
            MessageKind::Rsk => match RskMessage::decode(message.payload()) {
                Ok(RskMessage::BlockHeadersResponse { headers, .. }) => Some(headers),
                _ => None,
            },
            MessageKind::Rhizome(number) => match RhzMessage::decode(number, message.payload()) {
                Ok(RhzMessage::Headers { headers, .. }) => Some(headers),
                _ => None,
            },
        };
        let headers = headers.and_then(|headers| linked_headers(chain, headers, first, count as usize));
        OlderWork::Headers { key, headers }
    });
}

/// Joins the bodies of an answer with their headers. `indexes`: those asked for.
pub(super) fn join_bodies(
    background: &BackgroundWork<OlderWork>,
    (key, batch): (PeerKey, u64),
    message: PeerMessage,
    headers: BatchHeaders,
    indexes: Vec<usize>,
) {
    background.start(move |chain| {
        let received = bodies_of(&message);
        let join_one = |(at, index): (usize, usize)| {
            let body = match (received.get(at), headers.get(index)) {
                (Some(Some(body)), Some((header, _))) => match join(chain, header, body) {
                    Some(block) => DeliveredBody::Block(Box::new(block)),
                    None => DeliveredBody::Wrong,
                },
                _ => DeliveredBody::Missing,
            };
            (index, body)
        };
        let bodies = indexes.into_par_iter().enumerate().map(join_one).collect();
        OlderWork::Bodies { key, batch, bodies }
    });
}

/// Splits the bodies of an answer; `None`: the peer does not have the block. Ends before a malformed one.
fn bodies_of(message: &PeerMessage) -> Vec<Option<EncodedBody<'_>>> {
    match message.kind {
        MessageKind::Rsk => match RskMessage::decode(message.payload()) {
            Ok(RskMessage::BodyResponse { body, .. }) => vec![Some(body)],
            _ => Vec::new(),
        },
        MessageKind::Rhizome(number) => match RhzMessage::decode(number, message.payload()) {
            Ok(RhzMessage::Bodies { bodies, .. }) => rhz::bodies(bodies).map_while(Result::ok).collect(),
            _ => Vec::new(),
        },
    }
}
