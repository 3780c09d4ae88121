//! Maintenance of a data directory: rewind, pruning and verification.

use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::{PruneProgress, Verification, VerificationScope, VerifiedPart};
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

/// Deletes the states that the settings do not ask for, and frees their space. `report` receives `{"oldestState","target"}`, then
/// `{"done","total"}` steps of rewriting files, and returns whether to continue. Returns
/// `{"oldestState","bytesBefore","bytes","partial"}`.
pub fn prune(node: &Node, mut report: impl FnMut(String) -> ControlFlow<()>) -> Answer {
    let chain = node.chain();
    let bytes_before = chain.disk_bytes()?.total();
    let mut is_partial = false;
    chain.prune(chain.config().history, |progress| {
        let flow = report(match progress {
            PruneProgress::States { oldest, target } => format!(r#"{{"oldestState":{oldest},"target":{target}}}"#),
            PruneProgress::Files { done, total } => format!(r#"{{"done":{done},"total":{total}}}"#),
        });
        is_partial = flow.is_break();
        flow
    })?;
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("oldestState").number(chain.oldest_state().cast_signed());
    json.key("bytesBefore").number(bytes_before.cast_signed());
    json.key("bytes").number(chain.disk_bytes()?.total().cast_signed());
    json.key("partial").boolean(is_partial);
    json.end_object();
    Ok(json.finish())
}

/// Executes blocks of the main chain again and compares, if the scope has it, the flat state of the head with its trie. `report`
/// receives `{"number","hash"}` for each valid block, then `{"keys","share"}` at intervals, and returns whether to continue. Returns
/// `{"from"?,"to"?,"blocks","keys"?,"difference"}`, with `"partial":true` in place of the difference if `report` has ended the
/// verification. The difference is null or `{"number","hash","field","expected","got"}`.
pub fn verify(node: &Node, scope: VerificationScope, mut report: impl FnMut(String) -> ControlFlow<()>) -> Answer {
    let verified = node.chain().verify(scope, |part| report(part_text(&part)));
    let Verification { blocks, keys, difference, is_partial } = verified.map_err(RpcError::internal)?;
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    if let Some((from, to)) = scope.blocks {
        json.key("from").number(from.cast_signed());
        json.key("to").number(to.cast_signed());
    }
    json.key("blocks").number(blocks.cast_signed());
    if scope.has_state {
        json.key("keys").number(keys.cast_signed());
    }
    match difference {
        None if is_partial => json.key("partial").boolean(true),
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
        VerifiedPart::State { keys, share } => format!(r#"{{"keys":{keys},"share":{share}}}"#),
    }
}
