//! One execution under one of the tracers of `debug_trace*`, or under several.

use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::options::TraceShape;
use crate::tracing::call_tracer::{self, CallTracerForm};
use crate::tracing::call_tree::CallTree;
use crate::tracing::options::{TraceOptions, Tracer};
use crate::tracing::several::Several;
use crate::tracing::struct_logs::StructLogs;
use crate::tracing::traced::Traced;
use crate::tracing::transaction_trace::{self, TraceLocation, Window};
use crate::tracing::user_operation::UserOperation;
use crate::tracing::{Limit, four_byte, prestate};
use rhizome_evm::tracing::{Inspected, Inspection, Inspector};
use rhizome_evm::{Deadline, ExecError};
use std::slice;

/// Inputs of the trace text besides the execution.
pub(super) struct Recording<'a> {
    pub(super) options: &'a TraceOptions,
    pub(super) shape: TraceShape,
    pub(super) limit: Limit,
    /// Whether call trees show the lines printed by `console.sol`.
    pub(super) has_console: bool,
    /// Whether the storage slots of a contract can be listed.
    pub(super) lists_storage: bool,
    pub(super) deadline: &'a Deadline,
    /// Logs of the block before those of the transaction.
    pub(super) first_log: usize,
    /// Position of the transaction; `None` for a call.
    pub(super) location: Option<TraceLocation>,
}

/// The records that a tracer needs.
enum Recorder {
    Instructions(Box<StructLogs>),
    Calls(CallTree),
    UserOperation(Box<UserOperation>),
    /// The outcome, and the changes of the state.
    Outcome,
}

impl Recorder {
    fn inspector(&mut self) -> Option<&mut dyn Inspector> {
        match self {
            Self::Instructions(logs) => Some(&mut **logs),
            Self::Calls(tree) => Some(tree),
            Self::UserOperation(operation) => Some(&mut **operation),
            Self::Outcome => None,
        }
    }
}

impl Recording<'_> {
    /// Executes with the tracer and writes its records. Returns the number of logs of the execution.
    pub(super) fn write(
        &self,
        json: &mut JsonWriter,
        execute: impl FnOnce(Inspection<'_>) -> Result<Inspected<Traced>, ExecError>,
    ) -> Result<usize, RpcError> {
        let limit = self.limit.after(json.len());
        let is_mux = self.options.tracer == Tracer::Mux;
        let parts = if is_mux { &self.options.parts } else { slice::from_ref(self.options) };
        let mut recorders: Vec<Recorder> = parts.iter().map(|options| self.recorder(options, limit)).collect();
        let has_changes = parts.iter().any(|options| options.tracer == Tracer::Prestate);
        let changes_limit = has_changes.then_some(limit.left());
        let mut several = Several::new(recorders.iter_mut().filter_map(Recorder::inspector).collect());
        let inspection = Inspection { inspector: several.inspector(), changes_limit };
        let inspected = execute(inspection).map_err(|error| limit.explain(error))?;
        drop(several);
        if is_mux {
            json.begin_object();
        }
        for (options, recorder) in parts.iter().zip(recorders) {
            if is_mux {
                json.key(options.tracer.name());
            }
            self.write_records(json, options, recorder, &inspected)?;
        }
        if is_mux {
            json.end_object();
        }
        self.limit.check(json.len())?;
        Ok(inspected.outcome.logs.len())
    }

    fn recorder(&self, options: &TraceOptions, limit: Limit) -> Recorder {
        let has_reference_messages = self.shape == TraceShape::Reference;
        match options.tracer {
            Tracer::StructLogs => {
                let logs = StructLogs::new(options.clone(), self.shape, limit, self.deadline.clone());
                Recorder::Instructions(Box::new(if self.lists_storage { logs } else { logs.without_lists() }))
            }
            Tracer::Calls | Tracer::FourByte | Tracer::FlatCalls => {
                Recorder::Calls(CallTree::new(limit, options.has_logs, has_reference_messages))
            }
            Tracer::Erc7562 => Recorder::UserOperation(Box::new(UserOperation::new(limit, options))),
            Tracer::Prestate | Tracer::Noop | Tracer::Mux => Recorder::Outcome,
        }
    }

    fn write_records(
        &self,
        json: &mut JsonWriter,
        options: &TraceOptions,
        recorder: Recorder,
        inspected: &Inspected<Traced>,
    ) -> Result<(), RpcError> {
        let (traced, shape, limit) = (&inspected.outcome, self.shape, &self.limit);
        let (has_only_top, has_logs) = (options.has_only_top, options.has_logs);
        let form =
            CallTracerForm { shape, has_only_top, has_logs, first_log: self.first_log, has_console: self.has_console };
        match (recorder, options.tracer) {
            (Recorder::Instructions(logs), _) => logs.write(json, traced)?,
            (Recorder::Calls(tree), Tracer::FourByte) => four_byte::write(json, traced, &tree),
            (Recorder::Calls(tree), Tracer::FlatCalls) => {
                json.begin_array();
                let (location, window) = (self.location.as_ref(), &mut Window::all());
                transaction_trace::write(json, traced, &tree, shape, location, window, limit)?;
                json.end_array();
            }
            (Recorder::Calls(tree), _) => call_tracer::write(json, traced, &tree, form, limit)?,
            (Recorder::UserOperation(operation), _) => operation.write(json, traced, form, limit)?,
            (Recorder::Outcome, Tracer::Prestate) => prestate::write(json, &inspected.accounts, options),
            (Recorder::Outcome, _) => {
                json.begin_object();
                json.end_object();
            }
        }
        Ok(())
    }
}
