//! Writes a tree of calls as the list that `trace_*` methods return: one object a call, depth first.

use super::call_tracer::{failure_of, reference_error};
use super::call_tree::{CallNode, CallTree, Deed, NodeEnd};
use super::limit::Limit;
use super::traced::Traced;
use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::options::TraceShape;
use rhizome_evm::tracing::{CallKind, Failure, LeafEnd};
use rhizome_evm::{End, HaltReason};
use rhizome_primitives::{Address, B256, U256};

/// Position of a traced transaction.
#[derive(Debug, Clone, Copy)]
pub struct TraceLocation {
    /// Hash of the block.
    pub block_hash: B256,
    /// Its height.
    pub block_number: u64,
    /// Hash of the transaction.
    pub transaction_hash: B256,
    /// Its position in the block.
    pub position: usize,
}

/// Which of the objects are written.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Number of objects to skip.
    pub skip: usize,
    /// Number of objects to write after them.
    pub take: usize,
}

impl Window {
    /// All of them.
    pub fn all() -> Self {
        Self { skip: 0, take: usize::MAX }
    }

    /// Whether the next one is written.
    fn admits(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        let is_open = self.take > 0;
        self.take = self.take.saturating_sub(1);
        is_open
    }

    /// Skips a number of objects if the page begins behind them. Returns true if they are skipped.
    pub(crate) fn skips_all(&mut self, count: usize) -> bool {
        let is_skipped = count <= self.skip;
        if is_skipped {
            self.skip -= count;
        }
        is_skipped
    }

    /// Whether nothing more is written.
    pub(crate) fn is_closed(&self) -> bool {
        self.take == 0
    }
}

/// Returns the number of objects of a transaction.
pub(crate) fn object_count(traced: &Traced, tree: &CallTree, shape: TraceShape) -> usize {
    let is_reference = shape == TraceShape::Reference;
    match tree.root() {
        None => 1 + traced.payments().len(),
        Some(root) => {
            let (mut count, mut open) = (1, visible(tree, root, is_reference));
            while let Some(node) = open.pop().and_then(|index| tree.nodes.get(index)) {
                count += 1;
                open.extend(visible(tree, node, is_reference));
            }
            count
        }
    }
}

/// Returns the indexes of the calls below a call that are shown.
fn visible(tree: &CallTree, node: &CallNode, is_reference: bool) -> Vec<usize> {
    let is_shown = |index: &usize| !is_reference || tree.nodes.get(*index).is_some_and(CallNode::is_in_reference);
    node.children.iter().copied().filter(is_shown).collect()
}

/// Writes the objects of a transaction as elements of an open array. Those of a call have no location.
pub fn write(
    json: &mut JsonWriter,
    traced: &Traced,
    tree: &CallTree,
    shape: TraceShape,
    location: Option<&TraceLocation>,
    window: &mut Window,
    limit: &Limit,
) -> Result<(), RpcError> {
    let is_reference = shape == TraceShape::Reference;
    TransactionTraceWriter { json, tree, is_reference, location, window, limit, address: Vec::new() }.top(traced)
}

struct TransactionTraceWriter<'a> {
    json: &'a mut JsonWriter,
    tree: &'a CallTree,
    is_reference: bool,
    location: Option<&'a TraceLocation>,
    window: &'a mut Window,
    limit: &'a Limit,
    /// Positions that lead from the top to the present object.
    address: Vec<usize>,
}

/// The `result` or `error` of a call.
enum ActionResult<'a> {
    Error(String),
    Output { gas_used: u64, output: &'a [u8] },
    Code { gas_used: u64, code: &'a [u8], address: Address },
    Nothing,
}

impl TransactionTraceWriter<'_> {
    fn top(&mut self, traced: &Traced) -> Result<(), RpcError> {
        let tree = self.tree;
        let root = tree.root();
        let payments = traced.payments();
        let children = root.map_or(payments.len(), |root| self.visible(root).len());
        if self.window.admits() {
            self.top_object(traced, root, children);
            self.limit.check(self.json.len())?;
        }
        if let Some(root) = root {
            return self.children(root);
        }
        for (index, (receiver, amount)) in payments.into_iter().enumerate() {
            if self.window.admits() {
                self.address.push(index);
                self.payment(traced.to.unwrap_or_default(), receiver, &amount);
                self.address.pop();
            }
        }
        self.limit.check(self.json.len())
    }

    fn top_object(&mut self, traced: &Traced, root: Option<&CallNode>, children: usize) {
        let gas = if root.is_some() || !self.is_reference { traced.gas } else { 0 };
        self.json.begin_object();
        self.json.key("action").begin_object();
        match traced.to {
            Some(to) => self.call_action("call", traced.sender, to, gas, &traced.input, &traced.value),
            None => self.creation_action(traced.sender, gas, &traced.input, &traced.value, None),
        }
        self.json.end_object();
        let result = match self.top_error(traced, root) {
            Some(error) => ActionResult::Error(error),
            None => match traced.created {
                Some(address) if traced.to.is_none() => {
                    ActionResult::Code { gas_used: traced.gas_used, code: &traced.output, address }
                }
                _ => {
                    let output: &[u8] = if self.is_reference { &[] } else { &traced.output };
                    ActionResult::Output { gas_used: traced.gas_used, output }
                }
            },
        };
        self.rest(if traced.to.is_none() { "create" } else { "call" }, children, result);
    }

    fn top_error(&self, traced: &Traced, root: Option<&CallNode>) -> Option<String> {
        match traced.end {
            End::Success => None,
            End::Revert => Some("Reverted".to_owned()),
            // The reference shows no failure of a precompile that is called by the transaction itself.
            End::Halt(_) if self.is_reference => {
                failure_of(traced, root).map(|failure| reference_error(&failure, true))
            }
            End::Halt(reason) => Some(error_name(reason).to_owned()),
        }
    }

    fn visible(&self, node: &CallNode) -> Vec<usize> {
        visible(self.tree, node, self.is_reference)
    }

    fn children(&mut self, parent: &CallNode) -> Result<(), RpcError> {
        let tree = self.tree;
        for (position, index) in self.visible(parent).into_iter().enumerate() {
            if self.window.is_closed() {
                return Ok(());
            }
            let Some(node) = tree.nodes.get(index) else { continue };
            self.address.push(position);
            if self.window.admits() {
                self.node(node);
                self.limit.check(self.json.len())?;
            }
            self.children(node)?;
            self.address.pop();
        }
        Ok(())
    }

    fn node(&mut self, node: &CallNode) {
        let children = self.visible(node).len();
        self.json.begin_object();
        self.json.key("action").begin_object();
        let kind = match node.deed {
            Deed::SelfDestruct => {
                self.json.key("address").data(node.from.as_slice());
                self.json.key("refundAddress").data(node.to.as_slice());
                self.json.key("balance").quantity_wide(&node.value);
                self.json.end_object();
                return self.rest("suicide", children, ActionResult::Nothing);
            }
            Deed::Call(kind) => kind,
        };
        if kind.is_creation() {
            let method = if kind == CallKind::Create2 { "create2" } else { "create" };
            self.creation_action(node.from, node.gas, &node.input, &node.value, Some(method));
        } else {
            let is_own = kind == CallKind::CallCode && self.is_reference;
            let to = if is_own { node.account } else { node.to };
            let (input, value) =
                if self.is_reference { node.reference_input() } else { (node.input.as_ref(), node.value) };
            self.call_action(name(kind), node.from, to, node.gas, input, &value);
        }
        self.json.end_object();
        let deposit = node.refused_deposit.as_ref().filter(|_| self.is_reference);
        let failure = match (&node.end, deposit) {
            (_, Some(deposit)) => Some(&deposit.failure),
            (NodeEnd::Halted(failure), None) => Some(failure),
            _ => None,
        };
        let result = match (&node.end, failure) {
            (_, Some(failure)) => ActionResult::Error(self.error_of(failure)),
            (NodeEnd::Reverted, _) => ActionResult::Error("Reverted".to_owned()),
            (NodeEnd::Leaf(end), _) if leaf_error(*end).is_some() => {
                ActionResult::Error(leaf_error(*end).unwrap_or_default().to_owned())
            }
            _ if kind.is_creation() => {
                ActionResult::Code { gas_used: node.gas_used, code: &node.output, address: node.to }
            }
            _ => ActionResult::Output { gas_used: node.gas_used, output: &node.output },
        };
        self.rest(if kind.is_creation() { "create" } else { "call" }, children, result);
    }

    fn error_of(&self, failure: &Failure) -> String {
        match self.is_reference {
            true => reference_error(failure, false),
            false => error_name(failure.reason).to_owned(),
        }
    }

    fn payment(&mut self, payer: Address, receiver: Address, amount: &U256) {
        self.json.begin_object();
        self.json.key("action").begin_object();
        self.call_action("call", payer, receiver, 0, &[], amount);
        self.json.end_object();
        self.rest("call", 0, ActionResult::Output { gas_used: 0, output: &[] });
    }

    fn call_action(&mut self, kind: &str, from: Address, to: Address, gas: u64, input: &[u8], value: &U256) {
        self.json.key("callType").text(kind);
        self.json.key("from").data(from.as_slice());
        self.json.key("to").data(to.as_slice());
        self.json.key("gas").quantity(gas);
        self.json.key("input").data(input);
        self.json.key("value").quantity_wide(value);
    }

    fn creation_action(&mut self, from: Address, gas: u64, init: &[u8], value: &U256, method: Option<&str>) {
        self.json.key("from").data(from.as_slice());
        self.json.key("gas").quantity(gas);
        self.json.key("init").data(init);
        self.json.key("value").quantity_wide(value);
        if let Some(method) = method {
            self.json.key("creationMethod").text(method);
        }
    }

    /// Everything after the action.
    fn rest(&mut self, kind: &str, children: usize, result: ActionResult<'_>) {
        if let Some(location) = self.location {
            self.json.key("blockHash").hash(&location.block_hash);
            self.json.key("blockNumber").number(location.block_number as i64);
            self.json.key("transactionHash").hash(&location.transaction_hash);
            self.json.key("transactionPosition").number(location.position as i64);
        }
        self.json.key("type").text(kind);
        self.json.key("subtraces").number(children as i64);
        self.json.key("traceAddress").begin_array();
        self.address.iter().for_each(|position| self.json.number(*position as i64));
        self.json.end_array();
        match result {
            ActionResult::Nothing => self.json.key("result").null(),
            ActionResult::Error(error) => {
                self.json.key("result").null();
                self.json.key("error").text(&error);
            }
            ActionResult::Output { gas_used, output } => {
                self.json.key("result").begin_object();
                self.json.key("gasUsed").quantity(gas_used);
                self.json.key("output").data(output);
                self.json.end_object();
            }
            ActionResult::Code { gas_used, code, address } => {
                self.json.key("result").begin_object();
                self.json.key("gasUsed").quantity(gas_used);
                self.json.key("code").data(code);
                self.json.key("address").data(address.as_slice());
                self.json.end_object();
            }
        }
        self.json.end_object();
    }
}

fn name(kind: CallKind) -> &'static str {
    match kind {
        CallKind::CallCode => "callcode",
        CallKind::DelegateCall => "delegatecall",
        CallKind::StaticCall => "staticcall",
        CallKind::Call | CallKind::Create | CallKind::Create2 => "call",
    }
}

/// The halt in the words of OpenEthereum.
fn error_name(reason: HaltReason) -> &'static str {
    match reason {
        HaltReason::OutOfGas
        | HaltReason::GasOverflow
        | HaltReason::CodeSize
        | HaltReason::InitCodeSize
        | HaltReason::PrecompileUnpaid => "Out of gas",
        HaltReason::InvalidInstruction | HaltReason::CodeHeader | HaltReason::CodePrefix => "Bad instruction",
        HaltReason::BadJump => "Bad jump destination",
        HaltReason::StackUnderflow => "Stack underflow",
        HaltReason::StackOverflow => "Out of stack",
        HaltReason::StaticViolation => "Mutable call in static context",
        HaltReason::ReturnDataBounds => "Out of bounds",
        HaltReason::PrecompileFailed => "Built-in failed",
        HaltReason::Silent => "Internal error",
    }
}

fn leaf_error(end: LeafEnd) -> Option<&'static str> {
    Some(match end {
        LeafEnd::Transferred | LeafEnd::PrecompileSucceeded => return None,
        LeafEnd::PrecompileFailed => "Built-in failed",
        LeafEnd::DepthLimit => "Out of stack",
        LeafEnd::InsufficientBalance => "Insufficient balance for transfer",
        LeafEnd::AddressCollision => "Contract address collision",
    })
}
