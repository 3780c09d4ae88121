//! `sco_*`: scores of peers and banned addresses.
//!
//! This node does not implement the peer protocol, so no peer has a score. The list of banned addresses is maintained.

pub mod ban_address;
pub mod banned_addresses;
pub mod clear_peer_scoring;
pub mod peer_list;
pub mod reputation_summary;
pub mod unban_address;

use crate::error::RpcError;
use rhizome_chain::AddressBlock;

/// Reads an address or a block of addresses.
fn block(text: &str) -> Result<AddressBlock, RpcError> {
    text.parse().map_err(|_refused| RpcError::invalid_params(format!("invalid banned address {text}")))
}
