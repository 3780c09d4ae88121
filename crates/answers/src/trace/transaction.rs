//! `trace_transaction`.

use super::write_block;
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::subject::BlockSubject;
use rhizome_evm::Deadline;
use rhizome_primitives::B256;

/// The calls of a transaction on the main chain, else `null`.
pub fn answer(node: &Node, hash: &B256, deadline: &Deadline) -> Answer {
    let Some((subject, index)) = BlockSubject::of_transaction(node, hash)? else { return Ok(json::null()) };
    let mut json = JsonWriter::with_capacity(2048);
    json.begin_array();
    write_block::write_one(node, &mut json, &subject, index, deadline)?;
    json.end_array();
    Ok(json.finish())
}
