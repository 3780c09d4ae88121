//! `mnr_submitBitcoinBlockTransactions`.

use crate::error::Answer;
use crate::mining_work::{hashes, malformed, message_bytes, submit};
use crate::node::Node;
use rhizome_chain::MiningSolution;

/// Takes a solved Bitcoin header, its coinbase and the ids of all transactions in display order, coinbase first; all as
/// hex, the ids with blanks between them.
pub fn answer(node: &Node, header: &str, coinbase: &str, ids: &str) -> Answer {
    let header = message_bytes("the Bitcoin header", header)?;
    let coinbase = message_bytes("the coinbase", coinbase)?;
    let ids = hashes("the transaction ids", ids)?;
    submit(
        node,
        "mnr_submitBitcoinBlockTransactions",
        &MiningSolution::from_transactions(&header, &coinbase, &ids).map_err(malformed)?,
    )
}
