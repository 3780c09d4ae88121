//! `eth_estimateGas`.

use crate::call_object::CallObject;
use crate::error::{Answer, RpcError};
use crate::execution::{Stage, to_rpc_error};
use crate::json;
use crate::node::Node;
use crate::options::{EstimateBound, EstimateOnFailure};
use crate::revert;
use crate::selector::Selector;
use rhizome_evm::{CallOutcome, Deadline, End, ExecError, Unexecutable};
use rhizome_primitives::transaction::intrinsic_gas;
use rhizome_primitives::{U256, largest_transaction_gas};

/// Gas to send with such a transaction.
pub fn answer(node: &Node, object: &CallObject, at: &Selector<'_>, deadline: &Deadline) -> Answer {
    let run = Run { node, object, stage: Stage::at(node, at)?, deadline };
    let bound = bound(node);
    let estimate = match node.options().estimate_on_failure {
        EstimateOnFailure::Error => run.reference_estimate(bound)?,
        EstimateOnFailure::Estimate => run.estimate(bound)?,
    };
    Ok(json::quantity(estimate))
}

/// The most gas that an estimate uses.
fn bound(node: &Node) -> u64 {
    match node.options().estimate_bound {
        EstimateBound::Fixed(gas) => gas,
        EstimateBound::PendingBlock => largest_gas_limit(node),
    }
}

/// The highest gas limit that the pool accepts on top of the head.
fn largest_gas_limit(node: &Node) -> u64 {
    let spec = node.chain().spec();
    let head = node.chain().head();
    largest_transaction_gas(spec, head.number(), head.record.block.header.gas_limit_value()).saturating_to()
}

struct Run<'a> {
    node: &'a Node,
    object: &'a CallObject,
    stage: Stage,
    deadline: &'a Deadline,
}

impl Run<'_> {
    fn with(&self, gas: u64) -> Result<CallOutcome, ExecError> {
        self.stage.execute(self.node, self.object, gas, self.deadline)
    }

    /// As the reference: one run, and the error of an execution that reverts.
    fn reference_estimate(&self, cap: u64) -> Result<u64, RpcError> {
        let outcome = self.with(self.object.gas.map_or(cap, |gas| at_most(gas, cap))).map_err(to_rpc_error)?;
        match outcome.end {
            End::Revert => Err(revert::reverted(outcome.output)),
            End::Success | End::Halt(_) => Ok(outcome.estimate(cap)),
        }
    }

    /// As the API document: always an estimate. A `gas` that cannot even start the execution is not looked at.
    fn estimate(&self, bound: u64) -> Result<u64, RpcError> {
        let rules = self.node.chain().spec().rules(self.stage.number());
        let least = intrinsic_gas(self.object.to.is_none(), &self.object.data, &rules);
        let given = self.object.gas.map(|gas| at_most(gas, bound)).filter(|gas| *gas >= least);
        let limit = given.unwrap_or(bound);
        let (limit, outcome) = match self.with(limit) {
            // A built-in contract that needs more than was given.
            Err(ExecError::Unexecutable { reason: Unexecutable::LocalGas, .. }) => {
                (bound, self.with(bound).map_err(to_rpc_error)?)
            }
            other => (limit, other.map_err(to_rpc_error)?),
        };
        match outcome.end {
            End::Success => match outcome.estimate(limit).max(least) {
                // Creations lend everything to the init code, which says nothing about the need.
                estimate if estimate >= limit => self.needed(&outcome, least, limit),
                estimate => Ok(estimate),
            },
            End::Revert => Ok(outcome.peak_gas.clamp(least, limit.max(least))),
            // All of the gas, unless what was built at the end was refused.
            End::Halt(_) => Ok(outcome.estimate(limit).max(least)),
        }
    }

    /// The first of growing amounts that leads to the same result, starting with what was used.
    fn needed(&self, full: &CallOutcome, least: u64, limit: u64) -> Result<u64, RpcError> {
        let mut gas = full.gas_used.saturating_add(full.refund).max(least);
        while gas < limit {
            let is_same = |outcome: &CallOutcome| outcome.output == full.output && outcome.logs == full.logs;
            match self.with(gas) {
                Ok(outcome) if outcome.end == End::Success && is_same(&outcome) => return Ok(gas),
                Ok(_) | Err(ExecError::Unexecutable { .. }) => {}
                Err(error) => return Err(to_rpc_error(error)),
            }
            gas = gas.saturating_add(gas / 4);
        }
        Ok(limit)
    }
}

fn at_most(gas: U256, cap: u64) -> u64 {
    gas.min(U256::from(cap)).saturating_to()
}
