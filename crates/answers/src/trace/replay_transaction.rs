//! `trace_replayTransaction`.

use super::replay_block_transactions::write_next;
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::Limit;
use crate::tracing::options::ReplayParts;
use crate::tracing::subject::BlockSubject;
use rhizome_evm::Deadline;
use rhizome_primitives::B256;

/// Executes a transaction of the main chain again. Returns the requested parts; otherwise `null`.
pub fn answer(node: &Node, hash: &B256, wanted: ReplayParts, deadline: &Deadline) -> Answer {
    let Some((subject, index)) = BlockSubject::of_transaction(node, hash)? else { return Ok(json::null()) };
    let mut replay = subject.replay_from(node, index, deadline)?;
    let mut json = JsonWriter::with_capacity(2048);
    let limit = Limit::new(node.options().trace_limits.bytes);
    json.begin_object();
    write_next(node, &mut json, &subject, &mut replay, index, wanted, limit)?;
    json.end_object();
    Ok(json.finish())
}
