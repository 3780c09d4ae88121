//! Records calls, creations, self-destructs and logs as a tree.

use super::limit::Limit;
use rhizome_evm::tracing::{CallKind, Failure, FrameEnd, FrameStart, Inspector, LeafCall, LeafEnd, RefusedDeposit};
use rhizome_evm::{End, ExecError, State};
use rhizome_primitives::{Address, Bytes, Log, U256};

/// Size of a call besides its data, in bytes: an estimate of its JSON.
const NODE_SIZE: usize = 600;
/// Size of a log besides its data, in bytes.
const LOG_SIZE: usize = 300;

/// Kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// A call or creation.
    Call(CallKind),
    /// The account `from` went to `to` with `value`.
    SelfDestruct,
}

/// How a node ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodeEnd {
    /// Well, or it has not ended.
    Success,
    /// By REVERT.
    Reverted,
    /// By an exceptional halt.
    Halted(Failure),
    /// No code ran, and this is why.
    Leaf(LeafEnd),
}

/// One call, creation or self-destruct.
#[derive(Debug, Clone)]
pub(crate) struct CallNode {
    pub(crate) deed: Deed,
    pub(crate) from: Address,
    /// The account of the executed code, or the created account.
    pub(crate) to: Address,
    /// Whose storage and balance it works on.
    pub(crate) account: Address,
    pub(crate) value: U256,
    pub(crate) gas: u64,
    pub(crate) gas_used: u64,
    pub(crate) input: Bytes,
    pub(crate) output: Bytes,
    pub(crate) end: NodeEnd,
    /// Of a creation whose init code ran well and whose code was not stored.
    pub(crate) refused_deposit: Option<RefusedDeposit>,
    pub(crate) children: Vec<usize>,
    pub(crate) logs: Vec<LogRecord>,
}

impl CallNode {
    /// Returns `true` if the call itself did not revert its changes.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self.end, NodeEnd::Success | NodeEnd::Leaf(LeafEnd::Transferred | LeafEnd::PrecompileSucceeded))
    }

    pub(crate) fn is_creation(&self) -> bool {
        matches!(self.deed, Deed::Call(kind) if kind.is_creation())
    }

    /// Input and value as the reference shows them: of a call that ran no code no input, and the value that it moved.
    pub(crate) fn reference_input(&self) -> (&[u8], U256) {
        match (&self.end, self.deed) {
            (NodeEnd::Leaf(_), Deed::Call(CallKind::DelegateCall)) => (&[], U256::ZERO),
            (NodeEnd::Leaf(_), _) => (&[], self.value),
            _ => (&self.input, self.value),
        }
    }

    /// Returns `true` if the reference shows the call: it omits calls that execute no code, and failed creations.
    pub(crate) fn is_in_reference(&self) -> bool {
        match &self.end {
            _ if self.refused_deposit.is_some() => true,
            NodeEnd::Leaf(end) => *end == LeafEnd::Transferred,
            NodeEnd::Success if self.is_creation() => !self.input.is_empty(),
            _ => self.is_kept() || !self.is_creation(),
        }
    }
}

/// A log in the order of emission.
#[derive(Debug, Clone)]
pub(crate) struct LogRecord {
    pub(crate) log: Log,
    /// Logs emitted before it in the transaction, kept or not.
    pub(crate) sequence: usize,
    /// Calls that its frame had made before it.
    pub(crate) position: usize,
}

/// The calls of one transaction. The first node is the code executed by the transaction itself, if any.
#[derive(Debug)]
pub struct CallTree {
    pub(crate) nodes: Vec<CallNode>,
    open: Vec<usize>,
    logs: usize,
    limit: Limit,
    wants_logs: bool,
    has_reference_messages: bool,
}

impl CallTree {
    /// Creates an empty tree. `has_reference_messages`: failures of inner calls have the error texts of the reference.
    pub fn new(limit: Limit, wants_logs: bool, has_reference_messages: bool) -> Self {
        Self { nodes: Vec::new(), open: Vec::new(), logs: 0, limit, wants_logs, has_reference_messages }
    }

    /// The code that the transaction ran itself.
    pub(crate) fn root(&self) -> Option<&CallNode> {
        self.nodes.first()
    }

    fn add(&mut self, node: CallNode) -> Result<usize, ExecError> {
        self.limit.take(NODE_SIZE + 2 * (node.input.len() + node.output.len()))?;
        let index = self.nodes.len();
        if let Some(parent) = self.open.last().and_then(|parent| self.nodes.get_mut(*parent)) {
            parent.children.push(index);
        }
        self.nodes.push(node);
        Ok(index)
    }
}

impl Inspector for CallTree {
    fn wants_inner_messages(&self) -> bool {
        self.has_reference_messages
    }

    fn frame_start(&mut self, start: &FrameStart<'_>, _state: &mut State) -> Result<(), ExecError> {
        let index = self.add(CallNode {
            deed: Deed::Call(start.kind),
            from: start.from,
            to: start.to,
            account: start.account,
            value: start.value,
            gas: start.gas,
            gas_used: 0,
            input: Bytes::copy_from_slice(start.input),
            output: Bytes::new(),
            end: NodeEnd::Success,
            refused_deposit: None,
            children: Vec::new(),
            logs: Vec::new(),
        })?;
        self.open.push(index);
        Ok(())
    }

    fn frame_end(&mut self, end: &FrameEnd<'_>) -> Result<(), ExecError> {
        self.limit.take(2 * end.output.len())?;
        let Some(node) = self.open.pop().and_then(|index| self.nodes.get_mut(index)) else { return Ok(()) };
        node.gas_used = end.gas_used;
        node.output = Bytes::copy_from_slice(end.output);
        node.refused_deposit = end.refused_deposit.cloned();
        node.end = match (end.end, end.failure) {
            (End::Revert, _) => NodeEnd::Reverted,
            (End::Halt(_), Some(failure)) => NodeEnd::Halted(failure.clone()),
            _ => NodeEnd::Success,
        };
        Ok(())
    }

    fn leaf_call(&mut self, call: &LeafCall) -> Result<(), ExecError> {
        let account = match call.kind {
            CallKind::CallCode | CallKind::DelegateCall => call.from,
            _ => call.to,
        };
        self.add(CallNode {
            deed: Deed::Call(call.kind),
            from: call.from,
            to: call.to,
            account,
            value: call.value,
            gas: call.gas,
            gas_used: call.gas_used,
            input: call.input.clone(),
            output: call.output.clone(),
            end: NodeEnd::Leaf(call.end),
            refused_deposit: None,
            children: Vec::new(),
            logs: Vec::new(),
        })?;
        Ok(())
    }

    fn selfdestruct(&mut self, account: Address, heir: Address, balance: U256) -> Result<(), ExecError> {
        self.add(CallNode {
            deed: Deed::SelfDestruct,
            from: account,
            to: heir,
            account,
            value: balance,
            gas: 0,
            gas_used: 0,
            input: Bytes::new(),
            output: Bytes::new(),
            end: NodeEnd::Success,
            refused_deposit: None,
            children: Vec::new(),
            logs: Vec::new(),
        })?;
        Ok(())
    }

    fn log(&mut self, log: &Log) -> Result<(), ExecError> {
        let sequence = self.logs;
        self.logs += 1;
        if !self.wants_logs {
            return Ok(());
        }
        self.limit.take(LOG_SIZE + 2 * log.data.len())?;
        if let Some(node) = self.open.last().and_then(|index| self.nodes.get_mut(*index)) {
            node.logs.push(LogRecord { log: log.clone(), sequence, position: node.children.len() });
        }
        Ok(())
    }
}
