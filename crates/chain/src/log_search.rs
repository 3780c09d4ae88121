use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_evm::Deadline;
use rhizome_primitives::{Address, B256, Bloom, Log};
use rhizome_storage::{LOG_SHARD_BLOCKS, LogQuery, RawReceipts};

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
    pub fn matches(&self, log: &Log) -> bool {
        let address = self.addresses.is_empty() || self.addresses.contains(&log.address);
        address
            && self.topics.iter().enumerate().all(|(position, wanted)| match wanted.as_deref() {
                None | Some([]) => true,
                Some(wanted) => log.topics.get(position).is_some_and(|topic| wanted.contains(topic)),
            })
    }
}

/// A log with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLog {
    /// The log.
    pub log: Log,
    /// Number of its block.
    pub number: u64,
    /// Hash of its block.
    pub block_hash: B256,
    /// Hash of its transaction.
    pub transaction_hash: B256,
    /// Position of its transaction in the block.
    pub transaction_index: usize,
    /// Position of the log in the block.
    pub log_index: usize,
}

/// Why a search ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum LogSearchError {
    /// The chain could not be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// More logs than the caller wants.
    #[error("more than {limit} logs")]
    TooMany {
        /// What the caller wants at most.
        limit: usize,
    },
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
    /// The logs of the best chain from block `from` to block `to`, both included, in order. With a limit, one log more is
    /// an error.
    pub fn search_logs(
        &self,
        filter: &LogFilter,
        from: u64,
        to: u64,
        limit: Option<usize>,
        deadline: &Deadline,
    ) -> Result<Vec<FoundLog>, LogSearchError> {
        let mut found = Vec::new();
        let mut too_many = None;
        self.visit_logs(filter, from, to, deadline, &mut |log| {
            if let Some(limit) = limit.filter(|limit| found.len() >= *limit) {
                too_many = Some(limit);
                return ControlFlow::Break(());
            }
            found.push(log);
            ControlFlow::Continue(())
        })?;
        too_many.map_or(Ok(found), |limit| Err(LogSearchError::TooMany { limit }))
    }

    /// Like [`Chain::search_logs`], but hands each log over as it is found. A brief deadline has passed when the search is
    /// about to look at more than a few blocks.
    pub fn visit_logs(
        &self,
        filter: &LogFilter,
        from: u64,
        to: u64,
        deadline: &Deadline,
        visit: &mut dyn FnMut(FoundLog) -> ControlFlow<()>,
    ) -> Result<(), LogSearchError> {
        let to = to.min(self.head().number());
        let topics: Vec<Vec<B256>> = filter.topics.iter().map(|topics| topics.clone().unwrap_or_default()).collect();
        let sieve = Sieve::new(filter);
        let query = LogQuery { addresses: &filter.addresses, topics: &topics };
        let is_too_long = |is_long: bool| match deadline.is_brief() && is_long {
            true => Err(LogSearchError::DeadlineExceeded),
            false => Ok(()),
        };
        is_too_long(filter.addresses.len() + topics.iter().map(Vec::len).sum::<usize>() > BRIEF_VALUES)?;
        let mut bytes = 0_usize;
        let mut first = from;
        while first <= to {
            let last = to.min(first.saturating_add(WINDOW_BLOCKS - 1));
            is_too_long(last < to)?;
            let candidates = self.archive.store.log_candidates(&query, first, last)?;
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
                let receipts = match deadline.is_brief() {
                    true => self.archive.raw_receipts(&hash)?,
                    // Past the cache: most receipts of a wide search are only looked at.
                    false => self.archive.store.raw_receipts(&hash)?.map(Arc::new),
                };
                let Some(receipts) = receipts else { continue };
                bytes = bytes.saturating_add(receipts.bytes());
                is_too_long(bytes > BRIEF_BYTES)?;
                if visit_block_logs(&receipts, &sieve, number, &hash, visit).is_break() {
                    return Ok(());
                }
            }
            let Some(next) = last.checked_add(1) else { break };
            first = next;
        }
        Ok(())
    }

    /// The logs of one block, on the best chain or off it.
    pub fn logs_in_block(&self, filter: &LogFilter, hash: &B256) -> Result<Vec<FoundLog>, ChainError> {
        let mut found = Vec::new();
        let Some(record) = self.block(hash)? else { return Ok(found) };
        let Some(receipts) = self.archive.store.raw_receipts(hash)? else { return Ok(found) };
        let mut visit = |log| {
            found.push(log);
            ControlFlow::Continue(())
        };
        // Collecting never breaks off.
        let _ = visit_block_logs(&receipts, &Sieve::new(filter), record.number(), hash, &mut visit);
        Ok(found)
    }
}

/// `receipts` are undecoded: most of them are only looked at.
fn visit_block_logs(
    receipts: &RawReceipts,
    sieve: &Sieve<'_>,
    number: u64,
    block_hash: &B256,
    visit: &mut dyn FnMut(FoundLog) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut log_index = 0;
    for (transaction_index, (receipt, hash)) in receipts.iter().zip(receipts.transaction_hashes()).enumerate() {
        let matching = receipt.bloom().filter(|bloom| sieve.may_match(bloom)).and_then(|_| receipt.logs());
        let Some(logs) = matching else {
            log_index += receipt.log_count();
            continue;
        };
        for log in logs {
            if sieve.filter.matches(&log) {
                let (block_hash, transaction_hash) = (*block_hash, *hash);
                visit(FoundLog { log, number, block_hash, transaction_hash, transaction_index, log_index })?;
            }
            log_index += 1;
        }
    }
    ControlFlow::Continue(())
}

/// A filter with the bloom bits of its values, which are hashed once for all receipts.
struct Sieve<'a> {
    filter: &'a LogFilter,
    /// For each condition the bits of its alternatives.
    conditions: Vec<Vec<[u16; 3]>>,
}

impl<'a> Sieve<'a> {
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
