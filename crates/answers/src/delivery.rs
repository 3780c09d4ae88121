//! Hands a signed transaction to the pool and, with instant mining, mines its block.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::json;
use crate::node::Node;
use crate::replay;
use crate::revert;
use rhizome_chain::{
    Chain, MinedBlock, MinedTransaction, PoolRejection, SkippedTransaction, SubmittedTransaction, WaitReason,
    WaitReasons,
};
use rhizome_evm::{Deadline, End};
use rhizome_primitives::B256;

/// Blocks that are mined for one transaction at most, if transactions before it take the gas of the first ones.
pub(crate) const MOST_BLOCKS: usize = 64;

/// Returns the hash of a transaction that `submit` adds to the pool. With instant mining the answer comes after its block, and a
/// failed execution is returned as an error although the transaction is mined.
pub(crate) fn deliver(
    node: &Node,
    submit: impl FnOnce(&Chain) -> Result<SubmittedTransaction, RpcError> + Send + 'static,
) -> Answer {
    let chain = node.chain();
    if !node.mines_on_submission() {
        return Ok(json::data(submit(chain)?.hash.as_slice()));
    }
    // The reference mines one block, and reports a transaction that is not in it.
    let most_blocks = if node.options().explains_waiting { MOST_BLOCKS } else { 1 };
    let (submitted, mined) = chain.submit_and_mine(node.now(), most_blocks, submit)?;
    let Some(index) = mined.record.block.transactions.iter().position(|one| one.hash() == submitted.hash) else {
        return Err(not_mined(node, &submitted.hash, &mined));
    };
    let receipts = chain.receipts(&mined.record.hash)?;
    if receipts.is_some_and(|receipts| receipts.get(index).is_some_and(|receipt| !receipt.success)) {
        return Err(failure(node, &MinedTransaction { record: mined.record, index }));
    }
    Ok(json::data(submitted.hash.as_slice()))
}

/// The error of a transaction that waits although a block was mined for it. The log names it, too.
fn not_mined(node: &Node, hash: &B256, mined: &MinedBlock) -> RpcError {
    let error = RpcError::new(ErrorCode::NotMined, "Unknown error when sending transaction: transaction wasn't mined");
    let Some(pooled) = node.chain().pool().get(hash) else {
        return error.with_hint("no block can hold it, so it was dropped");
    };
    let reasons = WaitReasons::new(&mined.record.block, &mined.skipped);
    let reason = match node.chain().pool().next_nonce(&pooled.sender) {
        Ok(next) if next < pooled.nonce => Some(WaitReason::NonceGap { nonce: pooled.nonce, next }),
        _ => reasons.of(hash, &pooled.sender, pooled.nonce),
    };
    let Some(reason) = reason else { return error };
    let text = reason.to_string();
    if mined.skipped.iter().all(|left| left.hash != *hash) {
        let (hash, sender, nonce) = (*hash, pooled.sender, pooled.nonce);
        node.chain().report_skipped(SkippedTransaction { hash, sender, nonce, reason });
    }
    error.with_hint(format!("it waits: {text}"))
}

/// Returns the error of a failed transaction. Receipts do not store the return data, so the transaction is executed again.
fn failure(node: &Node, mined: &MinedTransaction) -> RpcError {
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
        let refused = Self::new(ErrorCode::TransactionRejected, rejection.to_string());
        match rejection {
            PoolRejection::State(failure) => Self::internal(failure),
            // The reference names the part of the block, too, but calls it the block's.
            PoolRejection::GasLimit { limit, block_limit, .. } if limit < block_limit => {
                let hint = format!("one transaction can have {limit} of a block's gas limit of {block_limit}");
                refused.with_hint(hint)
            }
            _ => refused,
        }
    }
}
