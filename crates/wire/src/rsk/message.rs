//! All messages, and the envelope around them.

use rhizome_primitives::B256;
use rhizome_primitives::rlp::{decode_list, read_u64};

use super::block::{EncodedBlock, EncodedBody, WeighedBlocks};
use super::error::RskMessageError;
use super::fields::MessageFields;
use super::identifier::BlockIdentifier;
use super::list::EncodedList;
use super::status::StatusMessage;

/// Number of identifiers read from one NEW_BLOCK_HASHES; the others are ignored (docs/spec/p2p-additions.md, F).
pub const MAX_ANNOUNCED: usize = 192;

/// Types of messages.
#[allow(missing_docs, reason = "the names of the catalogue, docs/spec/p2p.md, 6.3")]
pub mod types {
    pub const STATUS: u8 = 1;
    pub const BLOCK: u8 = 2;
    pub const GET_BLOCK: u8 = 3;
    pub const NEW_BLOCK_HASHES: u8 = 6;
    pub const TRANSACTIONS: u8 = 7;
    pub const BLOCK_HASH_REQUEST: u8 = 8;
    pub const BLOCK_HEADERS_REQUEST: u8 = 9;
    pub const BLOCK_HEADERS_RESPONSE: u8 = 10;
    pub const BLOCK_REQUEST: u8 = 11;
    pub const BLOCK_RESPONSE: u8 = 12;
    pub const SKELETON_RESPONSE: u8 = 13;
    pub const BODY_REQUEST: u8 = 14;
    pub const BODY_RESPONSE: u8 = 15;
    pub const SKELETON_REQUEST: u8 = 16;
    pub const NEW_BLOCK_HASH: u8 = 17;
    pub const BLOCK_HASH_RESPONSE: u8 = 18;
    pub const SNAP_STATE_CHUNK_REQUEST: u8 = 20;
    pub const SNAP_STATE_CHUNK_RESPONSE: u8 = 21;
    pub const SNAP_STATUS_REQUEST: u8 = 22;
    pub const SNAP_STATUS_RESPONSE: u8 = 23;
    pub const SNAP_BLOCKS_REQUEST: u8 = 24;
    pub const SNAP_BLOCKS_RESPONSE: u8 = 25;
}

/// RSK message, code 0x18 (docs/spec/p2p.md, 6.3). `id`, below 2^63, connects a request with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are described by the variant")]
pub enum RskMessage<'a> {
    /// The best block of the sender.
    Status(StatusMessage),
    /// Block, announced or the answer to `GetBlock`.
    Block(EncodedBlock<'a>),
    /// Request for a block by hash, without an id.
    GetBlock { hash: B256 },
    /// Announced blocks, at most [`MAX_ANNOUNCED`].
    NewBlockHashes(Vec<BlockIdentifier>),
    /// Announced transactions.
    Transactions(EncodedList<'a>),
    /// Request for the hash of the block at a height of the main chain.
    BlockHashRequest { id: u64, height: u64 },
    /// Answer to `BlockHashRequest`.
    BlockHashResponse { id: u64, hash: B256 },
    /// Request for a block's header and its ancestors, `count` in total (0 counts as 1).
    BlockHeadersRequest { id: u64, hash: B256, count: u32 },
    /// Answer to `BlockHeadersRequest`: compressed headers, descending.
    BlockHeadersResponse { id: u64, headers: EncodedList<'a> },
    /// Request for a block by hash.
    BlockRequest { id: u64, hash: B256 },
    /// Answer to `BlockRequest`.
    BlockResponse { id: u64, block: EncodedBlock<'a> },
    /// Identifiers of blocks 192 apart, ascending.
    SkeletonResponse { id: u64, skeleton: Vec<BlockIdentifier> },
    /// Request for the body of a block by hash.
    BodyRequest { id: u64, hash: B256 },
    /// Answer to `BodyRequest`.
    BodyResponse { id: u64, body: EncodedBody<'a> },
    /// Request for the skeleton of the main chain around and above the block `start`.
    SkeletonRequest { id: u64, start: u64 },
    /// Announced block. The reference never sends it.
    NewBlockHash { hash: B256 },
    /// Request for a part of the state trie of block `number`, from byte `from` on. `chunk_size` is ignored on receipt.
    StateChunkRequest { id: u64, number: u64, from: u64, chunk_size: u64 },
    /// Answer to `StateChunkRequest`: the bytes `from..to`, and whether they end the trie. The content of `chunk` is read by
    /// `rhizome_trie::snap_chunk`.
    StateChunkResponse { id: u64, chunk: &'a [u8], number: u64, from: u64, to: u64, is_complete: bool },
    /// Request for the checkpoint of a snap server.
    SnapStatusRequest { id: u64 },
    /// Answer to `SnapStatusRequest`. The last block is the checkpoint; `trie_size` is the size of its state in bytes.
    SnapStatusResponse { id: u64, blocks: WeighedBlocks<'a>, trie_size: u64 },
    /// Request for up to 400 blocks below `number`.
    SnapBlocksRequest { id: u64, number: u64 },
    /// Answer to `SnapBlocksRequest`.
    SnapBlocksResponse { id: u64, blocks: WeighedBlocks<'a> },
}

/// Returns the type in an envelope without reading the body.
pub fn message_type(payload: &[u8]) -> Result<u8, RskMessageError> {
    open(payload).map(|(kind, _)| kind)
}

/// Returns the id of a request or an answer without reading its parameters.
pub fn message_id(payload: &[u8]) -> Result<u64, RskMessageError> {
    let (_, body) = open(payload)?;
    MessageFields::of(decode_list(body)?, "message body")?.number("message id")
}

/// Opens the envelope `[[type, body]]` and returns the type and the encoded body.
fn open(payload: &[u8]) -> Result<(u8, &[u8]), RskMessageError> {
    let mut envelope = MessageFields::decode(payload, "envelope")?.fields("message")?;
    let kind = read_u64(envelope.string("message type")?, u64::MAX, "message type")?;
    let kind = u8::try_from(kind).or(Err(RskMessageError::UnknownType(kind)))?;
    Ok((kind, envelope.string("message body")?))
}

impl<'a> RskMessage<'a> {
    /// Decodes the payload of a frame with code 0x18. Nothing is copied but hashes and numbers.
    pub fn decode(payload: &'a [u8]) -> Result<RskMessage<'a>, RskMessageError> {
        let (kind, body) = open(payload)?;
        let mut fields = MessageFields::of(decode_list(body)?, "message body")?;
        match kind {
            types::STATUS => Ok(RskMessage::Status(StatusMessage::read(&mut fields)?)),
            types::BLOCK => Ok(RskMessage::Block(EncodedBlock::of(fields.item("block")?)?)),
            types::GET_BLOCK => Ok(RskMessage::GetBlock { hash: fields.hash("block hash")? }),
            types::NEW_BLOCK_HASHES => {
                let mut announced = Vec::new();
                while announced.len() < MAX_ANNOUNCED
                    && let Some(item) = fields.optional_item()?
                {
                    announced.push(BlockIdentifier::of(item)?);
                }
                Ok(RskMessage::NewBlockHashes(announced))
            }
            types::TRANSACTIONS => Ok(RskMessage::Transactions(EncodedList::decode(body, "transactions")?)),
            types::NEW_BLOCK_HASH => Ok(RskMessage::NewBlockHash { hash: fields.hash("block hash")? }),
            _ => Self::decode_numbered(kind, fields),
        }
    }

    /// Decodes a request or response, `[id, parameters]`.
    fn decode_numbered(kind: u8, mut message: MessageFields<'a>) -> Result<RskMessage<'a>, RskMessageError> {
        if !matches!(kind, types::BLOCK_HASH_REQUEST..=types::BLOCK_HASH_RESPONSE)
            && !matches!(kind, types::SNAP_STATE_CHUNK_REQUEST..=types::SNAP_BLOCKS_RESPONSE)
        {
            return Err(RskMessageError::UnknownType(u64::from(kind)));
        }
        let id = message.number("message id")?;
        let mut fields = message.fields("message parameters")?;
        Ok(match kind {
            types::BLOCK_HASH_REQUEST => RskMessage::BlockHashRequest { id, height: fields.number("height")? },
            types::BLOCK_HASH_RESPONSE => RskMessage::BlockHashResponse { id, hash: fields.hash("block hash")? },
            types::BLOCK_HEADERS_REQUEST => {
                let hash = fields.hash("block hash")?;
                RskMessage::BlockHeadersRequest { id, hash, count: fields.small_number("header count")? }
            }
            types::BLOCK_HEADERS_RESPONSE => RskMessage::BlockHeadersResponse { id, headers: fields.list("headers")? },
            types::BLOCK_REQUEST => RskMessage::BlockRequest { id, hash: fields.hash("block hash")? },
            types::BLOCK_RESPONSE => RskMessage::BlockResponse { id, block: EncodedBlock::of(fields.item("block")?)? },
            types::SKELETON_RESPONSE => RskMessage::SkeletonResponse { id, skeleton: fields.identifiers("skeleton")? },
            types::BODY_REQUEST => RskMessage::BodyRequest { id, hash: fields.hash("block hash")? },
            types::BODY_RESPONSE => RskMessage::BodyResponse { id, body: EncodedBody::of(fields)? },
            types::SKELETON_REQUEST => RskMessage::SkeletonRequest { id, start: fields.number("start number")? },
            types::SNAP_STATE_CHUNK_REQUEST => RskMessage::StateChunkRequest {
                id,
                number: fields.number("block number")?,
                from: fields.number("offset")?,
                chunk_size: fields.number("chunk size")?,
            },
            types::SNAP_STATE_CHUNK_RESPONSE => RskMessage::StateChunkResponse {
                id,
                chunk: fields.string("chunk")?,
                number: fields.number("block number")?,
                from: fields.number("offset")?,
                to: fields.number("end offset")?,
                is_complete: fields.flag("complete")?,
            },
            types::SNAP_STATUS_REQUEST => RskMessage::SnapStatusRequest { id },
            types::SNAP_STATUS_RESPONSE => RskMessage::SnapStatusResponse {
                id,
                blocks: WeighedBlocks::read(&mut fields)?,
                trie_size: fields.number("trie size")?,
            },
            types::SNAP_BLOCKS_REQUEST => RskMessage::SnapBlocksRequest { id, number: fields.number("block number")? },
            types::SNAP_BLOCKS_RESPONSE => {
                RskMessage::SnapBlocksResponse { id, blocks: WeighedBlocks::read(&mut fields)? }
            }
            _ => return Err(RskMessageError::UnknownType(u64::from(kind))),
        })
    }
}
