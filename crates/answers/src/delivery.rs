//! Hands a signed transaction to the pool and, with instant mining, waits for its block.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::json;
use crate::node::Node;
use crate::replay;
use crate::revert;
use rhizome_chain::{PoolRejection, Submitted};
use rhizome_evm::{Deadline, End};
use rhizome_primitives::Transaction;

/// The hash of an admitted transaction. With instant mining the answer comes after its block, and a failed execution is
/// told as an error although the transaction is mined.
pub(crate) fn deliver(node: &Node, transaction: Transaction) -> Answer {
    if !node.mines_on_submission() {
        return Ok(json::data(submit(node, transaction)?.hash.as_slice()));
    }
    let _turn = node.sending_turn();
    let submitted = submit(node, transaction)?;
    node.chain().mine(node.now())?;
    match node.chain().transaction(&submitted.hash)? {
        Some(mined) => {
            let receipts = node.chain().receipts(&mined.record.hash)?;
            if receipts.is_some_and(|receipts| receipts.get(mined.index).is_some_and(|receipt| !receipt.success)) {
                return Err(failure(node, &mined));
            }
            Ok(json::data(submitted.hash.as_slice()))
        }
        None => {
            let message = "Unknown error when sending transaction: transaction wasn't mined";
            Err(RpcError::new(ErrorCode::NotMined, message))
        }
    }
}

fn submit(node: &Node, transaction: Transaction) -> Result<Submitted, RpcError> {
    Ok(node.chain().submit(transaction)?)
}

/// What a mined transaction that failed returned; receipts do not keep it, so the transaction runs once more.
fn failure(node: &Node, mined: &rhizome_chain::MinedTransaction) -> RpcError {
    match replay::transaction(node, mined, &Deadline::none()) {
        Ok(outcome) => match outcome.end {
            End::Revert => revert::reverted(outcome.output),
            End::Success | End::Halt(_) => revert::halted_when_mined(),
        },
        Err(error) => error,
    }
}

impl From<PoolRejection> for RpcError {
    fn from(rejection: PoolRejection) -> Self {
        match rejection {
            PoolRejection::State(failure) => Self::internal(failure),
            refused => Self::new(ErrorCode::TransactionRejected, refused.to_string()),
        }
    }
}
