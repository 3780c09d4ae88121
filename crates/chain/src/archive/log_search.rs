use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_evm::Deadline;
use rhizome_primitives::{Address, B256, Bloom, LogRef};
use rhizome_storage::{LOG_SHARD_BLOCKS, LogIndexQuery, RawReceipts};

use crate::archive::Archive;
use crate::error::ChainError;

/// Blocks whose candidates are collected at once. Bounds the memory; the deadline is checked in between.
const WINDOW_BLOCKS: u64 = 64 * LOG_SHARD_BLOCKS;

/// Most values that an inline search looks up, and most blocks and bytes of receipts that it reads: 150 µs in all.
const INLINE_VALUES: usize = 8;
const INLINE_BLOCKS: u64 = 16;
const INLINE_BYTES: usize = 64 << 10;

/// Conditions on a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Accepted addresses. Empty: any address.
    pub addresses: Vec<Address>,
    /// Accepted topics by position. `None` or an empty list accepts any topic and none; a list does not match a log without a
    /// topic at that position.
    pub topics: Vec<Option<Vec<B256>>>,
}

impl LogFilter {
    /// Whether a log matches.
    pub fn matches(&self, log: &LogRef<'_>) -> bool {
        let address = self.addresses.is_empty() || self.addresses.contains(log.address);
        let mut topics = log.topics();
        address
            && self.topics.iter().map(|accepted| (topics.next(), accepted.as_deref())).all(|pair| match pair {
                (_, None | Some([])) => true,
                (topic, Some(accepted)) => topic.is_some_and(|topic| accepted.contains(topic)),
            })
    }
}

/// Position of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition {
    /// Height of the block.
    pub block_number: u64,
    /// Hash of the block.
    pub block_hash: B256,
    /// Hash of the transaction.
    pub transaction_hash: B256,
    /// Position of the transaction in the block.
    pub transaction_index: u64,
    /// Position of the log in the block.
    pub log_index: u64,
}

/// A log that was found.
#[derive(Debug, Clone)]
pub struct FoundLog<'a> {
    /// The log, borrowed from the searched receipts.
    pub log: LogRef<'a>,
    /// Its position.
    pub position: LogPosition,
}

/// The receipts of a block, for a search.
#[derive(Debug)]
pub struct BlockLogs {
    number: u64,
    hash: B256,
    receipts: Arc<RawReceipts>,
}

/// Why a search ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum LogSearchError {
    /// The chain could not be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The deadline passed or the request was cancelled.
    #[error("the search was not finished in time")]
    DeadlineExceeded,
}

impl From<rhizome_storage::StorageError> for LogSearchError {
    fn from(error: rhizome_storage::StorageError) -> Self {
        Self::Chain(error.into())
    }
}

/// Visits the logs of the best chain from block `from` to block `to`, both included, in order. An inline deadline has passed when
/// the search is about to read more than a few blocks.
pub(crate) fn visit_logs(
    archive: &Archive,
    filter: &LogFilter,
    from: u64,
    to: u64,
    deadline: &Deadline,
    visit: &mut dyn FnMut(FoundLog<'_>) -> ControlFlow<()>,
) -> Result<(), LogSearchError> {
    let first = archive.store.first_receipts();
    // Genesis has no receipts.
    if from.max(1) < first && from <= to && to > 0 {
        return Err(ChainError::ReceiptsNotKept { number: from.max(1), first }.into());
    }
    let topics = indexed_topics(filter);
    let compiled = CompiledFilter::new(filter);
    let query = LogIndexQuery { addresses: &filter.addresses, topics: &topics };
    let is_too_long = |is_long: bool| match deadline.is_inline() && is_long {
        true => Err(LogSearchError::DeadlineExceeded),
        false => Ok(()),
    };
    is_too_long(filter.addresses.len() + topics.iter().map(Vec::len).sum::<usize>() > INLINE_VALUES)?;
    let mut bytes = 0_usize;
    let mut first = from;
    while first <= to {
        let last = to.min(first.saturating_add(WINDOW_BLOCKS - 1));
        is_too_long(last < to)?;
        let candidates = match first == last {
            // One block is read faster than the index.
            true => None,
            false => archive.store.log_candidates(&query, first, last)?,
        };
        is_too_long(
            candidates.as_ref().map_or((last - first).saturating_add(1), |found| found.len() as u64) > INLINE_BLOCKS,
        )?;
        let numbers: Box<dyn Iterator<Item = u64>> = match candidates {
            Some(candidates) => Box::new(candidates.into_iter()),
            None => Box::new(first..=last),
        };
        for number in numbers {
            if deadline.has_passed() {
                return Err(LogSearchError::DeadlineExceeded);
            }
            let Some(hash) = archive.store.main_hash(number)? else { continue };
            let receipts = match deadline.is_inline() {
                true => archive.raw_receipts(&hash)?,
                // Not cached: a wide search reads most receipts once.
                false => archive.store.raw_receipts(&hash)?.map(Arc::new),
            };
            let Some(receipts) = receipts else { continue };
            bytes = bytes.saturating_add(receipts.bytes());
            is_too_long(bytes > INLINE_BYTES)?;
            if (BlockLogs { number, hash, receipts }).visit(&compiled, visit).is_break() {
                return Ok(());
            }
        }
        let Some(next) = last.checked_add(1) else { break };
        first = next;
    }
    Ok(())
}

/// Returns the numbers of blocks that may have a matching log, see [`crate::Chain::blocks_with_logs`].
pub(crate) fn blocks_with_logs(
    archive: &Archive,
    filter: &LogFilter,
    from: u64,
    to: u64,
) -> Result<Option<Vec<u64>>, ChainError> {
    let topics = indexed_topics(filter);
    let query = LogIndexQuery { addresses: &filter.addresses, topics: &topics };
    Ok(archive.store.log_candidates(&query, from, to)?)
}

fn indexed_topics(filter: &LogFilter) -> Vec<Vec<B256>> {
    filter.topics.iter().map(|topics| topics.clone().unwrap_or_default()).collect()
}

impl BlockLogs {
    pub(crate) fn new(number: u64, hash: B256, receipts: Arc<RawReceipts>) -> Self {
        Self { number, hash, receipts }
    }

    /// Returns the logs that match a filter, in order.
    pub fn matching(&self, filter: &LogFilter) -> Vec<FoundLog<'_>> {
        let mut found = Vec::new();
        let collected = self.visit(&CompiledFilter::new(filter), &mut |log| {
            found.push(log);
            ControlFlow::Continue(())
        });
        debug_assert!(collected.is_continue(), "collecting never breaks off");
        found
    }

    fn visit<'a>(
        &'a self,
        compiled: &CompiledFilter<'_>,
        visit: &mut dyn FnMut(FoundLog<'a>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut log_index = 0;
        let receipts = self.receipts.iter().zip(self.receipts.transaction_hashes());
        for (transaction_index, (receipt, hash)) in (0..).zip(receipts) {
            let Some((bloom, logs)) = receipt.bloom_and_logs() else { continue };
            let may_match = compiled.may_match(&bloom);
            for log in logs {
                let log = if may_match { LogRef::decode(&log).ok() } else { None };
                if let Some(log) = log.filter(|log| compiled.filter.matches(log)) {
                    let (block_number, block_hash, transaction_hash) = (self.number, self.hash, *hash);
                    let position =
                        LogPosition { block_number, block_hash, transaction_hash, transaction_index, log_index };
                    visit(FoundLog { log, position })?;
                }
                log_index += 1;
            }
        }
        ControlFlow::Continue(())
    }
}

/// A filter with the bloom bits of its values, hashed once for all receipts.
struct CompiledFilter<'a> {
    filter: &'a LogFilter,
    /// For each condition, the bits of its alternatives.
    conditions: Vec<Vec<[u16; 3]>>,
}

impl<'a> CompiledFilter<'a> {
    fn new(filter: &'a LogFilter) -> Self {
        let addresses = filter.addresses.iter().map(|address| Bloom::bits(address.as_slice())).collect();
        let topics = filter.topics.iter().flatten();
        let topics = topics.map(|topics| topics.iter().map(|topic| Bloom::bits(topic.as_slice())).collect());
        let conditions = std::iter::once(addresses).chain(topics);
        Self { filter, conditions: conditions.filter(|condition: &Vec<_>| !condition.is_empty()).collect() }
    }

    /// Whether a receipt with this bloom can have a matching log. False is certain.
    fn may_match(&self, bloom: &Bloom) -> bool {
        let matches = |alternatives: &Vec<[u16; 3]>| alternatives.iter().any(|bits| bloom.has_bits(*bits));
        !bloom.is_zero() && self.conditions.iter().all(matches)
    }
}
