//! Calls of mined transactions, recorded by another execution.

use crate::error::RpcError;
use crate::node::Node;
use crate::options::TraceShape;
use crate::tracing::Limit;
use crate::tracing::call_tree::{CallNode, CallTree};
use crate::tracing::subject::BlockSubject;
use crate::tracing::traced::Traced;
use rhizome_chain::MinedTransaction;
use rhizome_evm::tracing::Inspection;
use rhizome_evm::{BlockReplay, Deadline, End};

/// A transaction and its calls.
pub(super) struct RecordedCalls {
    pub(super) traced: Traced,
    pub(super) tree: CallTree,
    pub(super) limit: Limit,
}

/// A call inside a transaction.
pub(super) struct InnerCall<'a> {
    pub(super) node: &'a CallNode,
    /// Number of frames above the call.
    pub(super) depth: usize,
    /// Whether the changes of the call stayed.
    pub(super) is_kept: bool,
}

impl RecordedCalls {
    /// Executes a transaction again; `None` for one of the genesis block.
    pub(super) fn of(node: &Node, mined: &MinedTransaction, deadline: &Deadline) -> Result<Option<Self>, RpcError> {
        let Some(subject) = BlockSubject::of_block(node, &mined.record)? else { return Ok(None) };
        let mut replay = subject.replay_from(node, mined.index, deadline)?;
        Self::next(node, &subject, &mut replay, mined.index)
    }

    /// Executes the transaction at `index`, which must be the next one of the replay.
    pub(super) fn next(
        node: &Node,
        subject: &BlockSubject,
        replay: &mut BlockReplay<'_>,
        index: usize,
    ) -> Result<Option<Self>, RpcError> {
        let limit = Limit::new(node.options().trace_limits.bytes);
        let has_reference_messages = node.options().trace_shape == TraceShape::Reference;
        let mut tree = CallTree::new(limit, false, has_reference_messages);
        let inspection = Inspection { inspector: Some(&mut tree), changes_limit: None };
        let inspected = replay.step(inspection).map_err(|error| limit.explain(error))?;
        let traced = inspected.and_then(|inspected| subject.traced(index, inspected.outcome));
        Ok(traced.map(|traced| Self { traced, tree, limit }))
    }

    /// Returns the calls, creations and self-destructs below the outermost call, in the order of execution.
    pub(super) fn inner_calls(&self) -> Vec<InnerCall<'_>> {
        let mut calls = Vec::new();
        let Some(root) = self.tree.root() else { return calls };
        let mut waiting: Vec<(usize, usize, bool)> = Vec::new();
        let push = |waiting: &mut Vec<(usize, usize, bool)>, parent: &CallNode, depth: usize, is_kept: bool| {
            waiting.extend(parent.children.iter().rev().map(|index| (*index, depth, is_kept)));
        };
        push(&mut waiting, root, 1, self.traced.end == End::Success);
        while let Some((index, depth, parent_is_kept)) = waiting.pop() {
            let Some(node) = self.tree.nodes.get(index) else { continue };
            let is_kept = parent_is_kept && node.is_kept();
            calls.push(InnerCall { node, depth, is_kept });
            push(&mut waiting, node, depth + 1, is_kept);
        }
        calls
    }
}
