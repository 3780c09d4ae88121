//! The chain as peers ask for it.

use crate::network_state::NetworkState;
use rhizome_chain::{Chain, ChainError};
use rhizome_primitives::rlp::list;
use rhizome_primitives::{B256, Bytes, ChainSpec, DecodeError, Header};
use rhizome_wire::rsk::{BlockIdentifier, EncodedBlock, RskMessageError};
use std::sync::Arc;

/// Distance of the blocks of a skeleton.
const CHUNK: u64 = 192;
/// Chunks of a skeleton.
const SKELETON_CHUNKS: u64 = 20;

/// Reason why a request is not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServeError {
    /// The request is malformed: a fault of the peer.
    #[error(transparent)]
    Request(RskMessageError),
    /// A failure of this node.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A stored block cannot be read.
    #[error(transparent)]
    StoredBlock(#[from] RskMessageError),
    /// A stored header cannot be read.
    #[error(transparent)]
    StoredHeader(#[from] DecodeError),
}

/// Compressed headers of a block and its ancestors.
#[derive(Default)]
pub(super) struct ServedHeaders {
    /// Their encodings, concatenated.
    pub(super) encoded: Vec<u8>,
    /// Whether the block, or an ancestor that was asked for, is unknown.
    pub(super) misses_block: bool,
}

/// The chain that is served.
pub(super) struct ChainServer {
    pub(super) shared: Arc<NetworkState>,
    pub(super) chain: Arc<Chain>,
}

impl ChainServer {
    /// Returns the encoding of a block: from the disk, or of a block that was relayed and waits for its execution.
    pub(super) fn raw_block(&self, hash: &B256) -> Result<Option<Bytes>, ServeError> {
        match self.shared.accepted.get(hash) {
            Some(raw) => Ok(Some(raw)),
            None => Ok(self.chain.raw_block(hash)?),
        }
    }

    /// Returns the compressed headers of a block and its ancestors, `count` in total. Ends at genesis, at an unknown block, and after
    /// the header that exceeds `max_bytes`.
    pub(super) fn headers(&self, hash: B256, count: u32, max_bytes: usize) -> Result<ServedHeaders, ServeError> {
        let mut headers = ServedHeaders::default();
        let mut next = Some(hash);
        for _ in 0..count {
            let Some(hash) = next else { break };
            let Some(raw) = self.raw_block(&hash)? else {
                headers.misses_block = true;
                break;
            };
            let header = header_of(&raw, self.chain.spec())?;
            headers.encoded.extend_from_slice(&header.encode_compressed());
            if headers.encoded.len() > max_bytes {
                break;
            }
            next = header.parent().filter(|_| header.number > 0);
        }
        Ok(headers)
    }

    /// Returns the blocks of the main chain at multiples of 192 from the one at or below a height on, and a last one.
    pub(super) fn skeleton(&self, start: u64) -> Result<Option<Vec<BlockIdentifier>>, ServeError> {
        let best = self.chain.head().number();
        if start > best {
            return Ok(None);
        }
        let first = start - start % CHUNK;
        // After a state download the blocks above genesis are missing: the answer for their headers would be too short.
        if first < best && self.chain.main_hash(first + 1)?.is_none() {
            return Ok(None);
        }
        let end = best.min(first.saturating_add(CHUNK * SKELETON_CHUNKS));
        let mut numbers = vec![first];
        while let Some(last) = numbers.last()
            && *last < end
        {
            numbers.push(end.min(last + CHUNK));
        }
        // The reference punishes an answer of one block.
        if numbers.len() == 1 {
            numbers.push(end);
        }
        let mut skeleton = Vec::with_capacity(numbers.len());
        for number in numbers {
            // Missing only if the chain was rewound meanwhile.
            let Some(hash) = self.chain.main_hash(number)? else { return Ok(None) };
            skeleton.push(BlockIdentifier { hash, number });
        }
        Ok(Some(skeleton))
    }
}

fn header_of(raw: &[u8], spec: &ChainSpec) -> Result<Header, ServeError> {
    Ok(EncodedBlock::split(raw)?.header(spec)?)
}

/// Returns the body of an encoded block: `[transactions, uncles, extension?]`.
pub(super) fn encoded_body(raw: &[u8], spec: &ChainSpec) -> Result<Vec<u8>, ServeError> {
    let block = EncodedBlock::split(raw)?;
    let extension = block.header(spec)?.extension_wire().unwrap_or_default();
    Ok(list(&[block.transactions().encoding(), block.uncles().encoding(), &extension].concat()))
}
