use crate::import::invalid_block::InvalidBlock;

/// Result of an import. A rejected block is a result, not an error.
#[derive(Debug)]
pub enum ImportOutcome {
    /// Stored, and the best block.
    ImportedBest,
    /// Stored beside the best chain.
    ImportedNotBest,
    /// The block was already stored.
    Exists,
    /// The parent is not stored.
    NoParent,
    /// The block breaks a rule.
    Invalid(InvalidBlock),
}

impl ImportOutcome {
    /// Whether the block is stored.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self, Self::ImportedBest | Self::ImportedNotBest | Self::Exists)
    }

    /// Returns the name that the reference node uses for the outcome.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ImportedBest => "IMPORTED_BEST",
            Self::ImportedNotBest => "IMPORTED_NOT_BEST",
            Self::Exists => "EXIST",
            Self::NoParent => "NO_PARENT",
            Self::Invalid(_) => "INVALID_BLOCK",
        }
    }
}

/// Source of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOrigin {
    /// A caller that needs the verdict: the block is executed even if it cannot become the best block.
    Caller,
    /// A file or stream of encoded blocks.
    File,
    /// Another node sent the block.
    Peer,
    /// This node mined the block.
    Mined,
    /// A miner submitted the proof of work of a block template.
    MiningSolution,
}

impl BlockOrigin {
    /// Whether a block that cannot become the best block is stored without execution.
    pub(crate) fn defers_side_blocks(self) -> bool {
        self != Self::Caller
    }
}
