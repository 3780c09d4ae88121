//! `sco_*`: scores of peers and banned addresses.

pub mod ban_address;
pub mod banned_addresses;
pub mod clear_peer_scoring;
pub mod peer_list;
pub mod reputation_summary;
pub mod unban_address;

use crate::error::RpcError;
use rhizome_net::{BanTarget, ScoreEvent};

/// Events in the order of the reference, which has no counters for the others.
const COUNTED: [ScoreEvent; 12] = [
    ScoreEvent::SuccessfulHandshake,
    ScoreEvent::FailedHandshake,
    ScoreEvent::InvalidNetwork,
    ScoreEvent::RepeatedMessage,
    ScoreEvent::ValidBlock,
    ScoreEvent::ValidTransaction,
    ScoreEvent::InvalidBlock,
    ScoreEvent::InvalidTransaction,
    ScoreEvent::InvalidMessage,
    ScoreEvent::TimeoutMessage,
    ScoreEvent::UnexpectedMessage,
    ScoreEvent::InvalidHeader,
];

/// Reads an address or a block of addresses.
fn block(text: &str) -> Result<BanTarget, RpcError> {
    let block = text.parse().map(BanTarget::Addresses);
    block.map_err(|_refused| RpcError::invalid_params(format!("invalid banned address {text}")))
}
