//! Executes a mined transaction again, for what its receipt does not keep.

use crate::error::RpcError;
use crate::execution::to_rpc_error;
use crate::node::Node;
use rhizome_chain::MinedTransaction;
use rhizome_evm::{BlockEnv, BlockExecutor, Deadline, TransactionOutcome};

/// The outcome of the transaction, after those before it in its block.
pub(crate) fn transaction(
    node: &Node,
    mined: &MinedTransaction,
    deadline: &Deadline,
) -> Result<TransactionOutcome, RpcError> {
    let chain = node.chain();
    let record = &mined.record;
    let parent = record.parent().map(|parent| chain.block(&parent)).transpose()?.flatten();
    let parent = parent.ok_or_else(|| RpcError::internal(format!("block {} has no parent", record.hash)))?;
    let ancestry = chain.ancestry(&parent);
    let env = BlockEnv::from_header(&record.block.header);
    let mut executor = BlockExecutor::new(chain.spec(), env, chain.state_at(&parent)?, &ancestry)
        .map_err(to_rpc_error)?
        .with_deadline(deadline.clone());
    let mut last = None;
    for (transaction, sender) in record.block.transactions.iter().zip(record.senders()).take(mined.index + 1) {
        last = Some(executor.execute(transaction, *sender).map_err(to_rpc_error)?);
    }
    last.ok_or_else(|| RpcError::internal(format!("block {} has no transaction {}", record.hash, mined.index)))
}
