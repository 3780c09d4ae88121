//! The executing block and its ancestors, as visible to contracts.

use std::sync::Arc;

use rhizome_primitives::{Address, B256, Block, Bytes, Header, U256};

pub use crate::error::AncestryError;

/// The block in which transactions execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockEnv {
    /// Height.
    pub number: u64,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// Address of the miner. It does not receive the fees.
    pub coinbase: Address,
    /// Difficulty of this block.
    pub difficulty: U256,
    /// Gas limit of the block.
    pub gas_limit: u64,
    /// Lowest gas price in wei that the block accepts. The result of BASEFEE.
    pub minimum_gas_price: U256,
    /// Hash of the parent.
    pub parent_hash: B256,
}

impl BlockEnv {
    /// Returns the environment of the block with this header. A gas limit beyond 64 bits saturates.
    pub fn from_header(header: &Header) -> BlockEnv {
        BlockEnv {
            number: header.number,
            timestamp: header.timestamp,
            coinbase: header.coinbase_address(),
            difficulty: header.difficulty_value(),
            gas_limit: header.gas_limit_value().saturating_to(),
            minimum_gas_price: header.min_gas_price(),
            parent_hash: header.parent().unwrap_or_default(),
        }
    }
}

/// The ancestors of the executing block on its own branch.
pub trait Ancestry: Send + Sync {
    /// Returns the ancestor with this number; `None` if there is no such block. The parent is the ancestor with the number
    /// below that of the executing block.
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError>;

    /// Returns the source of what the Bridge answers, if its storage is elsewhere and cannot be read. `None`: it is part of the state.
    fn bridge_answers(&self) -> Option<&dyn BridgeAnswers> {
        None
    }
}

/// Answers of a Bridge whose storage cannot be read. Its storage has not changed since the block that they are given at.
pub trait BridgeAnswers: Send + Sync {
    /// Returns the output of a call that only reads.
    fn read(&self, input: &[u8]) -> Result<Bytes, AncestryError>;

    /// Returns the compressed public keys of the federation that is active at a height, in its order: those for Rootstock, or with
    /// `bitcoin` those for Bitcoin.
    fn federation_keys(&self, height: u64, bitcoin: bool) -> Result<Vec<Bytes>, AncestryError>;
}

/// An ancestor of the executing block.
#[derive(Debug, Clone)]
pub struct AncestorBlock {
    /// Hash, not verified.
    pub hash: B256,
    /// Header.
    pub header: Arc<Header>,
    /// Headers of the uncles, in their order.
    pub uncles: Vec<Header>,
    /// Sum of the difficulties up to and including this block and its uncles.
    pub total_difficulty: U256,
}

impl AncestorBlock {
    /// Returns an executed block as its descendants see it.
    pub fn new(block: &Block, hash: B256, total_difficulty: U256) -> Self {
        Self { hash, header: Arc::new(block.header.clone()), uncles: block.uncles.clone(), total_difficulty }
    }
}
