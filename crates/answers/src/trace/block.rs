//! `trace_block`.

use super::write_block;
use crate::block_id::BlockId;
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::subject::{BlockSubject, NamedBlock};
use crate::tracing::transaction_trace::Window;
use rhizome_evm::Deadline;

/// The calls of all transactions of a block, `null` if there is no such block.
pub fn answer(node: &Node, at: &BlockId<'_>, deadline: &Deadline) -> Answer {
    let subject = match BlockSubject::named(node, at)? {
        NamedBlock::Unknown => return Ok(json::null()),
        NamedBlock::Genesis => None,
        NamedBlock::Executed(subject) => Some(subject),
    };
    let mut json = JsonWriter::with_capacity(2048);
    json.begin_array();
    if let Some(subject) = subject {
        write_block::write(node, &mut json, &subject, |_| true, &mut Window::all(), deadline)?;
    }
    json.end_array();
    Ok(json.finish())
}
