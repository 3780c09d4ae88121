//! `trace_call`.

use super::parts;
use crate::block_id::BlockId;
use crate::call_object::CallObject;
use crate::error::Answer;
use crate::execution::Stage;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::tracing::Limit;
use crate::tracing::options::ReplayParts;
use rhizome_evm::Deadline;

/// Executes a call like `eth_call`. Returns the requested parts.
pub fn answer(node: &Node, object: &CallObject, wanted: ReplayParts, at: &BlockId<'_>, deadline: &Deadline) -> Answer {
    let stage = Stage::at(node, at)?;
    let limit = Limit::new(node.options().trace_limits.bytes);
    let mut json = JsonWriter::with_capacity(2048);
    json.begin_object();
    let shape = node.options().trace_shape;
    parts::write(&mut json, wanted, shape, limit, 0, |inspection| stage.inspect(node, object, deadline, inspection))?;
    json.end_object();
    Ok(json.finish())
}
