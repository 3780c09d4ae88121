//! Reports about queued blocks, and their sources.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use rhizome_primitives::U256;

use crate::error::ImportError;
use crate::import::outcome::ImportOutcome;

/// Result of a queued block.
#[derive(Debug)]
pub(crate) enum BlockReport {
    Done(Result<ImportOutcome, ImportError>),
    /// The source claims another total difficulty. The block was not imported.
    WrongTotalDifficulty {
        actual: U256,
    },
    /// The source was cancelled before the block was written.
    Cancelled,
}

/// Reports the result of a block to its source.
#[derive(Clone)]
pub(crate) struct BlockReporter {
    pub(crate) report: Sender<BlockReport>,
    pub(crate) source: Arc<SourceControl>,
}

/// State shared by the importer and a source of blocks.
#[derive(Default)]
pub(crate) struct SourceControl {
    is_cancelled: AtomicBool,
    /// Whether a block that is not imported cancels the source.
    stops_at_failure: bool,
}

impl SourceControl {
    pub(crate) fn new(stops_at_failure: bool) -> Self {
        Self { is_cancelled: AtomicBool::new(false), stops_at_failure }
    }

    /// Drops the blocks of the source that are not written yet.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
    }
}

impl BlockReporter {
    /// Whether the source was cancelled: no more of its blocks are written.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.source.is_cancelled.load(Ordering::Acquire)
    }

    pub(crate) fn report(self, report: BlockReport) {
        let is_imported = match &report {
            BlockReport::Done(Ok(outcome)) => outcome.is_stored(),
            _ => false,
        };
        if !is_imported && self.source.stops_at_failure {
            self.source.cancel();
        }
        // The source may have ended.
        drop(self.report.send(report));
    }
}
