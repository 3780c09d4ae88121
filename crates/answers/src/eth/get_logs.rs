//! `eth_getLogs`.

use crate::error::{Answer, Details, ErrorCode, RpcError};
use crate::json::JsonWriter;
use crate::log_filter::{LogQuery, SearchRange};
use crate::node::Node;
use crate::objects::log;
use crate::options::LogLimits;
use rhizome_evm::Deadline;
use std::ops::ControlFlow;

/// The matching logs, ascending. A wide range with too many logs is refused, and any range whose logs take too many bytes.
/// Searches of narrow ranges are not bound by the `deadline`; they end when `cancellation` says so.
pub fn answer(node: &Node, query: &LogQuery, deadline: &Deadline, cancellation: &Deadline) -> Answer {
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    match query.search_range(node)? {
        SearchRange::Empty => {}
        SearchRange::Block(hash) => {
            let logs = node.chain().logs_in_block(&hash)?;
            for found in logs.iter().flat_map(|logs| logs.matching(&query.filter)) {
                log::write(&mut json, found.log, &found.position, Some(false));
                let number = found.position.block_number;
                check_size(&json, &node.options().log_limits, (number, number), number)?;
            }
        }
        SearchRange::Range(first, last) => {
            let is_wide = last - first >= node.options().log_limits.blocks;
            let (cap, deadline) = match is_wide {
                true => (Some(node.options().log_limits.logs).filter(|logs| *logs > 0), deadline),
                false => (None, cancellation),
            };
            write_range(&mut json, node, query, (first, last), cap, deadline)?;
        }
    }
    json.end_array();
    Ok(json.finish())
}

fn write_range(
    json: &mut JsonWriter,
    node: &Node,
    query: &LogQuery,
    range: (u64, u64),
    cap: Option<usize>,
    deadline: &Deadline,
) -> Result<(), RpcError> {
    let mut count = 0;
    let mut refusal = None;
    let limits = &node.options().log_limits;
    node.chain().visit_logs(&query.filter, range.0, range.1, deadline, &mut |found| {
        if cap == Some(count) {
            refusal = Some(too_many(limits, range, found.position.block_number));
            return ControlFlow::Break(());
        }
        count += 1;
        log::write(json, found.log, &found.position, Some(false));
        match check_size(json, limits, range, found.position.block_number) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                refusal = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    refusal.map_or(Ok(()), Err)
}

/// Fails if the answer, up to a log of block `number`, is too large.
fn check_size(json: &JsonWriter, limits: &LogLimits, range: (u64, u64), number: u64) -> Result<(), RpcError> {
    // With the closing bracket.
    if limits.bytes > 0 && json.len() >= limits.bytes { Err(too_large(limits, range, number)) } else { Ok(()) }
}

/// Says that the logs take too many bytes, and the largest range from the same beginning that would have been answered: the
/// blocks below the one with the log that was too much.
fn too_large(limits: &LogLimits, (first, last): (u64, u64), number: u64) -> RpcError {
    let bytes = limits.bytes;
    let hint = format!("filter: expected at most {bytes} bytes of logs; blocks {first:#x} to {last:#x} hold more");
    let mut data = JsonWriter::with_capacity(256);
    data.begin_object();
    data.key("limit").text("bytes");
    data.key("maximumBytes").number((bytes as u64).cast_signed());
    data.key("blocks").number(last.saturating_sub(first).saturating_add(1).cast_signed());
    let fitting = number.checked_sub(1).filter(|to| *to >= first);
    finish_refusal(hint, data, first, fitting, format!("Filter returned more than {bytes} bytes."))
}

/// Says which limit was passed, and the largest range from the same beginning that would have been answered: the blocks
/// below the one with the log that was one too many, or as many as are never capped. The first words are the reference's.
fn too_many(limits: &LogLimits, (first, last): (u64, u64), one_too_many: u64) -> RpcError {
    let LogLimits { blocks, logs, .. } = *limits;
    let uncapped = blocks.checked_sub(1).map(|more| first.saturating_add(more));
    let fitting = one_too_many.checked_sub(1).filter(|to| *to >= first).max(uncapped);
    let requested = last.saturating_sub(first).saturating_add(1);
    let hint = format!(
        "filter: expected at most {logs} logs, or at most {blocks} blocks; \
         blocks {first:#x} to {last:#x} are {requested} blocks and hold more than {logs} logs"
    );
    let mut data = JsonWriter::with_capacity(256);
    data.begin_object();
    data.key("limit").text("logs");
    data.key("maximumLogs").number((logs as u64).cast_signed());
    data.key("maximumBlocks").number(blocks.cast_signed());
    data.key("blocks").number(requested.cast_signed());
    data.key("logs").number((logs as u64).saturating_add(1).cast_signed());
    finish_refusal(hint, data, first, fitting, format!("Filter returned more than {logs} logs."))
}

/// Adds the range that would have been answered, if there is one.
fn finish_refusal(
    mut hint: String,
    mut data: JsonWriter,
    first: u64,
    fitting: Option<u64>,
    message: String,
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
    let details = Box::new(Details { hint, data: Some(data.finish()) });
    RpcError { details: Some(details), ..RpcError::new(ErrorCode::LogLimitExceeded, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitting(blocks: u64, range: (u64, u64), one_too_many: u64) -> String {
        let details = too_many(&LogLimits { blocks, logs: 10, bytes: 0 }, range, one_too_many).details.unwrap();
        let data: serde_json::Value = serde_json::from_slice(details.data.as_deref().unwrap()).unwrap();
        assert_eq!((&data["limit"], &data["maximumLogs"], &data["logs"]), (&"logs".into(), &10.into(), &11.into()));
        assert_eq!((&data["maximumBlocks"], &data["blocks"]), (&blocks.into(), &(range.1 - range.0 + 1).into()));
        assert_eq!(details.hint.contains("Try with"), data["toBlock"].is_string());
        format!("{} {}", data["fromBlock"], data["toBlock"])
    }

    #[test]
    fn names_the_largest_range_that_fits() {
        assert_eq!(fitting(5, (16, 99), 40), r#""0x10" "0x27""#);
        // The uncapped blocks reach further.
        assert_eq!(fitting(5, (16, 99), 18), r#""0x10" "0x14""#);
        assert_eq!(fitting(0, (16, 99), 17), r#""0x10" "0x10""#);
        // The first block alone has too many.
        assert_eq!(fitting(0, (16, 99), 16), "null null");
    }
}
