//! A source of many blocks: prepares them ahead, in parallel, and feeds them to the importer in order.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use rhizome_primitives::rlp::decode_list;
use rhizome_storage::NodeVersions;

use crate::error::ChainError;
use crate::import::block_group::MAX_BLOCKS;
use crate::import::importer::Importer;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::pipeline::MAX_IN_FLIGHT;
use crate::import::prepared_block::PreparedBlock;
use crate::import::read_ahead::thread_pool;
use crate::import::report::{BlockReport, SourceControl};
use crate::import::rules::is_worth_recovering;

/// Most blocks of one source that are under way: being prepared, queued, or in flight.
const BLOCKS_UNDER_WAY: usize = 64;
/// The same where blocks are compared in groups. Enough for full ones: the blocks in flight and those of the open group, and some that are
/// prepared meanwhile.
const GROUPED_BLOCKS_UNDER_WAY: usize = MAX_IN_FLIGHT + 4 * MAX_BLOCKS;
/// Bytes of encoded blocks under way at which no block is added.
const BYTES_UNDER_WAY: usize = 32 << 20;
/// Least bytes that a transaction counts for. One of 10 bytes takes as much memory, once decoded, as one of the usual length.
const TRANSACTION_BYTES: usize = 100;

/// An item of a source.
pub(crate) trait SourceItem: Send {
    /// Returns its approximate size in memory, in bytes.
    fn bytes(&self) -> usize;
}

/// Returns the bytes that an encoded block counts for: its length, unless its transactions are unusually short.
pub(crate) fn counted_bytes(raw: &[u8]) -> usize {
    let block = decode_list(raw).and_then(|list| list.exactly("block"));
    let transactions = block.and_then(|[_, transactions, _]| transactions.elements("transactions"));
    transactions.map_or(0, Iterator::count).saturating_mul(TRANSACTION_BYTES).max(raw.len())
}

impl SourceItem for Vec<u8> {
    fn bytes(&self) -> usize {
        counted_bytes(self)
    }
}

impl<N: Send> SourceItem for (N, PreparedBlock) {
    fn bytes(&self) -> usize {
        counted_bytes(&self.1.raw)
    }
}

/// An item of a source, prepared.
pub(crate) struct PreparedItem<N> {
    /// Data that the source reports with the result.
    pub(crate) note: N,
    /// `None` if the item is not a block.
    pub(crate) block: Option<PreparedBlock>,
}

/// An item under way.
struct PendingItem<N> {
    bytes: usize,
    note: Receiver<N>,
    report: Receiver<BlockReport>,
}

impl<N> PendingItem<N> {
    /// Returns the result of the item if it is known.
    fn poll(&self) -> Option<(Option<N>, BlockReport)> {
        match self.report.try_recv() {
            Ok(report) => Some((self.note.recv().ok(), report)),
            Err(TryRecvError::Disconnected) => Some((self.note.recv().ok(), stopped())),
            Err(TryRecvError::Empty) => None,
        }
    }

    fn wait(&self) -> (Option<N>, BlockReport) {
        let report = self.report.recv().unwrap_or_else(|_| stopped());
        (self.note.recv().ok(), report)
    }
}

fn stopped() -> BlockReport {
    BlockReport::Done(Err(ChainError::ImporterStopped.into()))
}

/// Feeds the items of a source to the importer. `items` yields `None` while the source has no item. `prepare` runs ahead on all
/// cores. `on_report` gets each result in order, after the block is on disk, until it breaks: then the blocks under way are
/// dropped. Blocks that are already written are reported, too. `stops_at_failure`: nothing is imported behind a block that is not.
pub(crate) fn feed<T: SourceItem, N: Send + 'static, B>(
    importer: &Importer,
    origin: BlockOrigin,
    items: impl Iterator<Item = Option<T>>,
    stops_at_failure: bool,
    prepare: impl Fn(T) -> PreparedItem<N> + Sync,
    mut on_report: impl FnMut(N, BlockReport) -> ControlFlow<B>,
) -> Result<Option<B>, ChainError> {
    let source = Arc::new(SourceControl::new(stops_at_failure));
    let most = match importer.steps.archive.store.node_versions() {
        NodeVersions::All => BLOCKS_UNDER_WAY,
        NodeVersions::Current => GROUPED_BLOCKS_UNDER_WAY,
    };
    let prepare = &prepare;
    let mut pending: VecDeque<PendingItem<N>> = VecDeque::new();
    let mut report = |(note, report): (Option<N>, BlockReport)| match note {
        Some(note) => on_report(note, report),
        // A panic in `prepare`: the scope passes it on.
        None => ControlFlow::Continue(()),
    };
    let run = |spawn: &dyn Fn(T) -> Result<PendingItem<N>, ChainError>| {
        let mut broken = None;
        let mut bytes: usize = 0;
        for item in items {
            if let Some(item) = item {
                bytes = bytes.saturating_add(item.bytes());
                pending.push_back(spawn(item)?);
            }
            while broken.is_none()
                && let Some(done) = match pending.front() {
                    Some(front) if pending.len() >= most || bytes >= BYTES_UNDER_WAY => Some(front.wait()),
                    Some(front) => front.poll(),
                    None => None,
                }
            {
                bytes = bytes.saturating_sub(pending.pop_front().map_or(0, |item| item.bytes));
                broken = report(done).break_value();
            }
            if broken.is_some() {
                break;
            }
        }
        while broken.is_none()
            && let Some(front) = pending.pop_front()
        {
            broken = report(front.wait()).break_value();
        }
        if broken.is_some() {
            source.cancel();
            for item in pending.drain(..) {
                let (note, result) = item.wait();
                if matches!(
                    &result,
                    BlockReport::Done(Ok(ImportOutcome::ImportedBest | ImportOutcome::ImportedNotBest))
                ) {
                    // The source has ended: the answer changes nothing.
                    drop(report((note, result)));
                }
            }
        }
        Ok(broken)
    };
    let enqueue = |deliver: &dyn Fn(Delivery<T, N>), item: T| {
        let (block_sender, block) = sync_channel(1);
        let (note_sender, note) = sync_channel(1);
        let bytes = item.bytes();
        deliver(Delivery { item, block: block_sender, note: note_sender });
        let report = importer.queue(block, origin, &source)?;
        Ok(PendingItem { bytes, note, report })
    };
    match thread_pool() {
        Some(pool) => pool.in_place_scope(|scope| {
            run(&|item| enqueue(&|delivery| scope.spawn(move |_| delivery.make(importer, prepare)), item))
        }),
        None => run(&|item| enqueue(&|delivery| delivery.make(importer, prepare), item)),
    }
}

/// An item to be prepared, and where its parts go.
struct Delivery<T, N> {
    item: T,
    block: std::sync::mpsc::SyncSender<Option<PreparedBlock>>,
    note: std::sync::mpsc::SyncSender<N>,
}

impl<T, N> Delivery<T, N> {
    fn make(self, importer: &Importer, prepare: impl Fn(T) -> PreparedItem<N>) {
        let PreparedItem { note, block } = prepare(self.item);
        if let Some(block) = &block {
            recover_ahead(importer, block);
        }
        // The source waits for the note, the importer for the block, unless the chain is being closed.
        drop(self.note.send(note));
        drop(self.block.send(block));
    }
}

/// Recovers the senders of a block that the importer will need. Cheaper checks come first.
fn recover_ahead(importer: &Importer, block: &PreparedBlock) {
    let archive = &importer.steps.archive;
    if importer.invalid.verdict(&block.hash).is_some() || archive.store.has_block(&block.hash).unwrap_or(false) {
        return;
    }
    // A failure shows again when the importer makes the same checks.
    if is_worth_recovering(block, archive, importer.steps.config.clock.now()).unwrap_or(false) {
        block.senders();
    }
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::rlp::list;

    use super::*;

    #[test]
    fn short_transactions_count_as_usual_ones() {
        let block = |transactions: &[u8]| list(&[&[0xc0], &list(transactions)[..], &[0xc0]].concat());
        let short = [&[0xc9][..], &[0x80; 9]].concat();
        assert_eq!(counted_bytes(&block(&short.repeat(1000))), 100_000);
        let long = block(&list(&[0x80; 150]).repeat(1000));
        assert_eq!(counted_bytes(&long), long.len());
        assert_eq!(counted_bytes(b"no block"), 8);
    }
}
