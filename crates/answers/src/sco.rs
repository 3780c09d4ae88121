//! `sco_*`: how peers behave, and which addresses are banned.
//!
//! This node does not speak the peer protocol: nobody is scored. The list of banned addresses is kept all the same.

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
