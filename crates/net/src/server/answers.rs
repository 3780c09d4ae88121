//! Answers to requests of rsk/62.

use super::chain_server::{ChainServer, ServeError, encoded_body};
use super::snap;
use rhizome_primitives::rlp::list;
use rhizome_wire::rsk::{EncodedBlock, EncodedBody, EncodedList, RskMessage};

/// Maximum number of headers in an answer. A request for more is not answered.
const MAX_HEADERS: u32 = 192;
/// Returns the payload of the answer; `None` if there is none.
pub(super) fn answer(server: &ChainServer, request: RskMessage<'_>) -> Result<Option<Vec<u8>>, ServeError> {
    match request {
        RskMessage::GetBlock { hash } => {
            let Some(raw) = server.raw_block(&hash)? else { return Ok(None) };
            Ok(Some(RskMessage::Block(EncodedBlock::split(&raw)?).encode()))
        }
        RskMessage::BlockRequest { id, hash } => {
            let Some(raw) = server.raw_block(&hash)? else { return Ok(None) };
            Ok(Some(RskMessage::BlockResponse { id, block: EncodedBlock::split(&raw)? }.encode()))
        }
        RskMessage::BodyRequest { id, hash } => {
            let Some(raw) = server.raw_block(&hash)? else { return Ok(None) };
            let body = encoded_body(&raw, server.chain.spec())?;
            Ok(Some(RskMessage::BodyResponse { id, body: EncodedBody::split(&body)? }.encode()))
        }
        RskMessage::BlockHashRequest { id, height } => {
            let hash = server.chain.main_hash(height)?;
            Ok(hash.map(|hash| RskMessage::BlockHashResponse { id, hash }.encode()))
        }
        RskMessage::BlockHeadersRequest { id, hash, count } if count <= MAX_HEADERS => {
            let headers = server.headers(hash, count.max(1), usize::MAX)?;
            // The reference punishes an answer that ends above genesis.
            if headers.misses_block {
                return Ok(None);
            }
            let headers = list(&headers.encoded);
            let headers = EncodedList::decode(&headers, "headers")?;
            Ok(Some(RskMessage::BlockHeadersResponse { id, headers }.encode()))
        }
        RskMessage::SkeletonRequest { id, start } => {
            let skeleton = server.skeleton(start)?;
            Ok(skeleton.map(|skeleton| RskMessage::SkeletonResponse { id, skeleton }.encode()))
        }
        _ if server.shared.options.serves_snap => snap::answer(server, request),
        _ => Ok(None),
    }
}
