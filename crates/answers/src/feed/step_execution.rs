//! Executes transactions of a block again for the change feed: calls, and changes of the state.

use crate::error::RpcError;
use crate::feed::content::FeedContent;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::options::TraceShape;
use crate::tracing::call_tree::CallTree;
use crate::tracing::options::TraceOptions;
use crate::tracing::subject::BlockSubject;
use crate::tracing::transaction_trace::{self, Window};
use crate::tracing::{Limit, prestate};
use rhizome_evm::tracing::{Inspection, Inspector};
use rhizome_evm::{BlockReplay, Deadline};

/// A block in execution. The transactions may be asked for in any order; ascending, each is executed once.
pub(crate) struct StepExecution<'s> {
    node: &'s Node,
    content: &'s FeedContent,
    subject: &'s BlockSubject,
    deadline: &'s Deadline,
    /// Index of the next transaction, and the execution before it.
    next: Option<(usize, BlockReplay<'s>)>,
}

impl<'s> StepExecution<'s> {
    /// `deadline`: end of the whole execution, which then fails.
    pub(crate) fn new(
        node: &'s Node,
        content: &'s FeedContent,
        subject: &'s BlockSubject,
        deadline: &'s Deadline,
    ) -> Self {
        Self { node, content, subject, deadline, next: None }
    }

    /// Executes the transaction at `index` and adds its calls and changes, as far as they are wanted, to open arrays.
    pub(crate) fn write(
        &mut self,
        index: usize,
        traces: &mut JsonWriter,
        state: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let (node, subject) = (self.node, self.subject);
        let mut replay = match self.next.take() {
            Some((next, replay)) if next == index => replay,
            _ => subject.replay_from(node, index, self.deadline)?,
        };
        let shape = node.options().trace_shape;
        let limit = Limit::new(node.options().trace_limits.bytes);
        let mut tree = CallTree::new(limit, false, shape == TraceShape::Reference);
        let inspector = self.content.has_traces.then_some(&mut tree as &mut dyn Inspector);
        let changes_limit = self.content.has_state.then_some(limit.left());
        let inspected = replay.step(Inspection { inspector, changes_limit });
        let inspected = inspected.map_err(|error| limit.explain(error))?;
        self.next = Some((index + 1, replay));
        let Some((inspected, (transaction, _))) = inspected.zip(subject.transaction(index)) else { return Ok(()) };
        let location = subject.location(index, transaction);
        if self.content.has_state {
            let mut change = JsonWriter::new();
            change.begin_object();
            change.key("transactionHash").hash(&location.transaction_hash);
            change.key("transactionIndex").quantity(index as u64);
            change.key("diff");
            let options = TraceOptions { is_diff: true, ..TraceOptions::default() };
            prestate::write(&mut change, &inspected.accounts, &options);
            change.end_object();
            limit.check(change.len())?;
            state.raw(&change.finish());
        }
        if let Some(traced) = subject.traced(index, inspected.outcome).filter(|_| self.content.has_traces) {
            let mut calls = JsonWriter::new();
            transaction_trace::write(&mut calls, &traced, &tree, shape, Some(&location), &mut Window::all(), &limit)?;
            traces.raw(&calls.finish());
        }
        Ok(())
    }
}
