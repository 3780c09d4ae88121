use rhizome_primitives::{Address, B256, Block, ChainSpec, U256};
use rhizome_storage::StoredBlock;

use crate::archive::side_branch::AncestorPosition;
use crate::error::ChainError;

/// State root of a block that has not been executed.
pub(crate) const UNEXECUTED: B256 = B256::ZERO;

/// A block with its position in the chain, its state root and its senders. Immutable.
#[derive(Debug)]
pub struct BlockRecord {
    /// The block.
    pub block: Block,
    /// Its hash.
    pub hash: B256,
    /// Length of its full encoding, in bytes.
    pub size: usize,
    /// Difficulty of the chain up to and including it, uncles included.
    pub total_difficulty: U256,
    /// Root of the state after it, in the current trie format; zero while the block has not been executed. The header names
    /// another root before RSKIP-126 and where the state was replaced by hand.
    pub state_root: B256,
    senders: Vec<Address>,
}

impl BlockRecord {
    /// Creates the record of a block. `senders` has one entry for each transaction, zero for REMASC.
    pub fn new(block: Block, size: usize, total_difficulty: U256, state_root: B256, senders: Vec<Address>) -> Self {
        Self { hash: block.hash(), block, size, total_difficulty, state_root, senders }
    }

    /// Returns the same block with another state after it.
    pub(crate) fn with_state_root(&self, state_root: B256) -> Self {
        Self {
            block: self.block.clone(),
            hash: self.hash,
            size: self.size,
            total_difficulty: self.total_difficulty,
            state_root,
            senders: self.senders.clone(),
        }
    }

    pub(crate) fn from_stored(hash: B256, stored: StoredBlock, spec: &ChainSpec) -> Result<Self, ChainError> {
        let decoded = Block::decode(&stored.raw, spec);
        let block = decoded.map_err(|source| ChainError::StoredBlock { hash, source })?;
        Ok(Self {
            block,
            hash,
            size: stored.raw.len(),
            total_difficulty: stored.total_difficulty,
            state_root: stored.state_root,
            senders: stored.senders,
        })
    }

    /// Whether the block was executed. A block of a branch that cannot win is stored without execution.
    pub fn is_executed(&self) -> bool {
        self.state_root != UNEXECUTED
    }

    /// Returns the number of the block.
    pub fn number(&self) -> u64 {
        self.block.header.number
    }

    pub(crate) fn position(&self) -> AncestorPosition {
        AncestorPosition { number: self.number(), hash: self.hash }
    }

    /// Returns the hash of the parent. `None` if the field is not a hash.
    pub fn parent(&self) -> Option<B256> {
        self.block.header.parent()
    }

    /// Returns the sender of each transaction, zero for REMASC.
    pub fn senders(&self) -> &[Address] {
        &self.senders
    }

    /// Returns the difficulty that the block adds: its own and that of its uncles.
    pub fn cumulative_difficulty(&self) -> U256 {
        cumulative_difficulty(&self.block)
    }

    /// Returns the memory of the record, estimated, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        // Parsed fields and hashes come on top of the bytes of a transaction or header.
        let parsed = 2048 * (1 + self.block.uncles.len()) + 512 * self.block.transactions.len();
        (self.size + parsed) as u64
    }
}

/// Returns the difficulty that a block adds to its chain. Wraps above 256 bits, which no valid header reaches.
pub(crate) fn cumulative_difficulty(block: &Block) -> U256 {
    let uncles = block.uncles.iter().map(|uncle| uncle.difficulty_value());
    uncles.fold(block.header.difficulty_value(), U256::wrapping_add)
}

/// Returns the difficulty of a chain up to and including a block, from that of its parent.
pub(crate) fn total_difficulty(parent: U256, block: &Block) -> U256 {
    parent.wrapping_add(cumulative_difficulty(block))
}
