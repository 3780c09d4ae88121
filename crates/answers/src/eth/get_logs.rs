//! `eth_getLogs`.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::json::JsonWriter;
use crate::log_filter::{LogQuery, SearchPlace};
use crate::node::Node;
use crate::objects::log;
use rhizome_evm::Deadline;
use std::ops::ControlFlow;

/// The matching logs, ascending. Only a wide range with too many logs is refused. Searches of narrow ranges are not bound
/// by the `deadline`; they end when `cancellation` says so.
pub fn answer(node: &Node, query: &LogQuery, deadline: &Deadline, cancellation: &Deadline) -> Answer {
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    match query.search_place(node)? {
        SearchPlace::Nowhere => {}
        SearchPlace::Block(hash) => {
            let found = node.chain().logs_in_block(&query.filter, &hash)?;
            found.iter().for_each(|found| log::write_found(&mut json, found, false));
        }
        SearchPlace::Range(first, last) => {
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
    (first, last): (u64, u64),
    cap: Option<usize>,
    deadline: &Deadline,
) -> Result<(), RpcError> {
    let mut count = 0;
    node.chain().visit_logs(&query.filter, first, last, deadline, &mut |found| {
        if cap == Some(count) {
            count += 1;
            return ControlFlow::Break(());
        }
        count += 1;
        log::write_found(json, &found, false);
        ControlFlow::Continue(())
    })?;
    match cap {
        Some(cap) if count > cap => {
            let message = format!("Filter returned more than {cap} logs.");
            Err(RpcError::new(ErrorCode::LogLimitExceeded, message))
        }
        _ => Ok(()),
    }
}
