//! `eth_call`.

use crate::block_id::BlockId;
use crate::call_object::CallObject;
use crate::error::Answer;
use crate::execution::{Stage, call_gas};
use crate::json;
use crate::node::Node;
use crate::options::CallOnHalt;
use crate::overrides::Overrides;
use crate::revert;
use rhizome_evm::{Deadline, End, HaltReason};
use rhizome_primitives::BRIDGE;

/// Returns the output of a call, or no bytes if the Bridge rejects it (docs/spec/bridge-corrections.md, 6). Skips the checks of
/// nonce, balance and signature of a transaction.
pub fn answer(
    node: &Node,
    object: &CallObject,
    at: &BlockId<'_>,
    overrides: &Overrides,
    deadline: &Deadline,
) -> Answer {
    let gas = call_gas(node, object);
    let stage = Stage::pretended(node, at, overrides, deadline)?;
    let outcome = stage.execute(node, object, gas, deadline)?;
    match outcome.end {
        End::Success => Ok(json::data(&outcome.output)),
        End::Revert => Err(revert::reverted(outcome.output)),
        // Libraries probe the methods of the Bridge this way.
        End::Halt(HaltReason::PrecompileFailed) if object.to == Some(BRIDGE) => Ok(json::data(&[])),
        End::Halt(reason) => match node.options().call_on_halt {
            CallOnHalt::Empty => Ok(json::data(&[])),
            CallOnHalt::Error => Err(revert::halted(reason)),
        },
    }
}
