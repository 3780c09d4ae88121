//! `eth_getTransactionBySenderAndNonce`.

use crate::error::{Answer, RpcError};
use crate::first_block::first_block;
use crate::json::{self, JsonWriter};
use crate::lookup;
use crate::node::Node;
use crate::objects::transaction;
use crate::state;
use rhizome_chain::BlockRecord;
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, U256};
use rhizome_trie::StateReader;
use std::sync::Arc;

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
    let Some((record, index)) = mined(node, sender, nonce, deadline)? else { return Ok(json::null()) };
    lookup::mined_transaction_text(node, &record.hash, index).map(lookup::or_null)
}

/// Returns block and index of the mined transaction of a sender with a nonce.
pub(crate) fn mined(
    node: &Node,
    sender: &Address,
    nonce: &U256,
    deadline: &Deadline,
) -> Result<Option<(Arc<BlockRecord>, usize)>, RpcError> {
    let is_used = |state: &dyn StateReader| Ok(state::account(state, sender)?.nonce > *nonce);
    let Some(number) = first_block(node, "transaction", deadline, is_used)? else { return Ok(None) };
    let Some(record) = node.chain().main_block(number)? else { return Ok(None) };
    let mut transactions = record.senders().iter().zip(&record.block.transactions);
    let index = transactions.position(|(sent, one)| sent == sender && one.nonce() == *nonce);
    Ok(index.map(|index| (record, index)))
}
