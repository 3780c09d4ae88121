//! Maintenance of a data directory: rewind and verification.

use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::{Verification, VerifiedPart};
use std::ops::ControlFlow;

/// Removes all blocks above a height. The answer is `{"from","to","hash"}`: the heads before and after.
pub fn rewind(node: &Node, to: u64) -> Answer {
    let chain = node.chain();
    let from = chain.head().number();
    if to > from {
        return Err(RpcError::internal(format!("cannot go back to block {to}: the head is block {from}")));
    }
    chain.rewind(to)?;
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("from").number(from.cast_signed());
    json.key("to").number(to.cast_signed());
    json.key("hash").hash(&chain.head().hash());
    json.end_object();
    Ok(json.finish())
}

/// Executes the main chain from one height to another again and compares the flat state of the head with its trie. `report`
/// receives `{"number","hash"}` for each valid block, then `{"keys"}` at intervals, and returns whether to continue. Returns
/// `{"from","to","blocks","keys","difference"}`; the difference is null or `{"number","hash","field","expected","got"}`.
pub fn verify(node: &Node, from: u64, to: u64, mut report: impl FnMut(String) -> ControlFlow<()>) -> Answer {
    let verified = node.chain().verify_range(from, to, |part| report(part_text(&part)));
    let Verification { blocks, keys, difference } = verified.map_err(RpcError::internal)?;
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    json.key("from").number(from.cast_signed());
    json.key("to").number(to.cast_signed());
    json.key("blocks").number(blocks.cast_signed());
    json.key("keys").number(keys.cast_signed());
    match difference {
        None => json.key("difference").null(),
        Some(difference) => {
            json.key("difference").begin_object();
            json.key("number").number(difference.number.cast_signed());
            json.key("hash").hash(&difference.hash);
            json.key("field").text(&difference.field);
            json.key("expected").text(&difference.expected);
            json.key("got").text(&difference.got);
            json.end_object();
        }
    }
    json.end_object();
    Ok(json.finish())
}

fn part_text(part: &VerifiedPart<'_>) -> String {
    match part {
        VerifiedPart::Block(record) => format!(r#"{{"number":{},"hash":"{}"}}"#, record.number(), record.hash),
        VerifiedPart::State { keys } => format!(r#"{{"keys":{keys}}}"#),
    }
}
