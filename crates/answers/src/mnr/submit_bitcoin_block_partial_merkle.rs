//! `mnr_submitBitcoinBlockPartialMerkle`.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::mining_work::{hashes, malformed, message_bytes, submit};
use crate::node::Node;
use rhizome_chain::MiningSolution;

/// Takes a solved Bitcoin header, its coinbase and its Merkle branch in internal order, the coinbase's own id first; all
/// as hex, the branch with blanks in between. `count` is the number of transactions in hex.
pub fn answer(node: &Node, header: &str, coinbase: &str, branch: &str, count: &str) -> Answer {
    if branch.is_empty() {
        return Err(RpcError::new(ErrorCode::InvalidMinerBlock, "The list of merkle hashes can't be empty"));
    }
    let header = message_bytes("the Bitcoin header", header)?;
    let coinbase = message_bytes("the coinbase", coinbase)?;
    let branch = hashes("the Merkle branch", branch)?;
    let count = u32::from_str_radix(count, 16).ok().filter(|count| *count > 0 && i32::try_from(*count).is_ok());
    let count = count.ok_or_else(|| RpcError::invalid_params("the number of transactions is no hex number"))?;
    submit(
        node,
        "mnr_submitBitcoinBlockPartialMerkle",
        &MiningSolution::from_branch(&header, &coinbase, &branch, count).map_err(malformed)?,
    )
}
