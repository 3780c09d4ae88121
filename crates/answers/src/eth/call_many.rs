//! `eth_callMany`.

use crate::block_id::BlockId;
use crate::call_object::CallObject;
use crate::error::{Answer, ErrorCode, RpcError};
use crate::execution::{Stage, call_gas};
use crate::json::JsonWriter;
use crate::node::Node;
use crate::overrides::{self, BlockOverrides, Overrides};
use crate::response_limit;
use crate::revert;
use crate::sent::{self, Location, Sent};
use crate::tracing::subject::{BlockSubject, NamedBlock};
use rhizome_evm::tracing::Inspection;
use rhizome_evm::{BlockEnv, CallOutcome, CallSequence, Deadline, End, StateOverrides};
use serde_json::{Map, Value};

/// Most calls of a request.
const MOST_CALLS: usize = 1000;
const EXPECTED: &str = "bundles: expected an array of {transactions, blockOverride}";
/// Members of block overrides by their names in Erigon.
const OTHER_NAMES: [(&str, &str); 3] = [("blockNumber", "number"), ("timestamp", "time"), ("baseFee", "baseFeePerGas")];

/// Calls in a block, on a state in the middle of the chain.
pub struct Bundles {
    bundles: Vec<Bundle>,
    /// Canonical form of a block parameter.
    block: String,
    /// Transactions of the block before the calls; `None`: all.
    index: Option<usize>,
    state: StateOverrides,
}

struct Bundle {
    calls: Vec<CallObject>,
    block: BlockOverrides,
}

impl Bundles {
    /// Reads bundles, context `{blockNumber, transactionIndex}` and state overrides; empty texts mean none.
    pub fn parse(bundles: &str, context: &str, state: &str) -> Result<Self, RpcError> {
        let refused = |message: String| RpcError::invalid_params(message).with_hint(EXPECTED);
        let Ok(Value::Array(list)) = serde_json::from_str(bundles) else {
            return Err(refused("Invalid bundles: an array is expected".into()));
        };
        let bundles = list.iter().map(Bundle::read).collect::<Result<Vec<_>, _>>()?;
        let calls: usize = bundles.iter().map(|bundle| bundle.calls.len()).sum();
        if calls > MOST_CALLS {
            return Err(refused(format!("too many calls: {calls} > {MOST_CALLS}")));
        }
        let (block, index) = read_context(context)?;
        let state = Overrides::parse(state, "")?.state;
        Ok(Self { bundles, block, index, state })
    }
}

impl Bundle {
    fn read(value: &Value) -> Result<Self, RpcError> {
        let refused = |message: &str| RpcError::invalid_params(message).with_hint(EXPECTED);
        let Value::Object(members) = value else { return Err(refused("Invalid bundle: must be an object")) };
        let Some(Value::Array(calls)) = members.get("transactions") else {
            return Err(refused("Invalid bundle: transactions must be an array"));
        };
        let calls = calls.iter().map(CallObject::parse_value).collect::<Result<_, _>>()?;
        let block = match members.get("blockOverride").filter(|value| !value.is_null()) {
            Some(Value::Object(given)) if given.contains_key("blockHash") => {
                return Err(refused("Invalid blockOverride: blockHash is not supported"));
            }
            Some(Value::Object(given)) => overrides::block_overrides(&Value::Object(renamed(given)))?,
            Some(other) => overrides::block_overrides(other)?,
            None => BlockOverrides::default(),
        };
        Ok(Self { calls, block })
    }
}

fn renamed(members: &Map<String, Value>) -> Map<String, Value> {
    let name = |given: &String| {
        let known = OTHER_NAMES.iter().find(|(other, _)| other == given);
        known.map_or_else(|| given.clone(), |(_, name)| (*name).to_owned())
    };
    members.iter().map(|(given, value)| (name(given), value.clone())).collect()
}

fn read_context(context: &str) -> Result<(String, Option<usize>), RpcError> {
    if context.is_empty() {
        return Ok(("latest".into(), None));
    }
    let refused = |message: String| {
        RpcError::invalid_params(message).with_hint("context: expected an object with blockNumber, transactionIndex")
    };
    let Ok(Value::Object(members)) = serde_json::from_str(context) else {
        return Err(refused("Invalid context: must be an object".into()));
    };
    let at = Location { owner: "context", member: "blockNumber" };
    let block = match members.get("blockNumber").filter(|value| !value.is_null()) {
        Some(value) => sent::numbered_block(&Sent::from(value).as_text(), at)?,
        None => "latest".into(),
    };
    let index = match members.get("transactionIndex") {
        None | Some(Value::Null) => None,
        Some(value) if value.as_i64() == Some(-1) => None,
        Some(value) => {
            let number = match value {
                Value::String(text) => {
                    text.strip_prefix("0x").and_then(|digits| usize::from_str_radix(digits, 16).ok())
                }
                other => other.as_u64().and_then(|number| usize::try_from(number).ok()),
            };
            let text = Sent::from(value).quoted().into_owned();
            Some(number.ok_or_else(|| refused(format!("Invalid transactionIndex: {}", sent::shortened(&text))))?)
        }
    };
    Ok((block, index))
}

/// Executes the calls of all bundles like `eth_call`, each on the state after those before it, and returns `{value}` or
/// `{error}` of each. After each bundle number and time of the block increase by one. Together the calls may use the gas of one
/// `eth_call`.
pub fn answer(node: &Node, request: &Bundles, max_bytes: usize, deadline: &Deadline) -> Answer {
    let at = BlockId::parse(&request.block)?;
    let Some(index) = request.index else {
        let overrides = Overrides { state: request.state.clone(), ..Overrides::default() };
        let stage = Stage::pretended(node, &at, &overrides, deadline)?;
        return run(node, request, stage.sequence(node, deadline)?, stage.env().clone(), max_bytes, deadline);
    };
    if !request.state.is_empty() && !node.options().has_overrides {
        return Err(RpcError::invalid_params("State override is not allowed"));
    }
    let subject = match BlockSubject::named(node, &at)? {
        NamedBlock::Unknown => return Err(at.not_found()),
        NamedBlock::Genesis => return Err(RpcError::invalid_params("the genesis block has no transactions")),
        NamedBlock::Executed(subject) => subject,
    };
    if index > subject.block().transactions.len() {
        return Err(RpcError::invalid_params(format!("transaction index {index} out of range")));
    }
    let state = subject.replay_from(node, index, deadline)?.into_state();
    let env = BlockEnv::from_header(&subject.block().header);
    let (spec, ancestry) = (node.chain().spec(), subject.ancestry());
    let sequence = CallSequence::on(state, &request.state, spec, env.clone(), ancestry, deadline)?;
    run(node, request, sequence, env, max_bytes, deadline)
}

fn run(
    node: &Node,
    request: &Bundles,
    mut sequence: CallSequence<'_>,
    mut env: BlockEnv,
    max_bytes: usize,
    deadline: &Deadline,
) -> Answer {
    let mut gas_left = node.options().call_gas_cap;
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    for bundle in &request.bundles {
        bundle.block.apply(&mut env);
        sequence = sequence.in_block(env.clone());
        json.begin_array();
        for call in &bundle.calls {
            if deadline.has_passed() {
                return Err(RpcError::timed_out());
            }
            if gas_left == 0 {
                return Err(RpcError::new(ErrorCode::SimulationLimit, "the gas of the calls is used up"));
            }
            let request = call.request(call_gas(node, call).min(gas_left));
            let outcome = sequence.inspect(&request, Inspection::default())?.outcome;
            gas_left = gas_left.saturating_sub(outcome.gas_used);
            write(&mut json, outcome);
            response_limit::check(&json, max_bytes)?;
        }
        json.end_array();
        env.number = env.number.saturating_add(1);
        env.timestamp = env.timestamp.saturating_add(1);
    }
    json.end_array();
    Ok(json.finish())
}

fn write(json: &mut JsonWriter, outcome: CallOutcome) {
    json.begin_object();
    match outcome.end {
        End::Success => json.key("value").data(&outcome.output),
        End::Revert => json.key("error").text(&revert::reverted(outcome.output).message),
        End::Halt(reason) => json.key("error").text(&revert::halted(reason).message),
    }
    json.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_bundles_and_context() {
        let json = r#"[{"transactions":[{"data":"0x01"},{}],"blockOverride":{"blockNumber":"0x9","timestamp":7}}]"#;
        let read = Bundles::parse(json, r#"{"blockNumber":"safe","transactionIndex":"0x2"}"#, "").unwrap();
        let bundle = &read.bundles[0];
        assert_eq!((bundle.calls.len(), bundle.block.number, bundle.block.time), (2, Some(9), Some(7)));
        assert_eq!((read.block.as_str(), read.index), ("safe", Some(2)));
        let read = Bundles::parse("[]", r#"{"transactionIndex":-1}"#, "{}").unwrap();
        assert_eq!((read.block.as_str(), read.index), ("latest", None));
        let message = |bundles, context| Bundles::parse(bundles, context, "").err().unwrap().message;
        assert_eq!(message("{}", ""), "Invalid bundles: an array is expected");
        assert_eq!(message("[{}]", ""), "Invalid bundle: transactions must be an array");
        assert_eq!(message("[]", "[]"), "Invalid context: must be an object");
        assert_eq!(message("[]", r#"{"transactionIndex":-2}"#), "Invalid transactionIndex: -2");
        let json = r#"[{"transactions":[],"blockOverride":{"blockHash":{}}}]"#;
        assert_eq!(message(json, ""), "Invalid blockOverride: blockHash is not supported");
        let many = format!(r#"[{{"transactions":[{}]}}]"#, vec!["{}"; 1001].join(","));
        assert_eq!(message(&many, ""), "too many calls: 1001 > 1000");
    }
}
