//! Import of a sequence of encoded blocks.

use std::ops::ControlFlow;

use rhizome_primitives::B256;

use crate::error::{BlockDecodeError, ImportError};
use crate::import::feed::{PreparedItem, feed};
use crate::import::importer::Importer;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::import::report::BlockReport;

/// A block of a stream after its import.
#[derive(Debug)]
pub struct StreamedBlock {
    /// Position in the stream, from 0.
    pub position: u64,
    /// Number of the block. `None` if it could not be decoded.
    pub number: Option<u64>,
    /// Hash of the block. `None` if it could not be decoded.
    pub hash: Option<B256>,
    /// Outcome of the import.
    pub result: Result<ImportOutcome, BlockDecodeError>,
}

/// Imports encoded blocks in order. `on_block` gets each result and may end the stream. An error ends the stream; the blocks
/// before it stay imported.
pub(crate) fn import(
    importer: &Importer,
    blocks: impl Iterator<Item = Vec<u8>>,
    mut on_block: impl FnMut(StreamedBlock) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let spec = &importer.steps.config.spec;
    let prepare = |raw: Vec<u8>| match PreparedBlock::decode(&raw, spec) {
        Ok(block) => PreparedItem { note: Ok((block.block.header.number, block.hash)), block: Some(block) },
        Err(error) => PreparedItem { note: Err(error), block: None },
    };
    let mut position = 0;
    let failure = feed(importer, BlockOrigin::File, blocks.map(Some), false, prepare, |note, report| {
        let (number, hash, result) = match (note, report) {
            (Err(error), _) => (None, None, Err(error)),
            (Ok((number, hash)), BlockReport::Done(Ok(outcome))) => (Some(number), Some(hash), Ok(outcome)),
            (Ok(_), BlockReport::Done(Err(error))) => return ControlFlow::Break(Some(error)),
            // A stream that continues gets neither.
            (Ok(_), BlockReport::Cancelled | BlockReport::WrongTotalDifficulty { .. }) => {
                return ControlFlow::Break(None);
            }
        };
        let flow = on_block(StreamedBlock { position, number, hash, result });
        position += 1;
        flow.map_break(|()| None)
    })?;
    failure.flatten().map_or(Ok(()), Err)
}
