//! Removal of old states: a thread moves the oldest kept state forward behind the head.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::Duration;

use crate::archive::Archive;
use crate::archive::ancestry::walk_to_main;
use crate::archive::side_branch::AncestorPosition;
use crate::background_thread::BackgroundThread;
use crate::error::ChainError;
use crate::import::importer::Importer;
use crate::import::steps::ImportSteps;
use crate::upkeep::UpkeepTask;

/// Time between two looks at the head.
const PAUSE: Duration = Duration::from_secs(1);
/// Blocks pruned in one job of the importer.
const BLOCKS_PER_STEP: u64 = 1024;
/// Blocks that have to be due before the thread prunes: each step waits for the disk once, and ends a group of blocks.
const DUE_BLOCKS: u64 = 256;
/// Part of the kept blocks that has to be due, if that is less.
const DUE_SHARE: u64 = 8;

/// Starts the thread that prunes behind the head. It keeps the states of `kept` blocks below the head.
pub(crate) fn start(importer: &Arc<Importer>, kept: u64) -> Result<BackgroundThread, ChainError> {
    let due = (kept / DUE_SHARE).clamp(1, DUE_BLOCKS);
    BackgroundThread::start(importer, "store-prune", move |importer, stopped| {
        while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            let Some(importer) = importer.upgrade() else { return };
            // A verification needs the old states.
            let Some(_pruning) = importer.steps.archive.pruning.try_lock() else { continue };
            let pruned =
                prune_while_due(&importer, kept, due, || stopped.try_recv() == Err(TryRecvError::Disconnected));
            let failure = pruned.as_ref().err().map(|failure| failure as &dyn Display);
            importer.steps.archive.upkeep.note_attempt(UpkeepTask::Pruning, failure);
        }
    })
}

/// Prunes step by step. During a fast import blocks are due all the time: the rest waits, so that groups of blocks stay whole.
fn prune_while_due(importer: &Importer, kept: u64, due: u64, is_stopped: impl Fn() -> bool) -> Result<(), ChainError> {
    while let Some((oldest, target)) = prune_step(importer, kept, due)?
        && target >= oldest.saturating_add(BLOCKS_PER_STEP)
        && !is_stopped()
    {}
    Ok(())
}

/// Gives up all states that are due now, and rewrites the files of states. `kept`: number of blocks below the head whose states stay;
/// `None`: all. `on_progress` gets the oldest kept state and the one to reach, then steps of the second part, and may end the work: the
/// next call continues there.
pub(crate) fn prune_now(
    importer: &Importer,
    kept: Option<u64>,
    mut on_progress: impl FnMut(PruneProgress) -> ControlFlow<()>,
) -> Result<(), ChainError> {
    let _pruning = importer.steps.archive.pruning.lock();
    importer.steps.archive.store.flush_nodes()?;
    while let Some(kept) = kept
        && let Some((oldest, target)) = prune_step(importer, kept, 1)?
    {
        if on_progress(PruneProgress::States { oldest, target }).is_break() {
            return Ok(());
        }
    }
    let store = &importer.steps.archive.store;
    let on_step = |done, total| on_progress(PruneProgress::Files { done, total }).is_continue();
    Ok(store.compact_states(on_step)?)
}

/// Progress of [`crate::Chain::prune`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneProgress {
    /// States are given up.
    States {
        /// Number of the oldest block whose state is kept.
        oldest: u64,
        /// Number that it will have.
        target: u64,
    },
    /// Files are rewritten.
    Files {
        /// Finished steps.
        done: usize,
        /// All steps.
        total: usize,
    },
}

/// Prunes some blocks if `due` blocks can be pruned. Returns the oldest kept state and the one to reach; `None` if nothing
/// was done.
fn prune_step(importer: &Importer, kept: u64, due: u64) -> Result<Option<(u64, u64)>, ChainError> {
    let store = &importer.steps.archive.store;
    let is_due = |oldest: u64, target: u64| target >= oldest.saturating_add(due);
    let next_step = |target: u64| {
        let oldest = store.oldest_state();
        is_due(oldest, target).then(|| target.min(oldest.saturating_add(BLOCKS_PER_STEP)))
    };
    let Some(next) = next_step(target_of(&importer.steps, kept)?) else { return Ok(None) };
    let plan = store.plan_pruning(next)?;
    let pruned = importer.run(move |writer| {
        // Nothing moves the head now.
        let target = target_of(&writer.steps, kept)?;
        let is_pruned = next <= target && writer.steps.archive.store.prune_states(plan)?;
        Ok::<_, ChainError>(is_pruned.then_some((next, target)))
    })??;
    if pruned.is_some() {
        store.drop_pruned()?;
    }
    Ok(pruned)
}

/// Returns the highest block below which no state is needed: by the settings, for the trie at the next start, or for the
/// tries of recent blocks.
fn target_of(steps: &ImportSteps, kept: u64) -> Result<u64, ChainError> {
    let archive = &steps.archive;
    let head = steps.publisher.head();
    let mut target = head.number().saturating_sub(kept).min(fork_of(archive, head.snapshot().position())?);
    if let Some(flushed) = archive.store.flushed_trie()? {
        target = target.min(fork_of(archive, AncestorPosition { number: flushed.number, hash: flushed.hash })?);
    }
    // The changes of a block lead from the state before it.
    let unflushed = archive.store.lowest_unflushed_block()?;
    Ok(unflushed.map_or(target, |number| target.min(number.saturating_sub(1))))
}

/// Returns the number of the last block that a branch shares with the best chain.
fn fork_of(archive: &Archive, block: AncestorPosition) -> Result<u64, ChainError> {
    Ok(walk_to_main(archive, block)?.1.number)
}
