//! Import of blocks with their numbers and total difficulties, from an archive.

use std::ops::ControlFlow;

use rhizome_primitives::{Block, U256};

use crate::error::BlockDecodeError;
use crate::import::block_file::{BlockFileError, ImportedLine, LineFault, ParsedLine, import_parsed};
use crate::import::feed::{SourceItem, counted_bytes};
use crate::import::importer::Importer;

/// A block of an archive, unchecked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedBlock {
    /// Stated number.
    pub number: u64,
    /// Stated difficulty of the chain up to and including the block, uncles included.
    pub total_difficulty: U256,
    /// Full encoding.
    pub raw: Vec<u8>,
}

impl SourceItem for NumberedBlock {
    fn bytes(&self) -> usize {
        counted_bytes(&self.raw)
    }
}

/// Imports blocks in order. `on_block` gets each result and may end the import. Returns the number of blocks that are on disk.
pub(crate) fn import(
    importer: &Importer,
    blocks: impl Iterator<Item = NumberedBlock>,
    on_block: impl FnMut(&ImportedLine) -> ControlFlow<()>,
) -> Result<u64, BlockFileError> {
    let parse = |stated: NumberedBlock| {
        let NumberedBlock { number: stated, total_difficulty, raw } = stated;
        let block = Block::decode(&raw, &importer.steps.config.spec).map_err(BlockDecodeError::from)?;
        let actual = block.header.number;
        if actual != stated {
            return Err(LineFault::Number { stated, actual });
        }
        Ok(ParsedLine { hash: block.hash(), block, total_difficulty })
    };
    import_parsed(importer, blocks, parse, on_block)
}
