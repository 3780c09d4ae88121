//! `eth_estimateGas`.

use crate::block_id::BlockId;
use crate::call_object::CallObject;
use crate::error::{Answer, RpcError};
use crate::execution::Stage;
use crate::json;
use crate::node::Node;
use crate::options::{EstimateBound, EstimateOnFailure, EstimateSearch};
use crate::overrides::Overrides;
use crate::revert;
use rhizome_evm::{CallOutcome, Deadline, End, ExecError, Unexecutable};
use rhizome_primitives::U256;
use rhizome_primitives::transaction::intrinsic_gas;

/// Gas to send with such a transaction.
pub fn answer(
    node: &Node,
    object: &CallObject,
    at: &BlockId<'_>,
    overrides: &Overrides,
    deadline: &Deadline,
) -> Answer {
    gas(node, object, at, overrides, deadline).map(json::quantity)
}

/// [`answer`] as a number.
pub(crate) fn gas(
    node: &Node,
    object: &CallObject,
    at: &BlockId<'_>,
    overrides: &Overrides,
    deadline: &Deadline,
) -> Result<u64, RpcError> {
    let run = Estimation { node, object, stage: Stage::pretended(node, at, overrides, deadline)?, deadline };
    let bound = bound(node);
    match node.options().estimate_on_failure {
        EstimateOnFailure::Error => run.reference_estimate(bound),
        EstimateOnFailure::Estimate | EstimateOnFailure::CodeError => run.estimate(bound),
    }
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
    let chain = node.chain();
    chain.pool().transaction_gas(&chain.head().record).limit.saturating_to()
}

struct Estimation<'a> {
    node: &'a Node,
    object: &'a CallObject,
    stage: Stage,
    deadline: &'a Deadline,
}

impl Estimation<'_> {
    fn with(&self, gas: u64) -> Result<CallOutcome, ExecError> {
        self.stage.execute(self.node, self.object, gas, self.deadline)
    }

    fn is_tight(&self) -> bool {
        self.node.options().estimate_search == EstimateSearch::Tight
    }

    /// As the reference: one run, and the error of an execution that reverts.
    fn reference_estimate(&self, cap: u64) -> Result<u64, RpcError> {
        let limit = self.object.gas.map_or(cap, |gas| at_most(gas, cap));
        let outcome = self.with(limit)?;
        match outcome.end {
            End::Revert => Err(revert::reverted(outcome.output)),
            End::Success if self.is_tight() => self.least(&outcome, self.intrinsic(), limit),
            End::Success | End::Halt(_) => Ok(outcome.estimate(cap)),
        }
    }

    /// Estimates as in the API document: also for failing code, unless the options report failures. A `gas` below the intrinsic
    /// cost is ignored.
    fn estimate(&self, bound: u64) -> Result<u64, RpcError> {
        let least = self.intrinsic();
        let given = self.object.gas.map(|gas| at_most(gas, bound)).filter(|gas| *gas >= least);
        let limit = given.unwrap_or(bound);
        let (limit, outcome) = match self.with(limit) {
            // A precompile that needs more gas than its limit.
            Err(ExecError::Unexecutable { reason: Unexecutable::LocalGas, .. }) => (bound, self.with(bound)?),
            other => (limit, other?),
        };
        let tells_failure = self.node.options().estimate_on_failure == EstimateOnFailure::CodeError;
        match outcome.end {
            End::Revert if tells_failure => Err(revert::reverted(outcome.output)),
            End::Halt(reason) if tells_failure => Err(revert::halted(reason)),
            End::Success if self.is_tight() => self.least(&outcome, least, limit),
            End::Success => match outcome.estimate(limit).max(least) {
                // Creations lend everything to the init code, which says nothing about the need.
                estimate if estimate >= limit => self.needed(&outcome, least, limit),
                estimate => Ok(estimate),
            },
            End::Revert => Ok(outcome.peak_gas.clamp(least, limit.max(least))),
            // A halt uses all gas, except for a creation whose code is rejected at the end.
            End::Halt(_) => Ok(outcome.estimate(limit).max(least)),
        }
    }

    /// Returns the intrinsic gas of the transaction.
    fn intrinsic(&self) -> u64 {
        let rules = self.node.chain().spec().rules(self.stage.number());
        intrinsic_gas(self.object.to.is_none(), &self.object.data, &rules)
    }

    /// Returns the smallest gas limit with the same result. The search starts with the gas used.
    fn needed(&self, full: &CallOutcome, least: u64, limit: u64) -> Result<u64, RpcError> {
        let mut gas = full.gas_used.saturating_add(full.refund).max(least);
        while gas < limit {
            if self.suffices(gas, |outcome| is_same(outcome, full))? {
                return Ok(gas);
            }
            gas = gas.saturating_add(gas / 4);
        }
        Ok(limit)
    }

    /// The least gas that suffices: one unit less does not. `limit` suffices.
    ///
    /// Sufficient is what gives the same result and the same logs. Where these depend on the gas itself, success is all
    /// that can be asked for.
    fn least(&self, full: &CallOutcome, least: u64, limit: u64) -> Result<u64, RpcError> {
        let is_steady = limit > least && self.suffices(limit - 1, |outcome| is_same(outcome, full))?;
        let is_enough = |outcome: &CallOutcome| !is_steady || is_same(outcome, full);
        // Bisection between a failing and a sufficient limit. Most transactions need the gas used before the refund.
        let (mut too_little, mut enough) = (least.saturating_sub(1), limit);
        let used = full.gas_used.saturating_add(full.refund);
        let mut probes = [used, used.saturating_sub(1)].into_iter();
        while enough.saturating_sub(too_little) > 1 {
            let middle = too_little + (enough - too_little) / 2;
            let gas = probes.find(|gas| (too_little + 1..enough).contains(gas)).unwrap_or(middle);
            if self.suffices(gas, is_enough)? {
                enough = gas;
            } else {
                too_little = gas;
            }
        }
        Ok(enough)
    }

    /// Returns `true` if the execution succeeds with `gas` and passes the test.
    fn suffices(&self, gas: u64, is_enough: impl Fn(&CallOutcome) -> bool) -> Result<bool, RpcError> {
        match self.with(gas) {
            Ok(outcome) => Ok(outcome.end == End::Success && is_enough(&outcome)),
            Err(ExecError::Unexecutable { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_same(outcome: &CallOutcome, full: &CallOutcome) -> bool {
    outcome.output == full.output && outcome.logs == full.logs
}

fn at_most(gas: U256, cap: u64) -> u64 {
    gas.min(U256::from(cap)).saturating_to()
}
