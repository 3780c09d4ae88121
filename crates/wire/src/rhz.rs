//! Messages of the subprotocol rhz/1, between nodes of this project: headers and bodies by the hundred (docs/spec/rhz.md).
//!
//! It is shared if both sides offer it in Hello. Announcements, skeletons and everything else remain messages of rsk/62.

use rhizome_primitives::B256;
use rhizome_primitives::rlp::{list, put_bytes, put_u64};

use crate::rsk::{EncodedBody, EncodedList, MessageFields, RskMessageError};

/// Maximum number of headers in one request.
pub const MAX_HEADERS: u32 = 1024;
/// Maximum number of bodies in one request.
pub const MAX_BODIES: usize = 512;
/// Size in bytes above which a server ends an answer. The element that exceeds it is still included.
pub const ANSWER_SIZE: usize = 4 << 20;

const HEADERS_REQUEST: u8 = 0;
const HEADERS: u8 = 1;
const BODIES_REQUEST: u8 = 2;
const BODIES: u8 = 3;

/// Message of rhz/1. `id` connects a request with its answer. Every request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are described by the variant")]
pub enum RhzMessage<'a> {
    /// Request for a block's header and its ancestors, `count` in total, 1 to [`MAX_HEADERS`].
    HeadersRequest { id: u64, hash: B256, count: u32 },
    /// Headers in compressed form, descending; fewer than asked after block 0 or at the size limit. Empty if the block is unknown.
    Headers { id: u64, headers: EncodedList<'a> },
    /// Request for the bodies of blocks, 1 to [`MAX_BODIES`].
    BodiesRequest { id: u64, hashes: Vec<B256> },
    /// Bodies in the order of the request; fewer than asked at the size limit. See [`bodies`].
    Bodies { id: u64, bodies: EncodedList<'a> },
}

impl<'a> RhzMessage<'a> {
    /// Returns the number of the message, from 0 on; the code of its frame is 0x19 more.
    pub fn number(&self) -> u8 {
        match self {
            RhzMessage::HeadersRequest { .. } => HEADERS_REQUEST,
            RhzMessage::Headers { .. } => HEADERS,
            RhzMessage::BodiesRequest { .. } => BODIES_REQUEST,
            RhzMessage::Bodies { .. } => BODIES,
        }
    }

    /// Decodes the payload of message `number`.
    pub fn decode(number: u8, payload: &'a [u8]) -> Result<RhzMessage<'a>, RskMessageError> {
        let mut fields = MessageFields::decode(payload, "message")?;
        let id = fields.number("message id")?;
        Ok(match number {
            HEADERS_REQUEST => {
                let hash = fields.hash("block hash")?;
                let count = fields.small_number("header count")?;
                if count > MAX_HEADERS {
                    return Err(RskMessageError::TooManyElements("headers request"));
                }
                RhzMessage::HeadersRequest { id, hash, count }
            }
            HEADERS => RhzMessage::Headers { id, headers: fields.list("headers")? },
            BODIES_REQUEST => RhzMessage::BodiesRequest { id, hashes: fields.hashes(MAX_BODIES, "bodies request")? },
            BODIES => RhzMessage::Bodies { id, bodies: fields.list("bodies")? },
            _ => return Err(RskMessageError::UnknownType(u64::from(number))),
        })
    }

    /// Returns the payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            RhzMessage::HeadersRequest { id, hash, count } => {
                put_u64(&mut out, *id);
                put_bytes(&mut out, hash.as_slice());
                put_u64(&mut out, u64::from(*count));
            }
            RhzMessage::Headers { id, headers: elements } | RhzMessage::Bodies { id, bodies: elements } => {
                out.reserve(elements.encoding().len() + 9);
                put_u64(&mut out, *id);
                out.extend_from_slice(elements.encoding());
            }
            RhzMessage::BodiesRequest { id, hashes } => {
                put_u64(&mut out, *id);
                let mut elements = Vec::with_capacity(hashes.len() * 33);
                hashes.iter().for_each(|hash| put_bytes(&mut elements, hash.as_slice()));
                out.extend_from_slice(&list(&elements));
            }
        }
        list(&out)
    }
}

/// Returns the id of a message without reading its parameters.
pub fn message_id(payload: &[u8]) -> Result<u64, RskMessageError> {
    MessageFields::decode(payload, "message")?.number("message id")
}

/// Splits the bodies of an answer one by one; `None`: the server does not have the block.
pub fn bodies<'a>(
    bodies: EncodedList<'a>,
) -> impl Iterator<Item = Result<Option<EncodedBody<'a>>, RskMessageError>> + use<'a> {
    bodies.items().map(|item| match item.bytes() {
        [] => Ok(None),
        body => EncodedBody::split(body).map(Some),
    })
}
