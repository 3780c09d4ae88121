//! `trace_replayBlockTransactions`.

use super::parts;
use crate::block_id::BlockId;
use crate::error::{Answer, RpcError};
use crate::json::{self, JsonWriter};
use crate::node::Node;
use crate::tracing::Limit;
use crate::tracing::options::ReplayParts;
use crate::tracing::subject::{BlockSubject, NamedBlock};
use rhizome_evm::tracing::Inspected;
use rhizome_evm::{BlockReplay, Deadline, ExecError};

/// Executes the transactions of a block again. Returns the requested parts of each; `null` for an unknown block.
pub fn answer(node: &Node, at: &BlockId<'_>, wanted: ReplayParts, deadline: &Deadline) -> Answer {
    let subject = match BlockSubject::named(node, at)? {
        NamedBlock::Unknown => return Ok(json::null()),
        NamedBlock::Genesis => None,
        NamedBlock::Executed(subject) => Some(subject),
    };
    let mut json = JsonWriter::with_capacity(2048);
    json.begin_array();
    if let Some(subject) = subject {
        let limit = Limit::new(node.options().trace_limits.bytes);
        let mut replay = subject.replay(node, deadline)?;
        for (index, transaction) in subject.block().transactions.iter().enumerate() {
            if deadline.has_passed() {
                return Err(RpcError::timed_out());
            }
            json.begin_object();
            write_next(node, &mut json, &subject, &mut replay, index, wanted, limit)?;
            json.key("transactionHash").hash(&transaction.hash());
            json.end_object();
        }
    }
    json.end_array();
    Ok(json.finish())
}

/// Writes the members for the next transaction of a replay.
pub(super) fn write_next(
    node: &Node,
    json: &mut JsonWriter,
    subject: &BlockSubject,
    replay: &mut BlockReplay<'_>,
    index: usize,
    wanted: ReplayParts,
    limit: Limit,
) -> Result<(), RpcError> {
    let transactions = subject.block().transactions.len();
    parts::write(json, wanted, node.options().trace_shape, limit, index, |inspection| {
        let missing = || ExecError::Senders { senders: index, transactions };
        let inspected = replay.step(inspection)?.ok_or_else(missing)?;
        let outcome = subject.traced(index, inspected.outcome).ok_or_else(missing)?;
        Ok(Inspected { outcome, accounts: inspected.accounts })
    })
}
