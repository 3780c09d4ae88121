//! `debug_traceTransaction`.

use super::block_tracing::BlockTracing;
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::options::TraceOptions;
use crate::tracing::subject::BlockSubject;
use rhizome_evm::Deadline;
use rhizome_primitives::B256;

/// The trace of a transaction on the main chain, else `null`.
pub fn answer(node: &Node, hash: &B256, options: &TraceOptions, deadline: &Deadline) -> Answer {
    let Some((subject, index)) = BlockSubject::of_transaction(node, hash)? else { return Ok(json::null()) };
    let mut tracing = BlockTracing::before(node, &subject, options, deadline, index)?;
    let mut json = JsonWriter::with_capacity(4096);
    tracing.write_next(&mut json)?;
    Ok(json.finish())
}
