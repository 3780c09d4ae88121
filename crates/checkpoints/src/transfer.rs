//! Work on many pieces, a few at once.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;
use rhizome_chain::lower_priority;

use crate::error::CheckpointError;

/// Transfers at the same time. Each holds a piece twice in memory: as it is, and compressed.
const TRANSFERS: usize = 4;

/// Progress of a transfer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Bytes of the files that are done.
    pub done: u64,
    /// Bytes of all files.
    pub total: u64,
    /// Compressed bytes that crossed the network or were written; 0 for pieces that were there.
    pub moved: u64,
}

/// Bytes of a piece that is done: its length, and the bytes that were moved for it.
pub(crate) struct PieceBytes {
    pub(crate) length: u64,
    pub(crate) moved: u64,
}

/// Calls `work` for each piece on a few threads, until the first failure. `report` may stop.
pub(crate) fn transfer<T: Sync>(
    pieces: &[T],
    total: u64,
    work: impl Fn(&T) -> Result<PieceBytes, CheckpointError> + Sync,
    report: &(dyn Fn(Transferred) -> ControlFlow<()> + Sync),
) -> Result<Transferred, CheckpointError> {
    let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let progress = Mutex::new(Transferred { total, ..Transferred::default() });
    let failure = Mutex::new(None);
    let run = || {
        lower_priority();
        while !is_stopped.load(Ordering::Relaxed)
            && let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let result = work(piece).and_then(|bytes| {
                let mut progress = progress.lock();
                progress.done += bytes.length;
                progress.moved += bytes.moved;
                if report(*progress).is_break() { Err(CheckpointError::Stopped) } else { Ok(()) }
            });
            if let Err(error) = result {
                is_stopped.store(true, Ordering::Relaxed);
                failure.lock().get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..TRANSFERS.min(pieces.len()) {
            scope.spawn(run);
        }
    });
    match failure.into_inner() {
        Some(error) => Err(error),
        None => Ok(progress.into_inner()),
    }
}
