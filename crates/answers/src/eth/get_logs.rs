//! `eth_getLogs`.

use crate::error::{Answer, Details, ErrorCode, RpcError};
use crate::fork::{self, OlderLogs};
use crate::json::JsonWriter;
use crate::log_filter::{LogQuery, SearchRange};
use crate::node::{ForkedChain, Node};
use crate::objects::log_list::LogList;
use crate::options::LogLimits;
use rhizome_chain::FoundLog;
use rhizome_evm::Deadline;
use std::ops::ControlFlow;

/// Returns the matching logs, ascending. Fails if they take more than `max_bytes`, or if the range is wide and they are too many.
/// Searches of narrow ranges are not bound by the `deadline`; they end when `cancellation` says so.
pub fn answer(node: &Node, query: &LogQuery, max_bytes: usize, deadline: &Deadline, cancellation: &Deadline) -> Answer {
    let mut list = LogList::new(max_bytes);
    match query.search_range(node)? {
        SearchRange::Empty => {}
        SearchRange::Block(hash) => {
            let logs = node.chain().logs_in_block(&hash)?;
            if let (None, Some(fork)) = (&logs, node.fork()) {
                return older(fork, query, OlderLogs::Block(hash), max_bytes, deadline, cancellation);
            }
            for found in logs.iter().flat_map(|logs| logs.matching(&query.filter)) {
                let number = found.position.block_number;
                let range = BlockRange { first: number, last: number };
                list.push(found, false).map_err(|error| too_large(error, max_bytes, range, None))?;
            }
        }
        SearchRange::Range(first, last) => {
            if let Some(fork) = node.fork().filter(|fork| first <= fork.number()) {
                let blocks = OlderLogs::Range(first, last.min(fork.number()));
                let older = older(fork, query, blocks, max_bytes, deadline, cancellation)?;
                let left = max_bytes
                    .checked_sub(older.len())
                    .ok_or_else(|| too_large(LogList::full(max_bytes), max_bytes, BlockRange { first, last }, None))?;
                if last <= fork.number() {
                    return Ok(older);
                }
                let own = query.within(fork.number() + 1, last);
                return fork::join(&older, answer(node, &own, left, deadline, cancellation)?);
            }
            let limits = node.options().log_limits;
            let mut search = RangeSearch { range: BlockRange { first, last }, limits, count: 0, max_bytes, list };
            let deadline = if search.is_wide() { deadline } else { cancellation };
            let mut refusal = None;
            node.chain().visit_logs(&query.filter, first, last, deadline, &mut |found| {
                refusal = search.push(found).err();
                if refusal.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            list = match refusal {
                Some(error) => return Err(error),
                None => search.finish()?,
            };
        }
    }
    Ok(list.finish())
}

/// Returns logs of the other chain of a fork.
fn older(
    fork: &ForkedChain,
    query: &LogQuery,
    blocks: OlderLogs,
    max_bytes: usize,
    deadline: &Deadline,
    cancellation: &Deadline,
) -> Answer {
    match (fork, blocks) {
        (ForkedChain::Remote(remote), _) => fork::logs(remote, &query.filter, blocks),
        (ForkedChain::Local { node, .. }, OlderLogs::Range(first, last)) => {
            answer(node, &query.within(first, last), max_bytes, deadline, cancellation)
        }
        (ForkedChain::Local { node, .. }, OlderLogs::Block(hash)) => match node.chain().block(&hash)? {
            Some(record) if record.number() <= fork.number() => answer(node, query, max_bytes, deadline, cancellation),
            _ => Ok(LogList::new(max_bytes).finish()),
        },
    }
}

/// Blocks of the main chain, both ends included.
#[derive(Debug, Clone, Copy)]
struct BlockRange {
    first: u64,
    last: u64,
}

impl BlockRange {
    fn blocks(&self) -> u64 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }

    /// Returns the end of the part below a block. `None` for the first block.
    fn below(&self, number: u64) -> Option<u64> {
        number.checked_sub(1).filter(|to| *to >= self.first)
    }
}

/// Search of a range, up to the limits of its answer.
struct RangeSearch {
    range: BlockRange,
    limits: LogLimits,
    /// Number of logs in the list. More than `limits.logs` only within [`Self::uncapped`]: these blocks are searched to the end,
    /// because the error names them as a range that fits, and their logs must fit in bytes, too.
    count: usize,
    max_bytes: usize,
    list: LogList,
}

impl RangeSearch {
    fn is_wide(&self) -> bool {
        self.range.blocks() > self.limits.blocks
    }

    /// Returns the last block of the largest part without a limit of logs.
    fn uncapped(&self) -> Option<u64> {
        self.limits.blocks.checked_sub(1).map(|more| self.range.first.saturating_add(more))
    }

    /// Returns whether a number of logs is more than the range may have.
    fn are_too_many(&self, logs: usize) -> bool {
        self.is_wide() && self.limits.logs > 0 && logs > self.limits.logs
    }

    fn push(&mut self, found: FoundLog<'_>) -> Result<(), RpcError> {
        let number = found.position.block_number;
        let is_surplus = self.are_too_many(self.count + 1);
        if is_surplus && Some(number) > self.uncapped() {
            let has_enough = !self.are_too_many(self.count);
            let below = self.range.below(number).filter(|_| has_enough);
            return Err(too_many(self.limits, self.range, below.max(self.uncapped())));
        }
        self.count += 1;
        self.list.push(found, false).map_err(|error| match is_surplus {
            true => too_many(self.limits, self.range, self.range.below(number)),
            false => too_large(error, self.max_bytes, self.range, self.range.below(number)),
        })
    }

    fn finish(self) -> Result<LogList, RpcError> {
        match self.are_too_many(self.count) {
            true => Err(too_many(self.limits, self.range, self.uncapped())),
            false => Ok(self.list),
        }
    }
}

/// Returns -32012. The first words are those of the reference. `fitting` is the end of the largest part that would be answered.
fn too_many(limits: LogLimits, range: BlockRange, fitting: Option<u64>) -> RpcError {
    let LogLimits { blocks, logs } = limits;
    let BlockRange { first, last } = range;
    let hint = format!(
        "filter: expected at most {logs} logs, or at most {blocks} blocks; \
         blocks {first:#x} to {last:#x} are {} blocks and hold more than {logs} logs",
        range.blocks()
    );
    let mut data = JsonWriter::with_capacity(256);
    data.begin_object();
    data.key("limit").text("logs");
    data.key("maximumLogs").number((logs as u64).cast_signed());
    data.key("maximumBlocks").number(blocks.cast_signed());
    data.key("blocks").number(range.blocks().cast_signed());
    data.key("logs").number((logs as u64).saturating_add(1).cast_signed());
    let error = RpcError::new(ErrorCode::LogLimitExceeded, format!("Filter returned more than {logs} logs."));
    with_fitting_range(error, hint, data, first, fitting)
}

/// Adds the range to the error of a list that exceeds its limit of bytes.
fn too_large(error: RpcError, max_bytes: usize, range: BlockRange, fitting: Option<u64>) -> RpcError {
    let BlockRange { first, last } = range;
    let hint = format!("filter: expected at most {max_bytes} bytes of logs; blocks {first:#x} to {last:#x} hold more");
    let mut data = JsonWriter::with_capacity(256);
    data.begin_object();
    data.key("limit").text("bytes");
    data.key("maximumBytes").number((max_bytes as u64).cast_signed());
    data.key("blocks").number(range.blocks().cast_signed());
    with_fitting_range(error, hint, data, first, fitting)
}

/// Adds hint and data. `data` is an open object.
fn with_fitting_range(
    error: RpcError,
    mut hint: String,
    mut data: JsonWriter,
    first: u64,
    fitting: Option<u64>,
) -> RpcError {
    match fitting {
        Some(to) => {
            hint.push_str(&format!(". Try with this block range [{first:#x}, {to:#x}]"));
            data.key("fromBlock").quantity(first);
            data.key("toBlock").quantity(to);
        }
        None => {
            data.key("fromBlock").null();
            data.key("toBlock").null();
        }
    }
    data.end_object();
    RpcError { details: Some(Box::new(Details { hint, data: Some(data.finish()) })), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_chain::LogPosition;
    use rhizome_primitives::{Address, B256, Bytes, Log};

    /// Adds a log of each block, in a search with limits of blocks and logs. Returns the number of logs, or the limit and the range of
    /// the error.
    fn search(limits: (u64, usize), max_bytes: usize, range: (u64, u64), blocks: &[u64]) -> String {
        let range = BlockRange { first: range.0, last: range.1 };
        let limits = LogLimits { blocks: limits.0, logs: limits.1 };
        let mut search = RangeSearch { range, limits, count: 0, max_bytes, list: LogList::new(max_bytes) };
        let log = log();
        let pushed = blocks.iter().try_for_each(|number| search.push(found(&log, *number)));
        let error = match pushed.and_then(|()| search.finish()) {
            Ok(list) => {
                let text = list.finish();
                assert!(text.len() <= max_bytes);
                return serde_json::from_slice::<Vec<serde_json::Value>>(&text).unwrap().len().to_string();
            }
            Err(error) => error,
        };
        let details = error.details.unwrap();
        let data: serde_json::Value = serde_json::from_slice(details.data.as_deref().unwrap()).unwrap();
        assert_eq!(data["blocks"], range.blocks());
        assert_eq!(details.hint.contains("Try with"), data["toBlock"].is_string());
        assert_eq!(error.code, ErrorCode::LogLimitExceeded);
        format!("{} {} {}", data["limit"], data["fromBlock"], data["toBlock"]).replace('"', "")
    }

    fn log() -> Log {
        Log { address: Address::ZERO, topics: vec![B256::ZERO], data: Bytes::new() }
    }

    fn found(log: &Log, block_number: u64) -> FoundLog<'_> {
        let (block_hash, transaction_hash) = (B256::ZERO, B256::ZERO);
        let position = LogPosition { block_number, block_hash, transaction_hash, transaction_index: 0, log_index: 0 };
        FoundLog { log: log.into(), position }
    }

    /// Returns the length of an answer with logs of blocks 16 to 255.
    fn length_of(logs: usize) -> usize {
        let mut list = LogList::new(usize::MAX);
        (0..logs).for_each(|_| list.push(found(&log(), 16), false).unwrap());
        list.finish().len()
    }

    #[test]
    fn names_the_largest_range_without_too_many_logs() {
        let with_log_in = |blocks: u64, range: (u64, u64), one_too_many: u64| {
            let logs: Vec<u64> = [range.0; 10].into_iter().chain([one_too_many]).collect();
            search((blocks, 10), usize::MAX, range, &logs)
        };
        assert_eq!(with_log_in(5, (16, 99), 40), "logs 0x10 0x27");
        // The blocks without a limit reach further.
        assert_eq!(with_log_in(5, (16, 99), 18), "logs 0x10 0x14");
        assert_eq!(with_log_in(0, (16, 99), 17), "logs 0x10 0x10");
        // The first block alone has too many.
        assert_eq!(with_log_in(0, (16, 99), 16), "logs null null");
        // Too many within the blocks without a limit, and then more behind them.
        assert_eq!(search((5, 2), usize::MAX, (16, 99), &[16, 17, 18, 19, 21, 22]), "logs 0x10 0x14");
        assert_eq!(search((5, 2), usize::MAX, (16, 20), &[16, 17, 18, 19, 20]), "5");
        assert_eq!(search((5, 0), usize::MAX, (16, 99), &[16, 30, 40]), "3");
    }

    #[test]
    fn names_the_largest_range_that_fits_in_bytes() {
        let blocks = [16, 17, 18];
        for (logs, fitting) in [(1, "null null"), (2, "0x10 0x10"), (3, "0x10 0x11")] {
            let blocks = &blocks[..logs];
            assert_eq!(search((5, 10), length_of(logs), (16, 99), blocks), logs.to_string());
            assert_eq!(search((5, 10), length_of(logs) - 1, (16, 99), blocks), format!("bytes {fitting}"));
        }
        // A narrow range.
        assert_eq!(search((5, 10), length_of(2), (16, 18), &[16, 17, 18]), "bytes 0x10 0x11");
        // Too many logs, in blocks that would be answered without the limit of bytes.
        assert_eq!(search((5, 2), length_of(3), (16, 99), &[16, 17, 18, 19, 40]), "logs 0x10 0x12");
        assert_eq!(search((5, 2), length_of(4), (16, 99), &[16, 17, 18, 19, 40]), "logs 0x10 0x14");
    }
}
