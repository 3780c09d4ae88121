//! `ots_getTransactionBySenderAndNonce`.

use crate::error::Answer;
use crate::eth::get_transaction_by_sender_and_nonce::mined;
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, U256};

/// Returns the hash of the mined transaction of a sender with a nonce; otherwise `null`. Fails with -32000 if the transaction is below
/// the oldest kept state.
pub fn answer(node: &Node, sender: &Address, nonce: &U256, deadline: &Deadline) -> Answer {
    let Some((record, index)) = mined(node, sender, nonce, deadline)? else { return Ok(json::null()) };
    let mut json = JsonWriter::new();
    match record.block.transactions.get(index) {
        Some(transaction) => json.hash(&transaction.hash()),
        None => json.null(),
    }
    Ok(json.finish())
}
