//! The thread that feeds downloaded blocks to the importer, in order.

use super::task::SyncWork;
use super::work_threads::lower_priority;
use rhizome_chain::{Chain, ImportOutcome, PreparedBlock};
use rhizome_wire::rsk::BlockIdentifier;
use std::iter;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use tokio::sync::mpsc::UnboundedSender;

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
    // After a block that was not imported the rest of its generation is dropped.
    // The threads that prepare the blocks inherit it.
    lower_priority();
    let mut broken = None;
    while let Ok(first) = blocks.recv() {
        let generation = first.generation;
        let is_current = |block: &DownloadedBlock| {
            block.generation == current.load(Ordering::Acquire) && broken != Some(block.generation)
        };
        let waiting = iter::once(first).chain(iter::from_fn(|| blocks.try_recv().ok()));
        let items = waiting.filter(is_current).map(|block| (block.identifier, *block.block));
        let mut failed = None;
        let result = chain.import_from_peers(items, |block, outcome| {
            let is_stored = !matches!(outcome, ImportOutcome::NoParent | ImportOutcome::Invalid(_));
            // Fails only together with the write of the next block.
            let _ = if is_stored { chain.headers().advance(block.number) } else { Ok(()) };
            let _ = reports.send(SyncWork::Imported { generation, block, outcome });
            if is_stored {
                return ControlFlow::Continue(());
            }
            failed = Some(generation);
            ControlFlow::Break(())
        });
        if let Err(error) = result {
            failed = Some(generation);
            let _ = reports.send(SyncWork::Failed(error.to_string()));
        }
        broken = failed.or(broken);
    }
}
