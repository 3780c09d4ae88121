//! `trace_get`.

use super::write_block;
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::subject::BlockSubject;
use crate::tracing::transaction_trace::Window;
use rhizome_evm::Deadline;
use rhizome_primitives::B256;

/// One call of the block of a transaction: `position` counts through the whole block, as in the reference. `null` if there
/// is no such transaction or call.
pub fn answer(node: &Node, hash: &B256, position: usize, deadline: &Deadline) -> Answer {
    let Some((subject, _)) = BlockSubject::of_transaction(node, hash)? else { return Ok(json::null()) };
    let mut json = JsonWriter::with_capacity(1024);
    let mut window = Window { skip: position, take: 1 };
    write_block::write(node, &mut json, &subject, |_| true, &mut window, deadline)?;
    if json.is_empty() {
        json.null();
    }
    Ok(json.finish())
}
