//! The traces of the transactions of a block, as `trace_*` methods return them.

use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::options::TraceShape;
use crate::tracing::Limit;
use crate::tracing::call_tree::CallTree;
use crate::tracing::subject::BlockSubject;
use crate::tracing::traced::Traced;
use crate::tracing::transaction_trace::{self, TraceLocation, Window};
use rhizome_evm::tracing::Inspection;
use rhizome_evm::{BlockReplay, Deadline};

/// Writes the traces of the wanted transactions as elements of an open array, as far as the window admits them. Transactions that
/// the window skips are executed only if their number of traces is unknown, or before a transaction that it admits.
pub(super) fn write(
    node: &Node,
    json: &mut JsonWriter,
    subject: &BlockSubject,
    is_wanted: impl Fn(usize) -> bool,
    window: &mut Window,
    deadline: &Deadline,
) -> Result<(), RpcError> {
    let counts = subject.stored_key().map(|key| node.caches().trace_counts.of(&key)).unwrap_or_default();
    let wanted = (0..subject.block().transactions.len()).filter(|index| is_wanted(*index));
    let (mut replay, mut has_skipped) = (None, false);
    for index in wanted {
        if window.is_closed() {
            break;
        }
        let count = counts.get(index).copied().flatten();
        if count.is_some_and(|count| window.skips_all(count as usize)) {
            has_skipped = true;
            continue;
        }
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
        let started = match replay.take() {
            Some(started) => started,
            None if has_skipped => subject.replay_from(node, index, deadline)?,
            None => subject.replay(node, deadline)?,
        };
        let replay = replay.insert(started);
        replay.advance_to(index)?;
        write_next(node, json, subject, replay, index, window)?;
    }
    Ok(())
}

/// Writes the traces of one transaction as elements of an open array.
pub(super) fn write_one(
    node: &Node,
    json: &mut JsonWriter,
    subject: &BlockSubject,
    index: usize,
    deadline: &Deadline,
) -> Result<(), RpcError> {
    let mut replay = subject.replay_from(node, index, deadline)?;
    write_next(node, json, subject, &mut replay, index, &mut Window::all())
}

/// Writes the transaction at `index`, which must be the next transaction of the replay.
fn write_next(
    node: &Node,
    json: &mut JsonWriter,
    subject: &BlockSubject,
    replay: &mut BlockReplay<'_>,
    index: usize,
    window: &mut Window,
) -> Result<(), RpcError> {
    let shape = node.options().trace_shape;
    let limit = Limit::new(node.options().trace_limits.bytes).after(json.len());
    let mut tree = CallTree::new(limit, false, shape == TraceShape::Reference);
    let inspection = Inspection { inspector: Some(&mut tree), changes_limit: None };
    let inspected = replay.step(inspection).map_err(|error| limit.explain(error))?;
    let traced = inspected.and_then(|inspected| subject.traced(index, inspected.outcome));
    let (Some(mut traced), Some((transaction, _))) = (traced, subject.transaction(index)) else { return Ok(()) };
    if let Some(key) = subject.stored_key() {
        let count = transaction_trace::object_count(&traced, &tree, shape);
        node.caches().trace_counts.add(key, subject.block().transactions.len(), index, count);
    }
    let mut location = subject.location(index, transaction);
    if shape == TraceShape::Reference && !subject.is_older() {
        move_to_main_chain(node, &mut location, &mut traced)?;
    }
    transaction_trace::write(json, &traced, &tree, shape, Some(&location), window, &limit)
}

/// The reference looks up location and receipt of a transaction by its hash: they are those on the main chain, whatever block
/// is traced, and a transaction that is not there has used no gas.
fn move_to_main_chain(node: &Node, location: &mut TraceLocation, traced: &mut Traced) -> Result<(), RpcError> {
    let Some(mined) = node.chain().transaction(&location.transaction_hash)? else {
        traced.gas_used = 0;
        return Ok(());
    };
    if mined.record.hash == location.block_hash {
        return Ok(());
    }
    let receipts = node.chain().receipts(&mined.record.hash)?;
    traced.gas_used =
        receipts.and_then(|receipts| receipts.get(mined.index).map(|receipt| receipt.gas_used)).unwrap_or(0);
    location.block_hash = mined.record.hash;
    location.position = mined.index;
    Ok(())
}
