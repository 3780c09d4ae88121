//! Results of `trace_call` and the replays: the output with the requested parts.

use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::options::TraceShape;
use crate::tracing::call_tree::CallTree;
use crate::tracing::options::ReplayParts;
use crate::tracing::traced::Traced;
use crate::tracing::transaction_trace::{self, Window};
use crate::tracing::vm_trace::VmTrace;
use crate::tracing::{Limit, state_diff};
use rhizome_evm::tracing::{FrameEnd, FrameStart, Inspected, Inspection, Inspector, LeafCall, Step, StepEnd};
use rhizome_evm::{ExecError, State};
use rhizome_primitives::{Address, Log, U256};

/// Executes under the recorders that the parts need and writes the members of the result.
pub(super) fn write(
    json: &mut JsonWriter,
    parts: ReplayParts,
    shape: TraceShape,
    limit: Limit,
    position: usize,
    execute: impl FnOnce(Inspection<'_>) -> Result<Inspected<Traced>, ExecError>,
) -> Result<(), RpcError> {
    let limit = limit.after(json.len());
    let mut recorders = Recorders {
        tree: CallTree::new(limit, false, shape == TraceShape::Reference),
        steps: parts.has_vm_trace.then(|| VmTrace::new(limit, position)),
    };
    let has_inspector = parts.has_trace || parts.has_vm_trace;
    let inspector = has_inspector.then_some(&mut recorders as &mut dyn Inspector);
    let inspection = Inspection { inspector, changes_limit: parts.has_state_diff.then_some(limit.left()) };
    let inspected = execute(inspection).map_err(|error| limit.explain(error))?;
    let traced = &inspected.outcome;
    json.key("output").data(&traced.output);
    json.key("stateDiff");
    match parts.has_state_diff {
        true => state_diff::write(json, &inspected.accounts),
        false => json.null(),
    }
    json.key("trace").begin_array();
    if parts.has_trace {
        transaction_trace::write(json, traced, &recorders.tree, shape, None, &mut Window::all(), &limit)?;
    }
    json.end_array();
    json.key("vmTrace");
    match recorders.steps {
        Some(steps) => json.raw(&steps.finish()),
        None => json.null(),
    }
    limit.check(json.len())
}

/// Calls, and instructions where they are wanted.
struct Recorders {
    tree: CallTree,
    steps: Option<VmTrace>,
}

impl Inspector for Recorders {
    fn wants_steps(&self) -> bool {
        self.steps.is_some()
    }

    fn wants_inner_messages(&self) -> bool {
        self.tree.wants_inner_messages()
    }

    fn frame_start(&mut self, start: &FrameStart<'_>, state: &mut State) -> Result<(), ExecError> {
        self.tree.frame_start(start, state)?;
        self.steps.as_mut().map_or(Ok(()), |steps| steps.frame_start(start, state))
    }

    fn frame_end(&mut self, end: &FrameEnd<'_>) -> Result<(), ExecError> {
        self.tree.frame_end(end)?;
        self.steps.as_mut().map_or(Ok(()), |steps| steps.frame_end(end))
    }

    fn leaf_call(&mut self, call: &LeafCall) -> Result<(), ExecError> {
        self.tree.leaf_call(call)
    }

    fn selfdestruct(&mut self, account: Address, heir: Address, balance: U256) -> Result<(), ExecError> {
        self.tree.selfdestruct(account, heir, balance)
    }

    fn log(&mut self, log: &Log) -> Result<(), ExecError> {
        self.tree.log(log)
    }

    fn step_start(&mut self, step: &Step<'_>, state: &mut State) -> Result<(), ExecError> {
        self.steps.as_mut().map_or(Ok(()), |steps| steps.step_start(step, state))
    }

    fn step_end(&mut self, end: &StepEnd<'_>) -> Result<(), ExecError> {
        self.steps.as_mut().map_or(Ok(()), |steps| steps.step_end(end))
    }
}
