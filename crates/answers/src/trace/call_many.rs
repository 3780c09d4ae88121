//! `trace_callMany`.

use super::parts;
use crate::block_id::BlockId;
use crate::call_object::CallObject;
use crate::error::{Answer, RpcError};
use crate::execution::{Stage, call_gas};
use crate::json::JsonWriter;
use crate::node::Node;
use crate::tracing::Limit;
use crate::tracing::options::ReplayParts;
use crate::tracing::traced::Traced;
use rhizome_evm::Deadline;
use rhizome_evm::tracing::Inspected;
use serde_json::Value;

/// Most calls of a request.
const MOST_CALLS: usize = 1000;

/// A call, and the parts of its result.
pub struct WantedCall {
    call: CallObject,
    parts: ReplayParts,
}

impl WantedCall {
    /// Reads the JSON text of a list of `[call, types]`.
    pub fn parse_all(json: &str) -> Result<Vec<Self>, RpcError> {
        let refused =
            |message: String| RpcError::invalid_params(message).with_hint("calls: expected an array of [call, types]");
        let Ok(Value::Array(calls)) = serde_json::from_str(json) else {
            return Err(refused("Invalid calls: an array is expected".into()));
        };
        if calls.len() > MOST_CALLS {
            return Err(refused(format!("too many calls: {} > {MOST_CALLS}", calls.len())));
        }
        let read = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
            Some([call, types]) => Ok(Self { call: CallObject::parse_value(call)?, parts: ReplayParts::read(types)? }),
            _ => Err(refused("Invalid calls: pairs of call and types are expected".into())),
        };
        calls.iter().map(read).collect()
    }
}

/// Executes calls like `eth_call`, each on the state after those before it. Returns the requested parts of each.
pub fn answer(node: &Node, calls: &[WantedCall], at: &BlockId<'_>, deadline: &Deadline) -> Answer {
    let stage = Stage::at(node, at)?;
    let mut sequence = stage.sequence(node, deadline)?;
    let limit = Limit::new(node.options().trace_limits.bytes);
    let shape = node.options().trace_shape;
    let mut json = JsonWriter::with_capacity(2048);
    json.begin_array();
    for WantedCall { call, parts } in calls {
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
        let request = call.request(call_gas(node, call));
        json.begin_object();
        parts::write(&mut json, *parts, shape, limit, 0, |inspection| {
            let Inspected { outcome, accounts } = sequence.inspect(&request, inspection)?;
            Ok(Inspected { outcome: Traced::of_call(&request, outcome), accounts })
        })?;
        json.end_object();
    }
    json.end_array();
    Ok(json.finish())
}
