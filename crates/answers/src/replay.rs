//! Executes a mined transaction again, for what its receipt does not keep.

use crate::error::RpcError;
use crate::node::Node;
use crate::tracing::subject::BlockSubject;
use rhizome_chain::MinedTransaction;
use rhizome_evm::tracing::Inspection;
use rhizome_evm::{Deadline, TransactionOutcome};

/// The outcome of the transaction, after those before it in its block.
pub(crate) fn transaction(
    node: &Node,
    mined: &MinedTransaction,
    deadline: &Deadline,
) -> Result<TransactionOutcome, RpcError> {
    let missing = || RpcError::internal(format!("block {} has no transaction {}", mined.record.hash, mined.index));
    let subject = BlockSubject::of_block(node, &mined.record)?.ok_or_else(missing)?;
    let mut replay = subject.replay(node, deadline)?;
    replay.advance_to(mined.index)?;
    let inspected = replay.step(Inspection::default())?;
    Ok(inspected.ok_or_else(missing)?.outcome)
}
