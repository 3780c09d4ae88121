//! Many blocks in a row: decoding, senders and proofs of work of the next blocks run ahead of execution.

use std::ops::ControlFlow;

use rhizome_primitives::B256;

use crate::import::pipeline::ImportPipeline;
use crate::{BlockDecodeError, Chain, ImportError, ImportOutcome, PreparedBlock};

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
        let take = |row: &mut ImportPipeline<'_, _, _>, prepared: Result<PreparedBlock, _>| match prepared {
            Ok(prepared) => row.import(Ok((prepared.block.header.number, prepared.hash)), prepared),
            Err(error) => row.skip(Err(error)),
        };
        let failure = self.import_in_a_row(
            blocks,
            |raw| PreparedBlock::decode(&raw, spec),
            take,
            |block, outcome| {
                let (number, hash, result) = match (block, outcome) {
                    (Ok((number, hash)), Ok(outcome)) => (Some(number), Some(hash), Ok(outcome)),
                    (Ok(_), Err(error)) => return ControlFlow::Break(Some(error)),
                    (Err(error), _) => (None, None, Err(error)),
                };
                let flow = on_block(StreamedBlock { position, number, hash, result });
                position += 1;
                flow.map_break(|()| None)
            },
        );
        failure.map_or(Ok(()), Err)
    }
}
