//! The thread that feeds downloaded blocks to the importer, in order.

use super::task::SyncWork;
use rhizome_chain::{Chain, ImportOutcome, PreparedBlock, lower_priority};
use rhizome_wire::rsk::BlockIdentifier;
use std::cell::Cell;
use std::iter;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Time between two looks for results while no block arrives.
const REPORT_TIME: Duration = Duration::from_millis(2);
/// Generation of blocks after the network was stopped.
const STOPPED: u64 = u64::MAX;

/// Handle of the thread.
pub(super) struct BlockImporter {
    blocks: Sender<DownloadedBlock>,
    /// Blocks of earlier generations are dropped.
    generation: Arc<AtomicU64>,
}

/// A block on its way to the importer.
struct DownloadedBlock {
    generation: u64,
    identifier: BlockIdentifier,
    block: Box<PreparedBlock>,
}

impl BlockImporter {
    /// Starts the thread. It ends when the handle is dropped.
    pub(super) fn start(
        chain: Arc<Chain>,
        reports: UnboundedSender<SyncWork>,
    ) -> std::io::Result<(BlockImporter, JoinHandle<()>)> {
        let (blocks, received) = channel();
        let generation = Arc::new(AtomicU64::new(0));
        let current = Arc::clone(&generation);
        let run = move || import(&chain, &received, &reports, &current);
        let thread = thread::Builder::new().name("sync-import".into()).spawn(run)?;
        Ok((BlockImporter { blocks, generation }, thread))
    }

    /// Queues a block. The caller bounds their number.
    pub(super) fn push(&self, identifier: BlockIdentifier, block: Box<PreparedBlock>) {
        let generation = self.generation.load(Ordering::Acquire);
        // The thread ends with this handle.
        let _ = self.blocks.send(DownloadedBlock { generation, identifier, block });
    }

    /// Drops the blocks that wait. Some may be imported nevertheless.
    pub(super) fn clear(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the generation of blocks that are queued now.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }
}

impl Drop for BlockImporter {
    fn drop(&mut self) {
        self.generation.store(STOPPED, Ordering::Release);
    }
}

fn import(chain: &Chain, blocks: &Receiver<DownloadedBlock>, reports: &UnboundedSender<SyncWork>, current: &AtomicU64) {
    // The threads that prepare the blocks inherit it.
    lower_priority();
    // Generation of a block that was not imported: the rest of it is dropped.
    let mut broken = None;
    let next = Cell::new(None);
    while let Some(first) = next.take().or_else(|| blocks.recv().ok()) {
        let generation = first.generation;
        let is_current = || generation == current.load(Ordering::Acquire);
        if !is_current() || broken == Some(generation) {
            continue;
        }
        let under_way = Cell::new(0_usize);
        let feed = |block: DownloadedBlock| {
            under_way.set(under_way.get() + 1);
            Some((block.identifier, *block.block))
        };
        // Ends at a block of another generation, and when no block is under way: the importer has written all.
        let later = iter::from_fn(|| {
            if !is_current() {
                return None;
            }
            match blocks.recv_timeout(REPORT_TIME) {
                Ok(block) if block.generation == generation => Some(feed(block)),
                Ok(block) => {
                    next.set(Some(block));
                    None
                }
                Err(RecvTimeoutError::Timeout) if under_way.get() > 0 => Some(None),
                Err(_) => None,
            }
        });
        let items = iter::once(feed(first)).chain(later);
        let mut failed = None;
        let result = chain.import_from_peers(items, |block, outcome| {
            under_way.set(under_way.get().saturating_sub(1));
            let is_stored = !matches!(outcome, ImportOutcome::NoParent | ImportOutcome::Invalid(_));
            // Fails only together with the write of the next block.
            let _ = if is_stored { chain.headers().advance(block.number) } else { Ok(()) };
            let _ = reports.send(SyncWork::Imported { generation, block, outcome });
            if !is_stored {
                failed = Some(generation);
            }
            if is_stored && is_current() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if let Err(error) = result {
            failed = Some(generation);
            let _ = reports.send(SyncWork::Failed(error.to_string()));
        }
        broken = failed.or(broken);
    }
}
