//! Blocks that were stored without the address index: a thread adds their rows.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use rhizome_primitives::B256;
use rhizome_storage::{AddressIndex, CallIndex, Store};

use crate::archive::Archive;
use crate::background_thread::BackgroundThread;
use crate::call_indexer;
use crate::error::{ChainError, ImportError};
use crate::import::importer::Importer;
use crate::import::priority::lower_priority;
use crate::upkeep::UpkeepTask;

/// Time after which a step that failed is repeated.
const PAUSE: Duration = Duration::from_secs(1);
/// Blocks of a step, at most: each step ends a group of blocks of a long import.
const BLOCKS_PER_STEP: u64 = 1024;

/// Brings the index, and that of inner calls, in line with the blocks that were stored while it was off. Does nothing if it is off now.
pub(crate) fn begin(archive: &Archive, head: (u64, B256)) -> Result<(), ChainError> {
    // Genesis and the block that a fork begins at have no receipts.
    let first = archive.first_block().saturating_add(1).max(archive.store.first_receipts());
    if let Some(index) = AddressIndex::new(&archive.store) {
        index.begin(head, first)?;
    }
    if let Some(index) = CallIndex::new(&archive.store) {
        index.begin(head, first)?;
    }
    Ok(())
}

/// Starts the thread that completes the index; `None` if no block is missing. It ends with the last missing block, unless inner
/// calls are indexed: a block that was executed without them can join the best chain at any time.
pub(crate) fn start(importer: &Arc<Importer>) -> Result<Option<BackgroundThread>, ChainError> {
    let store = &importer.steps.archive.store;
    let has_calls = CallIndex::new(store).is_some();
    let is_missing = match AddressIndex::new(store) {
        Some(index) => index.missing()?.is_some_and(|missing| !missing.is_empty()),
        None => false,
    };
    if !is_missing && !has_calls {
        return Ok(None);
    }
    let thread = BackgroundThread::start(importer, "address-index", move |importer, stopped| {
        lower_priority();
        let mut pause = Duration::ZERO;
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let Some(importer) = importer.upgrade() else { return };
            let added = add_missing(&importer);
            let failure = added.as_ref().err().map(|failure| failure as &dyn Display);
            importer.steps.archive.upkeep.note_attempt(UpkeepTask::AddressIndex, failure);
            pause = match added {
                Ok(true) => Duration::ZERO,
                Ok(false) if has_calls => PAUSE,
                Ok(false) => return,
                Err(_) => PAUSE,
            };
        }
    });
    thread.map(Some)
}

/// Adds the rows of some blocks, then their inner calls. Returns false if none is missing any more.
fn add_missing(importer: &Importer) -> Result<bool, ImportError> {
    let plan = index(&importer.steps.archive.store)?.plan(BLOCKS_PER_STEP)?;
    let Some(plan) = plan else { return call_indexer::add_missing(importer) };
    // Nothing moves the head during a job. An outdated plan is dropped.
    importer.run(move |writer| Ok::<_, ChainError>(index(&writer.steps.archive.store)?.write(plan)?))??;
    Ok(true)
}

fn index(store: &Store) -> Result<AddressIndex<'_>, ChainError> {
    AddressIndex::new(store).ok_or(ChainError::ImporterStopped)
}
