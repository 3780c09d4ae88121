//! Encoding of messages.

use rhizome_primitives::Block;
use rhizome_primitives::rlp::{list, put_bytes, put_difficulty, put_list_header, put_u64};

use super::block::WeighedBlocks;
use super::identifier::BlockIdentifier;
use super::message::{RskMessage, types};

impl RskMessage<'_> {
    /// Returns the type of the message.
    pub fn kind(&self) -> u8 {
        match self {
            RskMessage::Status(_) => types::STATUS,
            RskMessage::Block(_) => types::BLOCK,
            RskMessage::GetBlock { .. } => types::GET_BLOCK,
            RskMessage::NewBlockHashes(_) => types::NEW_BLOCK_HASHES,
            RskMessage::Transactions(_) => types::TRANSACTIONS,
            RskMessage::BlockHashRequest { .. } => types::BLOCK_HASH_REQUEST,
            RskMessage::BlockHashResponse { .. } => types::BLOCK_HASH_RESPONSE,
            RskMessage::BlockHeadersRequest { .. } => types::BLOCK_HEADERS_REQUEST,
            RskMessage::BlockHeadersResponse { .. } => types::BLOCK_HEADERS_RESPONSE,
            RskMessage::BlockRequest { .. } => types::BLOCK_REQUEST,
            RskMessage::BlockResponse { .. } => types::BLOCK_RESPONSE,
            RskMessage::SkeletonResponse { .. } => types::SKELETON_RESPONSE,
            RskMessage::BodyRequest { .. } => types::BODY_REQUEST,
            RskMessage::BodyResponse { .. } => types::BODY_RESPONSE,
            RskMessage::SkeletonRequest { .. } => types::SKELETON_REQUEST,
            RskMessage::NewBlockHash { .. } => types::NEW_BLOCK_HASH,
            RskMessage::StateChunkRequest { .. } => types::SNAP_STATE_CHUNK_REQUEST,
            RskMessage::StateChunkResponse { .. } => types::SNAP_STATE_CHUNK_RESPONSE,
            RskMessage::SnapStatusRequest { .. } => types::SNAP_STATUS_REQUEST,
            RskMessage::SnapStatusResponse { .. } => types::SNAP_STATUS_RESPONSE,
            RskMessage::SnapBlocksRequest { .. } => types::SNAP_BLOCKS_REQUEST,
            RskMessage::SnapBlocksResponse { .. } => types::SNAP_BLOCKS_RESPONSE,
        }
    }

    /// Returns the id that connects a request with its answer; `None` for messages without one.
    pub fn id(&self) -> Option<u64> {
        match *self {
            RskMessage::Status(_)
            | RskMessage::Block(_)
            | RskMessage::GetBlock { .. }
            | RskMessage::NewBlockHashes(_)
            | RskMessage::Transactions(_)
            | RskMessage::NewBlockHash { .. } => None,
            RskMessage::BlockHashRequest { id, .. }
            | RskMessage::BlockHashResponse { id, .. }
            | RskMessage::BlockHeadersRequest { id, .. }
            | RskMessage::BlockHeadersResponse { id, .. }
            | RskMessage::BlockRequest { id, .. }
            | RskMessage::BlockResponse { id, .. }
            | RskMessage::SkeletonResponse { id, .. }
            | RskMessage::BodyRequest { id, .. }
            | RskMessage::BodyResponse { id, .. }
            | RskMessage::SkeletonRequest { id, .. }
            | RskMessage::StateChunkRequest { id, .. }
            | RskMessage::StateChunkResponse { id, .. }
            | RskMessage::SnapStatusRequest { id }
            | RskMessage::SnapStatusResponse { id, .. }
            | RskMessage::SnapBlocksRequest { id, .. }
            | RskMessage::SnapBlocksResponse { id, .. } => Some(id),
        }
    }

    /// Returns the payload of a frame with code 0x18.
    pub fn encode(&self) -> Vec<u8> {
        let body = self.body();
        let mut message = Vec::with_capacity(body.len() + 8);
        put_u64(&mut message, u64::from(self.kind()));
        put_bytes(&mut message, &body);
        list(&list(&message))
    }

    /// Returns the encoded body.
    fn body(&self) -> Vec<u8> {
        let parameters = self.parameters();
        match self.id() {
            None => parameters,
            Some(id) => {
                let mut body = Vec::with_capacity(parameters.len() + 9);
                put_u64(&mut body, id);
                body.extend_from_slice(&parameters);
                list(&body)
            }
        }
    }

    /// Returns the encoded list of all fields but the id.
    fn parameters(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            RskMessage::Status(status) => status.write(&mut out),
            RskMessage::Block(block) | RskMessage::BlockResponse { block, .. } => {
                put_bytes(&mut out, block.encoding());
            }
            RskMessage::GetBlock { hash }
            | RskMessage::NewBlockHash { hash }
            | RskMessage::BlockHashResponse { hash, .. }
            | RskMessage::BlockRequest { hash, .. }
            | RskMessage::BodyRequest { hash, .. } => put_bytes(&mut out, hash.as_slice()),
            RskMessage::NewBlockHashes(identifiers) => write_identifiers(identifiers, &mut out),
            RskMessage::Transactions(transactions) => return transactions.encoding().to_vec(),
            RskMessage::BlockHeadersRequest { hash, count, .. } => {
                put_bytes(&mut out, hash.as_slice());
                put_u64(&mut out, u64::from(*count));
            }
            RskMessage::BlockHeadersResponse { headers, .. } => out.extend_from_slice(headers.encoding()),
            RskMessage::SkeletonResponse { skeleton, .. } => {
                let mut identifiers = Vec::with_capacity(skeleton.len() * 40);
                write_identifiers(skeleton, &mut identifiers);
                out = list(&identifiers);
            }
            RskMessage::BodyResponse { body, .. } => body.write(&mut out),
            RskMessage::BlockHashRequest { height: number, .. }
            | RskMessage::SkeletonRequest { start: number, .. }
            | RskMessage::SnapBlocksRequest { number, .. } => put_u64(&mut out, *number),
            RskMessage::StateChunkRequest { number, from, chunk_size, .. } => {
                [number, from, chunk_size].into_iter().for_each(|&field| put_u64(&mut out, field));
            }
            RskMessage::StateChunkResponse { chunk, number, from, to, is_complete, .. } => {
                put_bytes(&mut out, chunk);
                [*number, *from, *to, u64::from(*is_complete)].into_iter().for_each(|field| put_u64(&mut out, field));
            }
            RskMessage::SnapStatusRequest { .. } => {}
            RskMessage::SnapStatusResponse { blocks, trie_size, .. } => {
                write_blocks(blocks, &mut out);
                put_u64(&mut out, *trie_size);
            }
            RskMessage::SnapBlocksResponse { blocks, .. } => write_blocks(blocks, &mut out),
        }
        list(&out)
    }
}

/// Returns the list of byte strings for [`WeighedBlocks::new`], each the encoding of a block.
pub fn block_strings<'a>(encodings: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut strings = Vec::new();
    encodings.into_iter().for_each(|encoding| put_bytes(&mut strings, encoding));
    list(&strings)
}

/// Returns the body of a block as in BODY_RESPONSE: `[transactions, uncles, extension?]`.
pub fn encode_body(block: &Block) -> Vec<u8> {
    let mut transactions = Vec::new();
    block.transactions.iter().for_each(|transaction| transactions.extend_from_slice(transaction.encoded()));
    let uncles: Vec<u8> = block.uncles.iter().flat_map(|uncle| uncle.encode()).collect();
    let mut body = list(&transactions);
    body.extend_from_slice(&list(&uncles));
    body.extend_from_slice(&block.header.extension_wire().unwrap_or_default());
    list(&body)
}

fn write_identifiers(identifiers: &[BlockIdentifier], out: &mut Vec<u8>) {
    for BlockIdentifier { hash, number } in identifiers {
        let mut pair = Vec::with_capacity(48);
        put_bytes(&mut pair, hash.as_slice());
        put_u64(&mut pair, *number);
        out.extend_from_slice(&list(&pair));
    }
}

fn write_blocks(blocks: &WeighedBlocks<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(blocks.strings().encoding());
    let mut difficulties = Vec::new();
    for difficulty in blocks.difficulties() {
        put_difficulty(&mut difficulties, Some(difficulty));
    }
    put_list_header(out, difficulties.len());
    out.extend_from_slice(&difficulties);
}
