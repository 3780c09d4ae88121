//! `eth_getTransactionBySenderAndNonce`.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::json::{self, JsonWriter};
use crate::lookup;
use crate::node::Node;
use crate::objects::transaction;
use crate::state;
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, U256};

/// Returns the transaction of a sender with a nonce, mined or waiting; otherwise `null`. The block is found by its place in the
/// history of the nonce: fails with -32000 if it is below the oldest kept state.
pub fn answer(node: &Node, sender: &Address, nonce: &U256, deadline: &Deadline) -> Answer {
    let pool = node.chain().pool();
    let waiting = pool.pending().into_iter().chain(pool.queued());
    let is_wanted = |sent: &Address, number: u64| sent == sender && U256::from(number) == *nonce;
    if let Some(pooled) = waiting.into_iter().find(|pooled| is_wanted(&pooled.sender, pooled.nonce)) {
        let mut json = JsonWriter::with_capacity(1024);
        transaction::write(&mut json, &pooled.transaction, sender, None, node.options().transaction_form);
        return Ok(json.finish());
    }
    let Some(number) = mined_at(node, sender, nonce, deadline)? else { return Ok(json::null()) };
    let Some(record) = node.chain().main_block(number)? else { return Ok(json::null()) };
    let transactions = record.senders().iter().zip(&record.block.transactions);
    let index = transactions.into_iter().position(|(sent, one)| sent == sender && one.nonce() == *nonce);
    match index {
        Some(index) => lookup::mined_transaction_text(node, &record.hash, index).map(lookup::or_null),
        None => Ok(json::null()),
    }
}

/// Returns the first block after which the nonce of an account is above `nonce`.
fn mined_at(node: &Node, sender: &Address, nonce: &U256, deadline: &Deadline) -> Result<Option<u64>, RpcError> {
    let chain = node.chain();
    let is_used = |number: u64| -> Result<bool, RpcError> {
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
        let record = chain.main_block(number)?;
        let record =
            record.ok_or_else(|| RpcError::new(ErrorCode::ServerError, format!("block {number} is unknown")))?;
        Ok(state::account(&*node.state_at(&record)?, sender)?.nonce > *nonce)
    };
    let (mut low, mut high) = (chain.oldest_state(), chain.head().number());
    if !is_used(high)? {
        return Ok(None);
    }
    if is_used(low)? {
        let message = format!("the transaction is not above block {low}, the oldest one whose state is kept");
        return if low == 0 { Ok(None) } else { Err(RpcError::new(ErrorCode::ServerError, message)) };
    }
    // After `low` the nonce is unused, after `high` it is used.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_used(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}
