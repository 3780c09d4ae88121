//! Announcements of the best block: own ones, and the first one of a peer

use crate::close_reason::CloseReason;
use rhizome_chain::Chain;
use rhizome_primitives::rlp::{
    decode_list, list, put_bytes, put_difficulty, put_u64, put_value, read_u64, saturating_u256,
};
use rhizome_primitives::{B256, DecodeError, U256};
use std::sync::Arc;

/// Version of the subprotocol rsk.
const RSK_VERSION: u64 = 62;
/// Type of the RSK message STATUS.
const STATUS_TYPE: u64 = 1;

/// The best block of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainStatus {
    /// Its number.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// Hash of its parent, zero for genesis.
    pub parent_hash: B256,
    /// Difficulty of the chain up to it, uncles included.
    pub total_difficulty: U256,
}

impl ChainStatus {
    /// Returns the best block of a chain.
    pub fn of(chain: &Chain) -> ChainStatus {
        let record = &chain.head().record;
        ChainStatus {
            number: record.number(),
            hash: record.hash,
            parent_hash: record.parent().unwrap_or_default(),
            total_difficulty: record.total_difficulty,
        }
    }
}

/// Returns the best block of this node. Must not block.
pub type StatusSource = Arc<dyn Fn() -> ChainStatus + Send + Sync>;

/// Content of an eth-like Status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RemoteStatus {
    version: u64,
    network_id: u64,
    /// Claimed difficulty of the chain.
    pub(crate) total_difficulty: U256,
    /// Claimed best block.
    pub(crate) best_hash: B256,
    genesis: B256,
}

impl RemoteStatus {
    pub(crate) fn decode(payload: &[u8]) -> Result<RemoteStatus, DecodeError> {
        let fields = decode_list(payload)?.list("Status")?;
        let field = |at: usize| fields.get(at).map(|item| item.bytes()).ok_or(DecodeError::Missing("Status"));
        let hash = |at: usize| {
            let bytes = field(at)?;
            B256::try_from(bytes).or(Err(DecodeError::FieldLength { field: "Status hash", got: bytes.len() }))
        };
        Ok(RemoteStatus {
            version: read_u64(field(0)?, u64::MAX, "version")?,
            network_id: read_u64(field(1)?, u64::MAX, "network id")?,
            total_difficulty: saturating_u256(field(2)?),
            best_hash: hash(3)?,
            genesis: hash(4)?,
        })
    }

    /// Checks that the peer is on the same chain, in the order of the reference.
    pub(crate) fn check(&self, network_id: u64, genesis: &B256) -> Result<(), CloseReason> {
        if self.version != RSK_VERSION {
            return Err(CloseReason::OtherVersion(self.version));
        }
        if self.network_id != network_id {
            return Err(CloseReason::OtherNetwork(self.network_id));
        }
        if self.genesis != *genesis {
            return Err(CloseReason::OtherGenesis);
        }
        Ok(())
    }
}

/// Returns the payload of the eth-like Status.
pub(crate) fn encode_status(status: &ChainStatus, network_id: u64, genesis: &B256) -> Vec<u8> {
    let mut fields = Vec::with_capacity(128);
    put_u64(&mut fields, RSK_VERSION);
    put_u64(&mut fields, network_id);
    put_value(&mut fields, &status.total_difficulty);
    put_bytes(&mut fields, status.hash.as_slice());
    put_bytes(&mut fields, genesis.as_slice());
    list(&fields)
}

/// Returns the payload of the RSK message STATUS.
pub(crate) fn encode_rsk_status(status: &ChainStatus) -> Vec<u8> {
    let mut body = Vec::with_capacity(128);
    put_u64(&mut body, status.number);
    put_bytes(&mut body, status.hash.as_slice());
    put_bytes(&mut body, status.parent_hash.as_slice());
    put_difficulty(&mut body, Some(&status.total_difficulty));
    let mut message = Vec::with_capacity(128);
    put_u64(&mut message, STATUS_TYPE);
    put_bytes(&mut message, &list(&body));
    list(&list(&message))
}
