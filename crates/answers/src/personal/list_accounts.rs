//! `personal_listAccounts`.

use crate::error::{Answer, ErrorCode, RpcError};
use crate::node::Node;

/// Like `eth_accounts`, but fails on a node without accounts.
pub fn answer(node: &Node) -> Answer {
    if !node.options().has_wallet {
        return Err(RpcError::new(ErrorCode::WalletDisabled, "The local wallet feature is disabled"));
    }
    crate::eth::accounts::answer(node)
}
