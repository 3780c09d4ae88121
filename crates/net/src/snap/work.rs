//! Work of the state download that takes more than a millisecond. It never runs on the threads of the network.

use super::peers::SnapRequest;
use crate::peer::PeerKey;
use crate::peer::events::PeerMessage;
use crate::requests::BackgroundWork;
use crate::verified_blocks::linked_blocks;
use rhizome_chain::{Chain, ChainError, PreparedBlock, STATE_CHUNK_BYTES, StateDownload, StateDownloadError};
use rhizome_primitives::U256;
use rhizome_wire::rsk::RskMessage;
use std::sync::Arc;

/// Result of work outside of the task.
pub(super) enum SnapWork {
    /// The download of the last run.
    Resumed(Result<Option<Arc<StateDownload>>, ChainError>),
    /// An answer was verified and written, or was wrong.
    Answer { key: PeerKey, request: SnapRequest, result: Result<AnswerContent, StateDownloadError> },
    /// The state is that of the chain.
    TakenOver(Result<(), ChainError>),
}

/// Content of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerContent {
    /// Nothing: the answer does not fit its request.
    Wrong,
    /// The chunk.
    Chunk,
    /// Blocks, and the total difficulty of the pivot that follows from the stated ones.
    Blocks { difficulty: U256 },
}

/// Continues the download that the last run left.
pub(super) fn resume(background: &BackgroundWork<SnapWork>) {
    background.start(|chain| {
        let resumed = chain.resume_state_download().and_then(|download| {
            let finished = download.as_ref().map_or(Ok(()), StateDownload::finish_segments);
            match finished {
                Ok(()) => Ok(download),
                Err(StateDownloadError::Chain(error)) => Err(error),
                // A damaged file: its chunks are missing again.
                Err(_) => Ok(download),
            }
        });
        SnapWork::Resumed(resumed.map(|download| download.map(Arc::new)))
    });
}

/// Verifies an answer and writes it.
pub(super) fn take_answer(
    background: &BackgroundWork<SnapWork>,
    download: &Arc<StateDownload>,
    key: PeerKey,
    request: SnapRequest,
    message: PeerMessage,
) {
    let download = Arc::clone(download);
    background.start(move |chain| {
        let result = match request {
            SnapRequest::Chunk(index) => add_chunk(&download, index, message.payload()),
            SnapRequest::Blocks(_) => add_blocks(chain, &download, message.payload()),
        };
        SnapWork::Answer { key, request, result }
    });
}

/// Makes a complete download the state of the chain.
pub(super) fn take_over(background: &BackgroundWork<SnapWork>, download: &Arc<StateDownload>, difficulty: U256) {
    let download = Arc::clone(download);
    background.start(move |chain| SnapWork::TakenOver(chain.take_over_state(&download, difficulty)));
}

fn add_chunk(download: &StateDownload, index: u64, payload: &[u8]) -> Result<AnswerContent, StateDownloadError> {
    let Ok(RskMessage::StateChunkResponse { chunk, number, from, is_complete, .. }) = RskMessage::decode(payload)
    else {
        return Ok(AnswerContent::Wrong);
    };
    if (number, from) != (download.pivot().number, index.saturating_mul(STATE_CHUNK_BYTES)) {
        return Ok(AnswerContent::Wrong);
    }
    match download.add_chunk(index, chunk, is_complete) {
        Ok(()) => Ok(AnswerContent::Chunk),
        Err(error @ StateDownloadError::Chain(_)) => Err(error),
        Err(_) => Ok(AnswerContent::Wrong),
    }
}

/// Adds the blocks that follow from the header chain. Others are ignored.
fn add_blocks(chain: &Chain, download: &StateDownload, payload: &[u8]) -> Result<AnswerContent, StateDownloadError> {
    let Ok(RskMessage::SnapBlocksResponse { blocks, .. }) = RskMessage::decode(payload) else {
        return Ok(AnswerContent::Wrong);
    };
    let Some(next) = download.next_block() else { return Ok(AnswerContent::Wrong) };
    let linked = linked_blocks(chain, &blocks, next);
    let difficulty = linked.first().map(|(_, stated)| *stated);
    let linked: Vec<PreparedBlock> = linked.into_iter().map(|(block, _)| block).collect();
    let above = download.difficulty_of_blocks();
    let added = download.add_blocks(&linked)?;
    Ok(match difficulty {
        Some(difficulty) if added > 0 => AnswerContent::Blocks { difficulty: difficulty.saturating_add(above) },
        _ => AnswerContent::Wrong,
    })
}
