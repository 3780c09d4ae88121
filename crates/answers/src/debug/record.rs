//! One execution under one of the tracers of `debug_trace*`.

use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::options::TraceShape;
use crate::tracing::call_tracer::{self, CallTracerForm};
use crate::tracing::call_tree::CallTree;
use crate::tracing::options::{TraceOptions, Tracer};
use crate::tracing::struct_logs::StructLogs;
use crate::tracing::traced::Traced;
use crate::tracing::{Limit, prestate};
use rhizome_evm::tracing::{Inspected, Inspection};
use rhizome_evm::{Deadline, ExecError};

/// Inputs of the trace text besides the execution.
pub(super) struct Recording<'a> {
    pub(super) options: &'a TraceOptions,
    pub(super) shape: TraceShape,
    pub(super) limit: Limit,
    pub(super) deadline: &'a Deadline,
    /// Logs of the block before those of the transaction.
    pub(super) first_log: usize,
}

impl Recording<'_> {
    /// Executes with the tracer and writes its records. Returns the number of logs of the execution.
    pub(super) fn write(
        &self,
        json: &mut JsonWriter,
        execute: impl FnOnce(Inspection<'_>) -> Result<Inspected<Traced>, ExecError>,
    ) -> Result<usize, RpcError> {
        let limit = self.limit.after(json.len());
        let explain = |error| limit.explain(error);
        let traced = match self.options.tracer {
            Tracer::StructLogs => {
                let mut logs = StructLogs::new(*self.options, self.shape, limit, self.deadline.clone());
                let inspection = Inspection { inspector: Some(&mut logs), changes_limit: None };
                let traced = execute(inspection).map_err(explain)?.outcome;
                logs.write(json, &traced)?;
                traced
            }
            Tracer::Calls => {
                let mut tree = CallTree::new(limit, self.options.has_logs, self.shape == TraceShape::Reference);
                let inspection = Inspection { inspector: Some(&mut tree), changes_limit: None };
                let traced = execute(inspection).map_err(explain)?.outcome;
                let form = CallTracerForm {
                    shape: self.shape,
                    has_only_top: self.options.has_only_top,
                    has_logs: self.options.has_logs,
                    first_log: self.first_log,
                };
                call_tracer::write(json, &traced, &tree, form, &limit)?;
                traced
            }
            Tracer::Prestate => {
                let inspection = Inspection { inspector: None, changes_limit: Some(limit.left()) };
                let inspected = execute(inspection).map_err(explain)?;
                prestate::write(json, &inspected.accounts, self.options);
                limit.check(json.len())?;
                inspected.outcome
            }
        };
        Ok(traced.logs.len())
    }
}
