//! Many blocks in a row: decoding, senders and proofs of work of the next blocks run ahead of execution.

use std::ops::ControlFlow;

use rhizome_primitives::B256;

use crate::pipeline::run_ahead;
use crate::{BlockDecodeError, Chain, ImportError, ImportOutcome, PreparedBlock};

/// Blocks that are prepared ahead.
pub(crate) const BLOCKS_AHEAD: usize = 32;

/// One block of a stream after its import.
#[derive(Debug)]
pub struct StreamedBlock {
    /// Position in the stream, from 0.
    pub position: u64,
    /// Number of the block; none when it could not be decoded.
    pub number: Option<u64>,
    /// Hash of the block; none when it could not be decoded.
    pub hash: Option<B256>,
    /// What became of it.
    pub result: Result<ImportOutcome, BlockDecodeError>,
}

impl Chain {
    /// Imports encoded blocks in order. `on_block` is told about each and decides whether to go on. An error ends the
    /// stream; the blocks before it stay imported.
    pub fn import_stream(
        &self,
        blocks: impl Iterator<Item = Vec<u8>>,
        mut on_block: impl FnMut(StreamedBlock) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        let spec = self.spec();
        let mut position = 0;
        let prepare = |raw: Vec<u8>| PreparedBlock::decode(&raw, spec);
        let failure = run_ahead(blocks, BLOCKS_AHEAD, prepare, |prepared| {
            let (number, hash, result) = match prepared {
                Err(error) => (None, None, Err(error)),
                Ok(prepared) => {
                    let (number, hash) = (prepared.block.header.number, prepared.hash);
                    match self.import_prepared(prepared) {
                        Err(error) => return ControlFlow::Break(Some(error)),
                        Ok(outcome) => (Some(number), Some(hash), Ok(outcome)),
                    }
                }
            };
            let flow = on_block(StreamedBlock { position, number, hash, result });
            position += 1;
            match flow {
                ControlFlow::Continue(()) => ControlFlow::Continue(()),
                ControlFlow::Break(()) => ControlFlow::Break(None),
            }
        });
        self.writer.lock().trim();
        failure.flatten().map_or(Ok(()), Err)
    }
}
