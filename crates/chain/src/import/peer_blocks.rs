//! Import of blocks that other nodes sent.

use std::ops::ControlFlow;

use crate::error::ImportError;
use crate::import::feed::{PreparedItem, feed};
use crate::import::importer::Importer;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::import::report::BlockReport;

/// Imports blocks in order. `blocks` yields `None` while no block has arrived, so that results are reported meanwhile. `on_block` gets
/// each result with the note of the block, after the block is on disk, and may end the import. Nothing is imported behind a block
/// that is not. An error ends the import; the blocks before it stay imported.
pub(crate) fn import<N: Send + 'static>(
    importer: &Importer,
    blocks: impl Iterator<Item = Option<(N, PreparedBlock)>>,
    mut on_block: impl FnMut(N, ImportOutcome) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let prepare = |(note, block): (N, PreparedBlock)| PreparedItem { note, block: Some(block) };
    let failure = feed(importer, BlockOrigin::Peer, blocks, true, prepare, |note, report| match report {
        BlockReport::Done(Ok(outcome)) => on_block(note, outcome).map_break(|()| None),
        BlockReport::Done(Err(error)) => ControlFlow::Break(Some(error)),
        // Blocks behind a block that was not imported. None claims a difficulty.
        BlockReport::Cancelled | BlockReport::WrongTotalDifficulty { .. } => ControlFlow::Break(None),
    })?;
    failure.flatten().map_or(Ok(()), Err)
}
