//! Writes how often calls name each method, as the `4byteTracer` of geth does.

use super::call_tree::{CallTree, Deed, NodeEnd};
use super::traced::Traced;
use crate::json::JsonWriter;
use rhizome_evm::precompiles::precompile_at;
use rhizome_evm::tracing::LeafEnd;
use rhizome_primitives::{Rules, hex};
use std::collections::BTreeMap;

/// Writes `{"0x<first four bytes>-<length of the other data>": count}`, without creations and calls of precompiles.
pub(crate) fn write(json: &mut JsonWriter, traced: &Traced, tree: &CallTree) {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    let mut count = |data: &[u8]| {
        if let Some((method, rest)) = data.split_at_checked(4) {
            *counts.entry(format!("0x{}-{}", hex::encode(method), rest.len())).or_default() += 1;
        }
    };
    for node in &tree.nodes {
        let is_call = matches!(node.deed, Deed::Call(kind) if !kind.is_creation());
        let is_precompile = matches!(node.end, NodeEnd::Leaf(LeafEnd::PrecompileSucceeded | LeafEnd::PrecompileFailed));
        if is_call && !is_precompile {
            count(&node.input);
        }
    }
    // A transaction to an account without code has no node.
    if tree.root().is_none() && traced.to.is_some_and(|to| precompile_at(&to, &Rules::all()).is_none()) {
        count(&traced.input);
    }
    json.begin_object();
    for (name, count) in &counts {
        json.key(name).number(*count);
    }
    json.end_object();
}
