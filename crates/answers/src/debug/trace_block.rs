//! `debug_traceBlockByHash` and `debug_traceBlockByNumber`.

use super::block_tracing::BlockTracing;
use crate::block_id::BlockId;
use crate::error::{Answer, RpcError};
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::options::{TraceOptions, Tracer};
use crate::tracing::subject::{BlockSubject, NamedBlock};
use rhizome_evm::Deadline;

/// The traces of all transactions of a block, `null` if there is no such block.
pub fn answer(node: &Node, at: &BlockId<'_>, options: &TraceOptions, deadline: &Deadline) -> Answer {
    match BlockSubject::named(node, at)? {
        NamedBlock::Unknown => Ok(json::null()),
        NamedBlock::Genesis => traces(node, None, options, deadline),
        NamedBlock::Executed(subject) => traces(node, Some(&subject), options, deadline),
    }
}

/// The traces of all transactions of a block; none of the genesis block.
pub(super) fn traces(
    node: &Node,
    subject: Option<&BlockSubject>,
    options: &TraceOptions,
    deadline: &Deadline,
) -> Answer {
    let mut json = JsonWriter::with_capacity(4096);
    json.begin_array();
    if let Some(subject) = subject {
        let mut tracing = BlockTracing::new(node, subject, options, deadline)?;
        for transaction in &subject.block().transactions {
            if deadline.has_passed() {
                return Err(RpcError::timed_out());
            }
            if options.tracer == Tracer::StructLogs {
                // The reference's own tracer stands without the hash of the transaction.
                tracing.write_next(&mut json)?;
                continue;
            }
            json.begin_object();
            json.key("txHash").hash(&transaction.hash());
            json.key("result");
            tracing.write_next(&mut json)?;
            json.end_object();
        }
    }
    json.end_array();
    Ok(json.finish())
}
