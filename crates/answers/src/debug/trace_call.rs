//! `debug_traceCall`.

use super::block_tracing::shows_console;
use super::record::Recording;
use crate::block_id::BlockId;
use crate::call_object::CallObject;
use crate::error::Answer;
use crate::execution::Stage;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::overrides::Overrides;
use crate::tracing::Limit;
use crate::tracing::options::TraceOptions;
use rhizome_evm::Deadline;

/// The trace of a call, executed as `eth_call` does, on a state and in a block that may be pretended.
pub fn answer(
    node: &Node,
    object: &CallObject,
    at: &BlockId<'_>,
    options: &TraceOptions,
    overrides: &Overrides,
    deadline: &Deadline,
) -> Answer {
    let stage = Stage::pretended(node, at, overrides, deadline)?;
    let limit = Limit::new(node.options().trace_limits.bytes);
    let shape = node.options().trace_shape;
    let recording = Recording {
        options,
        shape,
        limit,
        has_console: shows_console(node),
        lists_storage: node.fork().is_none(),
        deadline,
        first_log: 0,
        location: None,
    };
    let mut json = JsonWriter::with_capacity(4096);
    recording.write(&mut json, |inspection| stage.inspect(node, object, deadline, inspection))?;
    Ok(json.finish())
}
