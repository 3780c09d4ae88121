//! Writes a tree of calls as the `callTracer` does, in the shape of geth or in that of the reference.

use super::call_tree::{CallNode, CallTree, Deed, LogRecord, NodeEnd};
use super::console;
use super::limit::Limit;
use super::traced::Traced;
use crate::error::RpcError;
use crate::json::JsonWriter;
use crate::options::TraceShape;
use crate::revert;
use rhizome_evm::tracing::{CallKind, Failure, LeafEnd};
use rhizome_evm::{End, HaltReason};
use rhizome_primitives::Bytes;

const REVERTED: &str = "execution reverted";

/// Form of the output.
#[derive(Debug, Clone, Copy)]
pub struct CallTracerForm {
    /// Whose shape.
    pub shape: TraceShape,
    /// Without the calls inside.
    pub has_only_top: bool,
    /// With logs.
    pub has_logs: bool,
    /// Logs of the block before those of the transaction.
    pub first_log: usize,
    /// With the lines printed by `console.sol`.
    pub has_console: bool,
}

/// Writes the call object of a transaction.
pub fn write(
    json: &mut JsonWriter,
    traced: &Traced,
    tree: &CallTree,
    form: CallTracerForm,
    limit: &Limit,
) -> Result<(), RpcError> {
    write_with(json, traced, tree, form, limit, &|_json, _index| {})
}

/// Does the same as [`write`] with further members of each call, by the index of its node.
pub(crate) fn write_with(
    json: &mut JsonWriter,
    traced: &Traced,
    tree: &CallTree,
    form: CallTracerForm,
    limit: &Limit,
    write_details: &dyn Fn(&mut JsonWriter, usize),
) -> Result<(), RpcError> {
    let mut writer = CallTraceWriter { json, tree, form, limit, write_details, kept: Vec::new() };
    if form.has_logs {
        writer.kept = kept_logs(tree);
    }
    writer.top(traced)
}

/// Positions of the logs that stayed, by their sequence among all that were emitted.
fn kept_logs(tree: &CallTree) -> Vec<usize> {
    let mut records = Vec::new();
    if let Some(root) = tree.root().filter(|root| root.is_kept()) {
        collect_logs(tree, root, &mut records);
    }
    let mut kept: Vec<usize> = records.into_iter().map(|record| record.sequence).collect();
    kept.sort_unstable();
    kept
}

/// The logs of a call and those of the calls inside it that were not undone.
fn collect_logs<'n>(tree: &'n CallTree, node: &'n CallNode, records: &mut Vec<&'n LogRecord>) {
    records.extend(&node.logs);
    let children = node.children.iter().filter_map(|index| tree.nodes.get(*index));
    children.filter(|child| child.is_kept()).for_each(|child| collect_logs(tree, child, records));
}

struct CallTraceWriter<'a> {
    json: &'a mut JsonWriter,
    tree: &'a CallTree,
    form: CallTracerForm,
    limit: &'a Limit,
    write_details: &'a dyn Fn(&mut JsonWriter, usize),
    /// Sequences of the logs that stayed, ascending.
    kept: Vec<usize>,
}

impl CallTraceWriter<'_> {
    fn is_reference(&self) -> bool {
        self.form.shape == TraceShape::Reference
    }

    fn top(&mut self, traced: &Traced) -> Result<(), RpcError> {
        let root = self.tree.root();
        let is_creation = traced.to.is_none();
        self.json.begin_object();
        self.json.key("type").text(if is_creation { "CREATE" } else { "CALL" });
        self.json.key("from").data(traced.sender.as_slice());
        let failure = failure_of(traced, root);
        let is_failed = traced.end != End::Success;
        match (traced.to, traced.created) {
            (Some(to), _) => self.json.key("to").data(to.as_slice()),
            (None, Some(created)) if !self.is_reference() && !is_failed => {
                self.json.key("to").data(created.as_slice());
            }
            _ => {}
        }
        self.json.key("value").quantity_wide(&traced.value);
        let has_gas = root.is_some() || !self.is_reference();
        self.json.key("gas").quantity(if has_gas { traced.gas } else { 0 });
        self.json.key("gasUsed").quantity(traced.gas_used);
        self.json.key("input").data(&traced.input);
        if self.is_reference() {
            match traced.created.filter(|_| is_creation && traced.end != End::Revert) {
                Some(created) => self.json.key("output").data(created.as_slice()),
                None => self.json.key("output").quantity(0),
            }
            match (traced.end, failure) {
                (End::Revert, _) => self.json.key("error").text(REVERTED),
                (_, Some(failure)) => self.json.key("error").text(&reference_error(&failure, true)),
                _ => {}
            }
        } else {
            let error = match (traced.end, failure) {
                (End::Success, _) => None,
                (End::Revert, _) => Some(REVERTED.to_owned()),
                (End::Halt(_), Some(failure)) => Some(standard_error(&failure)),
                (End::Halt(reason), None) => Some(revert::name(reason).to_owned()),
            };
            self.standard_result(&traced.output, error, traced.end == End::Revert);
        }
        self.calls(traced, root)?;
        if self.form.has_console {
            console::write(self.json, self.tree);
        }
        if self.form.has_logs {
            self.top_logs(traced, root, is_failed);
        }
        (self.write_details)(self.json, 0);
        self.json.end_object();
        self.limit.check(self.json.len())
    }

    fn calls(&mut self, traced: &Traced, root: Option<&CallNode>) -> Result<(), RpcError> {
        if self.form.has_only_top {
            return Ok(());
        }
        match root {
            Some(root) => self.children(root, traced.end != End::Success),
            None => {
                self.payments(traced);
                Ok(())
            }
        }
    }

    fn payments(&mut self, traced: &Traced) {
        let payments = traced.payments();
        if payments.is_empty() {
            return;
        }
        self.json.key("calls").begin_array();
        for (receiver, amount) in payments {
            self.json.begin_object();
            self.json.key("type").text("CALL");
            self.json.key("from").data(traced.to.unwrap_or_default().as_slice());
            self.json.key("to").data(receiver.as_slice());
            self.json.key("value").quantity_wide(&amount);
            self.json.key("gas").quantity(0);
            self.json.key("gasUsed").quantity(0);
            self.json.key("input").data(&[]);
            if self.is_reference() {
                self.json.key("output").quantity(0);
            }
            self.json.end_object();
        }
        self.json.end_array();
    }

    fn top_logs(&mut self, traced: &Traced, root: Option<&CallNode>, is_failed: bool) {
        match root {
            // The reference shows those of the receipt, which a failed transaction does not have.
            Some(root) if !self.is_reference() => self.logs(root, is_failed),
            _ if traced.logs.is_empty() => {}
            _ => {
                self.json.key("logs").begin_array();
                for (index, log) in traced.logs.iter().enumerate() {
                    let record = LogRecord { log: log.clone(), sequence: index, position: 0 };
                    self.log(&record, Some(self.form.first_log + index));
                }
                self.json.end_array();
            }
        }
    }

    fn children(&mut self, parent: &CallNode, is_undone: bool) -> Result<(), RpcError> {
        let tree = self.tree;
        let is_reference = self.is_reference();
        let nodes = parent.children.iter().filter_map(|index| Some((*index, tree.nodes.get(*index)?)));
        let mut nodes = nodes.filter(|(_, node)| !is_reference || node.is_in_reference()).peekable();
        if nodes.peek().is_none() {
            return Ok(());
        }
        self.json.key("calls").begin_array();
        for (index, node) in nodes {
            self.node(index, node, is_undone)?;
        }
        self.json.end_array();
        Ok(())
    }

    fn node(&mut self, index: usize, node: &CallNode, is_undone: bool) -> Result<(), RpcError> {
        self.json.begin_object();
        match node.deed {
            Deed::SelfDestruct => self.self_destruct(node),
            Deed::Call(kind) if self.is_reference() => self.reference_call(node, kind),
            Deed::Call(kind) => self.standard_call(node, kind),
        }
        let is_undone = is_undone || !node.is_kept();
        self.children(node, is_undone)?;
        if self.form.has_logs {
            self.logs(node, is_undone);
        }
        (self.write_details)(self.json, index);
        self.json.end_object();
        self.limit.check(self.json.len())
    }

    fn self_destruct(&mut self, node: &CallNode) {
        let is_reference = self.is_reference();
        self.json.key("type").text(if is_reference { "NONE" } else { "SELFDESTRUCT" });
        self.json.key("from").data(node.from.as_slice());
        if !is_reference {
            self.json.key("to").data(node.to.as_slice());
            self.json.key("value").quantity_wide(&node.value);
            self.json.key("gas").quantity(0);
            self.json.key("gasUsed").quantity(0);
            self.json.key("input").data(&[]);
        }
    }

    fn reference_call(&mut self, node: &CallNode, kind: CallKind) {
        self.json.key("type").text(if kind.is_creation() { "CREATE" } else { name(kind) });
        self.json.key("from").data(node.from.as_slice());
        if !kind.is_creation() {
            let to = if kind == CallKind::CallCode { node.account } else { node.to };
            self.json.key("to").data(to.as_slice());
        }
        let (input, value) = node.reference_input();
        let deposit = node.refused_deposit.as_ref();
        self.json.key("value").quantity_wide(&value);
        self.json.key("gas").quantity(node.gas);
        self.json.key("gasUsed").quantity(deposit.map_or(node.gas_used, |deposit| deposit.gas_used));
        self.json.key("input").data(input);
        match kind.is_creation() {
            true => self.json.key("output").data(node.to.as_slice()),
            false => self.json.key("output").quantity_bytes(&node.output),
        }
        if let Some(deposit) = deposit {
            self.json.key("error").text(&deposit.failure.message);
            return;
        }
        match &node.end {
            NodeEnd::Reverted => {
                self.json.key("error").text(REVERTED);
                if let Some(reason) = revert::reason(&node.output) {
                    self.json.key("revertReason").text(&reason);
                }
            }
            NodeEnd::Halted(failure) => self.json.key("error").text(&failure.message),
            NodeEnd::Success | NodeEnd::Leaf(_) => {}
        }
    }

    fn standard_call(&mut self, node: &CallNode, kind: CallKind) {
        self.json.key("type").text(name(kind));
        self.json.key("from").data(node.from.as_slice());
        if node.is_kept() || !kind.is_creation() {
            self.json.key("to").data(node.to.as_slice());
        }
        if kind != CallKind::StaticCall {
            self.json.key("value").quantity_wide(&node.value);
        }
        self.json.key("gas").quantity(node.gas);
        self.json.key("gasUsed").quantity(node.gas_used);
        self.json.key("input").data(&node.input);
        let error = match &node.end {
            NodeEnd::Success => None,
            NodeEnd::Reverted => Some(REVERTED.to_owned()),
            NodeEnd::Halted(failure) => Some(standard_error(failure)),
            NodeEnd::Leaf(end) => leaf_error(*end).map(str::to_owned),
        };
        self.standard_result(&node.output, error, node.end == NodeEnd::Reverted);
    }

    fn standard_result(&mut self, output: &Bytes, error: Option<String>, is_reverted: bool) {
        if !output.is_empty() {
            self.json.key("output").data(output);
        }
        if let Some(error) = error {
            self.json.key("error").text(&error);
        }
        if let Some(reason) = revert::reason(output).filter(|_| is_reverted) {
            self.json.key("revertReason").text(&reason);
        }
    }

    fn logs(&mut self, node: &CallNode, is_undone: bool) {
        let mut records: Vec<&LogRecord> = Vec::new();
        match self.is_reference() {
            true => collect_logs(self.tree, node, &mut records),
            false if is_undone => {}
            false => records.extend(&node.logs),
        }
        if records.is_empty() {
            return;
        }
        records.sort_unstable_by_key(|record| record.sequence);
        self.json.key("logs").begin_array();
        for record in records {
            let index = self.kept.binary_search(&record.sequence).ok().filter(|_| !is_undone);
            self.log(record, index.map(|index| self.form.first_log + index));
        }
        self.json.end_array();
    }

    fn log(&mut self, record: &LogRecord, index: Option<usize>) {
        self.json.begin_object();
        match (self.is_reference(), index) {
            (true, Some(index)) => self.json.key("index").number(index as i64),
            (true, None) => self.json.key("index").number(-1),
            (false, index) => {
                self.json.key("index").quantity(index.unwrap_or_default() as u64);
                self.json.key("position").quantity(record.position as u64);
            }
        }
        self.json.key("address").data(record.log.address.as_slice());
        self.json.key("topics").begin_array();
        record.log.topics.iter().for_each(|topic| self.json.hash(topic));
        self.json.end_array();
        match record.log.data.is_empty() && self.is_reference() {
            true => self.json.key("data").data(&[0]),
            false => self.json.key("data").data(&record.log.data),
        }
        self.json.end_object();
    }
}

/// Returns the failure of a transaction; `None` if it succeeded, or if it executed no code.
pub(super) fn failure_of(traced: &Traced, root: Option<&CallNode>) -> Option<Failure> {
    let End::Halt(reason) = traced.end else { return None };
    let root = root?;
    Some(match &root.end {
        NodeEnd::Halted(failure) => failure.clone(),
        // The code ran well and could not be stored.
        _ => Failure::of_code(reason, root.output.len(), root.gas, root.gas_used, traced.hash),
    })
}

/// Class and message, as the reference writes them at the top and, without `class`, inside.
pub(super) fn reference_error(failure: &Failure, is_top: bool) -> String {
    let class = failure.reason.class().unwrap_or("java.lang.RuntimeException");
    format!("{}{class}: {}", if is_top { "class " } else { "" }, failure.message)
}

fn standard_error(failure: &Failure) -> String {
    match failure.reason {
        HaltReason::InvalidInstruction => match failure.instruction {
            0xfe => "invalid opcode: INVALID".to_owned(),
            byte => format!("invalid opcode: opcode {byte:#x} not defined"),
        },
        reason => revert::name(reason).to_owned(),
    }
}

fn leaf_error(end: LeafEnd) -> Option<&'static str> {
    Some(match end {
        LeafEnd::Transferred | LeafEnd::PrecompileSucceeded => return None,
        LeafEnd::PrecompileFailed => "precompiled contract failed",
        LeafEnd::DepthLimit => "max call depth exceeded",
        LeafEnd::InsufficientBalance => "insufficient balance for transfer",
        LeafEnd::AddressCollision => "contract address collision",
    })
}

pub(crate) fn name(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Call => "CALL",
        CallKind::CallCode => "CALLCODE",
        CallKind::DelegateCall => "DELEGATECALL",
        CallKind::StaticCall => "STATICCALL",
        CallKind::Create => "CREATE",
        CallKind::Create2 => "CREATE2",
    }
}
