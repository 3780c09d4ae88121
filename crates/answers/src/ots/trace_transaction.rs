//! `ots_traceTransaction`.

use super::recorded_calls::{InnerCall, RecordedCalls};
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::call_tracer;
use crate::tracing::call_tree::{Deed, NodeEnd};
use rhizome_evm::Deadline;
use rhizome_evm::tracing::{CallKind, LeafEnd};
use rhizome_primitives::{Address, B256, U256};

/// Returns the calls, creations and self-destructs of a transaction as a list in the order of execution, each with its depth; `null`
/// if the transaction is not on the best chain. Inner calls of precompiles are left out, as in Erigon.
pub fn answer(node: &Node, hash: &B256, deadline: &Deadline) -> Answer {
    let Some(mined) = node.chain().transaction(hash)? else { return Ok(json::null()) };
    let Some(calls) = RecordedCalls::of(node, &mined, deadline)? else { return Ok(json::null()) };
    let (traced, limit) = (&calls.traced, &calls.limit);
    let mut json = JsonWriter::with_capacity(4096);
    json.begin_array();
    let kind = if traced.to.is_some() { CallKind::Call } else { CallKind::Create };
    Entry {
        name: call_tracer::name(kind),
        depth: 0,
        from: traced.sender,
        to: traced.to.or(traced.created).unwrap_or_default(),
        value: Some(traced.value),
        input: &traced.input,
        output: &traced.output,
    }
    .write(&mut json);
    for call in calls.inner_calls() {
        if !is_precompile(&call) {
            Entry::of(&call).write(&mut json);
            limit.check(json.len())?;
        }
    }
    json.end_array();
    limit.check(json.len())?;
    Ok(json.finish())
}

fn is_precompile(call: &InnerCall<'_>) -> bool {
    matches!(call.node.end, NodeEnd::Leaf(LeafEnd::PrecompileSucceeded | LeafEnd::PrecompileFailed))
}

/// One element of the list.
struct Entry<'a> {
    name: &'static str,
    depth: usize,
    from: Address,
    to: Address,
    /// `None` for calls that cannot move coins.
    value: Option<U256>,
    input: &'a [u8],
    output: &'a [u8],
}

impl<'a> Entry<'a> {
    fn of(call: &InnerCall<'a>) -> Self {
        let node = call.node;
        let (name, value) = match node.deed {
            Deed::SelfDestruct => ("SELFDESTRUCT", Some(node.value)),
            Deed::Call(kind @ (CallKind::StaticCall | CallKind::DelegateCall)) => (call_tracer::name(kind), None),
            Deed::Call(kind) => (call_tracer::name(kind), Some(node.value)),
        };
        Entry { name, depth: call.depth, from: node.from, to: node.to, value, input: &node.input, output: &node.output }
    }

    fn write(&self, json: &mut JsonWriter) {
        json.begin_object();
        json.key("type").text(self.name);
        json.key("depth").number((self.depth as u64).cast_signed());
        json.key("from").data(self.from.as_slice());
        json.key("to").data(self.to.as_slice());
        match &self.value {
            Some(value) => json.key("value").quantity_wide(value),
            None => json.key("value").null(),
        }
        json.key("input").data(self.input);
        json.key("output").data(self.output);
        json.end_object();
    }
}
