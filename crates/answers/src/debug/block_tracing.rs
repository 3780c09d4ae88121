//! The transactions of a block under one of the tracers of `debug_trace*`.

use super::record::Recording;
use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::options::TraceShape;
use crate::tracing::Limit;
use crate::tracing::options::TraceOptions;
use crate::tracing::subject::BlockSubject;
use rhizome_evm::tracing::Inspected;
use rhizome_evm::{BlockReplay, Deadline, ExecError};

/// Whether traces show the lines printed by `console.sol`: on development networks, and not in the shape of the reference.
pub(super) fn shows_console(node: &Node) -> bool {
    node.chain().spec().is_development() && node.options().trace_shape == TraceShape::Standard
}

/// A block in execution.
pub(super) struct BlockTracing<'s> {
    subject: &'s BlockSubject,
    replay: BlockReplay<'s>,
    recording: Recording<'s>,
    next: usize,
}

impl<'s> BlockTracing<'s> {
    /// Prepares the state before the first transaction.
    pub(super) fn new(
        node: &'s Node,
        subject: &'s BlockSubject,
        options: &'s TraceOptions,
        deadline: &'s Deadline,
    ) -> Result<Self, RpcError> {
        let replay = subject.replay(node, deadline)?;
        Ok(Self::standing(node, subject, options, deadline, replay, 0))
    }

    /// Prepares the state before the transaction at `index`.
    pub(super) fn before(
        node: &'s Node,
        subject: &'s BlockSubject,
        options: &'s TraceOptions,
        deadline: &'s Deadline,
        index: usize,
    ) -> Result<Self, RpcError> {
        let replay = subject.replay_from(node, index, deadline)?;
        Ok(Self::standing(node, subject, options, deadline, replay, index))
    }

    fn standing(
        node: &Node,
        subject: &'s BlockSubject,
        options: &'s TraceOptions,
        deadline: &'s Deadline,
        replay: BlockReplay<'s>,
        next: usize,
    ) -> Self {
        let limit = Limit::new(node.options().trace_limits.bytes);
        let shape = node.options().trace_shape;
        let first_log = replay.log_count();
        let recording = Recording {
            options,
            shape,
            limit,
            has_console: shows_console(node),
            // The remote node, which is asked instead, lists those before an older block.
            lists_storage: node.fork().is_none() || subject.is_older(),
            deadline,
            first_log,
            location: None,
        };
        Self { subject, replay, recording, next }
    }

    /// Writes the trace of the next transaction.
    pub(super) fn write_next(&mut self, json: &mut JsonWriter) -> Result<(), RpcError> {
        let Self { subject, replay, recording, next } = self;
        let transactions = subject.block().transactions.len();
        recording.location =
            subject.block().transactions.get(*next).map(|transaction| subject.location(*next, transaction));
        let logs = recording.write(json, |inspection| {
            let missing = || ExecError::Senders { senders: *next, transactions };
            let inspected = replay.step(inspection)?.ok_or_else(missing)?;
            let outcome = subject.traced(*next, inspected.outcome).ok_or_else(missing)?;
            Ok(Inspected { outcome, accounts: inspected.accounts })
        })?;
        self.recording.first_log += logs;
        self.next += 1;
        Ok(())
    }
}
