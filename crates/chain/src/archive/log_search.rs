use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_evm::Deadline;
use rhizome_primitives::{Address, B256, Bloom, LogRef};
use rhizome_storage::{LOG_SHARD_BLOCKS, LogIndexQuery, RawReceipts};

use crate::{Chain, ChainError};

/// Blocks whose candidates are collected at once: bounds memory, and the deadline is looked at in between.
const WINDOW_BLOCKS: u64 = 64 * LOG_SHARD_BLOCKS;

/// Values that a brief search may look up, and blocks and bytes of receipts that it may look at: some 150 µs in all.
const BRIEF_VALUES: usize = 8;
const BRIEF_BLOCKS: u64 = 16;
const BRIEF_BYTES: usize = 64 << 10;

/// Which logs are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Any of these addresses; empty: any at all.
    pub addresses: Vec<Address>,
    /// By position: any of these topics. None (or an empty list) takes anything, also a log with fewer topics; a
    /// position with topics does not match a log that has none there.
    pub topics: Vec<Option<Vec<B256>>>,
}

impl LogFilter {
    /// Whether a log is wanted.
    pub fn matches(&self, log: &LogRef<'_>) -> bool {
        let address = self.addresses.is_empty() || self.addresses.contains(log.address);
        let mut topics = log.topics();
        address
            && self.topics.iter().map(|wanted| (topics.next(), wanted.as_deref())).all(|pair| match pair {
                (_, None | Some([])) => true,
                (topic, Some(wanted)) => topic.is_some_and(|topic| wanted.contains(topic)),
            })
    }
}

/// Where a log stands.
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
    /// The log, inside of the receipts that were searched.
    pub log: LogRef<'a>,
    /// Where it stands.
    pub position: LogPosition,
}

/// The receipts of a block whose logs are looked for.
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
    /// The time is over, or nobody waits any more.
    #[error("the search was not finished in time")]
    DeadlineExceeded,
}

impl From<rhizome_storage::StorageError> for LogSearchError {
    fn from(error: rhizome_storage::StorageError) -> Self {
        Self::Chain(error.into())
    }
}

impl Chain {
    /// Hands over the logs of the best chain from block `from` to block `to`, both included, in order. A brief deadline has
    /// passed when the search is about to look at more than a few blocks.
    pub fn visit_logs(
        &self,
        filter: &LogFilter,
        from: u64,
        to: u64,
        deadline: &Deadline,
        visit: &mut dyn FnMut(FoundLog<'_>) -> ControlFlow<()>,
    ) -> Result<(), LogSearchError> {
        let to = to.min(self.head().number());
        let topics: Vec<Vec<B256>> = filter.topics.iter().map(|topics| topics.clone().unwrap_or_default()).collect();
        let sieve = CompiledFilter::new(filter);
        let query = LogIndexQuery { addresses: &filter.addresses, topics: &topics };
        let is_too_long = |is_long: bool| match deadline.is_inline() && is_long {
            true => Err(LogSearchError::DeadlineExceeded),
            false => Ok(()),
        };
        is_too_long(filter.addresses.len() + topics.iter().map(Vec::len).sum::<usize>() > BRIEF_VALUES)?;
        let mut bytes = 0_usize;
        let mut first = from;
        while first <= to {
            let last = to.min(first.saturating_add(WINDOW_BLOCKS - 1));
            is_too_long(last < to)?;
            let candidates = match first == last {
                // To look at one block is quicker than to look it up.
                true => None,
                false => self.archive.store.log_candidates(&query, first, last)?,
            };
            is_too_long(
                candidates.as_ref().map_or((last - first).saturating_add(1), |found| found.len() as u64) > BRIEF_BLOCKS,
            )?;
            let numbers: Box<dyn Iterator<Item = u64>> = match candidates {
                Some(candidates) => Box::new(candidates.into_iter()),
                None => Box::new(first..=last),
            };
            for number in numbers {
                if deadline.has_passed() {
                    return Err(LogSearchError::DeadlineExceeded);
                }
                let Some(hash) = self.main_hash(number)? else { continue };
                let receipts = match deadline.is_inline() {
                    true => self.archive.raw_receipts(&hash)?,
                    // Past the cache: most receipts of a wide search are only looked at.
                    false => self.archive.store.raw_receipts(&hash)?.map(Arc::new),
                };
                let Some(receipts) = receipts else { continue };
                bytes = bytes.saturating_add(receipts.bytes());
                is_too_long(bytes > BRIEF_BYTES)?;
                if (BlockLogs { number, hash, receipts }).visit(&sieve, visit).is_break() {
                    return Ok(());
                }
            }
            let Some(next) = last.checked_add(1) else { break };
            first = next;
        }
        Ok(())
    }

    /// The logs of one block, on the best chain or off it; none when it is unknown.
    pub fn logs_in_block(&self, hash: &B256) -> Result<Option<BlockLogs>, ChainError> {
        let Some(record) = self.block(hash)? else { return Ok(None) };
        let Some(receipts) = self.archive.raw_receipts(hash)? else { return Ok(None) };
        Ok(Some(BlockLogs { number: record.number(), hash: *hash, receipts }))
    }
}

impl BlockLogs {
    /// Those that a filter wants, in order.
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
        sieve: &CompiledFilter<'_>,
        visit: &mut dyn FnMut(FoundLog<'a>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut log_index = 0;
        let receipts = self.receipts.iter().zip(self.receipts.transaction_hashes());
        for (transaction_index, (receipt, hash)) in (0..).zip(receipts) {
            let Some((bloom, logs)) = receipt.bloom_and_logs() else { continue };
            let may_match = sieve.may_match(&bloom);
            for log in logs {
                let log = if may_match { LogRef::decode(&log).ok() } else { None };
                if let Some(log) = log.filter(|log| sieve.filter.matches(log)) {
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

/// A filter with the bloom bits of its values, which are hashed once for all receipts.
struct CompiledFilter<'a> {
    filter: &'a LogFilter,
    /// For each condition the bits of its alternatives.
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

    /// What the bloom of a receipt says about the filter: false is certain.
    fn may_match(&self, bloom: &Bloom) -> bool {
        let matches = |alternatives: &Vec<[u16; 3]>| alternatives.iter().any(|bits| bloom.has_bits(*bits));
        !bloom.is_zero() && self.conditions.iter().all(matches)
    }
}
