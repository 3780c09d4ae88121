//! Answers to requests of rhz/1. Every request is answered.

use super::chain_server::{ChainServer, ServeError, encoded_body};
use rhizome_primitives::rlp::{list, put_bytes};
use rhizome_wire::rhz::{ANSWER_SIZE, RhzMessage};
use rhizome_wire::rsk::EncodedList;
use rhizome_wire::session::codes;

/// Maximum size of the elements in bytes: a frame is below 8 MiB.
const MAX_BYTES: usize = 8_000_000;

/// Returns the code and payload of the answer; `None` if the message is no request.
pub(super) fn answer(server: &ChainServer, request: RhzMessage<'_>) -> Result<Option<(u8, Vec<u8>)>, ServeError> {
    let (id, elements) = match &request {
        RhzMessage::HeadersRequest { id, hash, count } => {
            (*id, server.headers(*hash, (*count).max(1), ANSWER_SIZE)?.encoded)
        }
        RhzMessage::BodiesRequest { id, hashes } => {
            let mut bodies = Vec::new();
            for hash in hashes {
                let raw = server.raw_block(hash)?;
                let body = raw.map(|raw| encoded_body(&raw, server.chain.spec())).transpose()?;
                // Empty: unknown here.
                let body = body.unwrap_or_default();
                if !bodies.is_empty() && bodies.len() + body.len() > MAX_BYTES {
                    break;
                }
                put_bytes(&mut bodies, &body);
                if bodies.len() > ANSWER_SIZE {
                    break;
                }
            }
            (*id, bodies)
        }
        RhzMessage::Headers { .. } | RhzMessage::Bodies { .. } => return Ok(None),
    };
    let elements = list(&elements);
    let elements = EncodedList::decode(&elements, "answer")?;
    let answer = match request {
        RhzMessage::HeadersRequest { .. } => RhzMessage::Headers { id, headers: elements },
        _ => RhzMessage::Bodies { id, bodies: elements },
    };
    Ok(Some((codes::RHIZOME + answer.number(), answer.encode())))
}
