//! Runs calls on the state of a block without leaving a trace.

use crate::block_id::{BlockId, BlockRef};
use crate::call_object::CallObject;
use crate::error::RpcError;
use crate::node::Node;
use crate::overrides::Overrides;
use crate::tracing::traced::Traced;
use rhizome_chain::ChainAncestry;
use rhizome_evm::tracing::{Inspected, Inspection};
use rhizome_evm::{BlockEnv, CallOutcome, CallSequence, Deadline, ExecError, StateOverrides};
use rhizome_primitives::U256;
use rhizome_trie::StateReader;
use std::sync::Arc;

/// The block in which a call pretends to run.
pub(crate) struct Stage {
    env: BlockEnv,
    overrides: StateOverrides,
    state: Arc<dyn StateReader>,
    ancestry: ChainAncestry,
}

impl Stage {
    /// Prepares an execution in the selected block, on the state after it, with the overrides. Inline calls execute at the head
    /// only: other states may need one disk read for each trie node.
    pub(crate) fn pretended(
        node: &Node,
        at: &BlockId<'_>,
        overrides: &Overrides,
        deadline: &Deadline,
    ) -> Result<Self, RpcError> {
        if deadline.is_inline() && !at.is_head(node) {
            return Err(RpcError::timed_out());
        }
        if !overrides.is_empty() && !node.options().has_overrides {
            return Err(RpcError::invalid_params("State override is not allowed"));
        }
        let mut stage = Self::at(node, at)?;
        stage.overrides = overrides.state.clone();
        overrides.block.apply(&mut stage.env);
        Ok(stage)
    }

    /// The selected block itself is the executing one, on the state after it.
    pub(crate) fn at(node: &Node, at: &BlockId<'_>) -> Result<Self, RpcError> {
        let chain = node.chain();
        let block = at.find(node)?.ok_or_else(|| match at.number() {
            Some(number) => RpcError::invalid_params(format!("Invalid block number {number}")),
            None => at.not_found(),
        })?;
        match block {
            BlockRef::Mined(record) => {
                let parent = record.parent().map(|parent| chain.block(&parent)).transpose()?.flatten();
                Ok(Self {
                    env: BlockEnv::from_header(&record.block.header),
                    overrides: StateOverrides::default(),
                    state: node.state_at(&record)?,
                    // The genesis block has no parent, and none of its ancestors can be asked for.
                    ancestry: chain.ancestry(parent.as_ref().unwrap_or(&record)),
                })
            }
            BlockRef::Pending(pending) => Ok(Self {
                env: pending.env.clone(),
                overrides: StateOverrides::default(),
                state: pending.state.clone(),
                ancestry: chain.ancestry(&pending.parent),
            }),
        }
    }

    /// The block in which calls execute.
    pub(crate) fn env(&self) -> &BlockEnv {
        &self.env
    }

    /// Height of the block.
    pub(crate) fn number(&self) -> u64 {
        self.env.number
    }

    /// Executes the call like `eth_call`, with an inspector.
    pub(crate) fn inspect(
        &self,
        node: &Node,
        object: &CallObject,
        deadline: &Deadline,
        inspection: Inspection<'_>,
    ) -> Result<Inspected<Traced>, ExecError> {
        let request = object.request(call_gas(node, object));
        let inspected = self.sequence(node, deadline)?.inspect_last(&request, inspection)?;
        let outcome = Traced::of_call(&request, inspected.outcome);
        Ok(Inspected { outcome, accounts: inspected.accounts })
    }

    /// Starts a sequence of calls.
    pub(crate) fn sequence<'s>(&'s self, node: &'s Node, deadline: &Deadline) -> Result<CallSequence<'s>, ExecError> {
        let (spec, state) = (node.chain().spec(), Arc::clone(&self.state));
        CallSequence::new(&self.overrides, spec, self.env.clone(), state, &self.ancestry, deadline)
    }

    /// Runs the call with a gas limit.
    pub(crate) fn execute(
        &self,
        node: &Node,
        object: &CallObject,
        gas: u64,
        deadline: &Deadline,
    ) -> Result<CallOutcome, ExecError> {
        let slow_calls = &node.caches().slow_calls;
        if deadline.is_inline() && slow_calls.skips(object) {
            return Err(ExecError::DeadlineExceeded);
        }
        let spec = node.chain().spec();
        let state = Arc::clone(&self.state);
        let (env, request) = (self.env.clone(), object.request(gas));
        let ended = rhizome_evm::call_with(&self.overrides, spec, env, state, &self.ancestry, &request, deadline);
        // Where the clock has ended it, the thread had to wait for a processor or a disk, and that says little.
        if deadline.is_inline() && matches!(ended, Err(ExecError::DeadlineExceeded)) && !deadline.has_passed() {
            slow_calls.note(object);
        }
        ended
    }
}

/// Returns the gas limit of a call: its `gas`, up to the cap.
pub(crate) fn call_gas(node: &Node, object: &CallObject) -> u64 {
    let cap = node.options().call_gas_cap;
    object.gas.map_or(cap, |gas| gas.min(U256::from(cap)).saturating_to())
}
