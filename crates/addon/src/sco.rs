//! `sco_*` methods.

use crate::executors::sync;
use crate::reply::Reply;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::sco;

/// Answers `sco_banAddress`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn sco_ban_address(address: String) -> Result<Reply> {
    sync(|node| sco::ban_address::answer(node, &address))
}

/// Answers `sco_unbanAddress`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn sco_unban_address(address: String) -> Result<Reply> {
    sync(|node| sco::unban_address::answer(node, &address))
}

/// Answers `sco_bannedAddresses`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn sco_banned_addresses() -> Result<Reply> {
    sync(sco::banned_addresses::answer)
}

/// Answers `sco_peerList`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn sco_peer_list() -> Result<Reply> {
    sync(sco::peer_list::answer)
}

/// Answers `sco_reputationSummary`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn sco_reputation_summary() -> Result<Reply> {
    sync(sco::reputation_summary::answer)
}

/// Answers `sco_clearPeerScoring`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn sco_clear_peer_scoring(peer: String) -> Result<Reply> {
    sync(|node| sco::clear_peer_scoring::answer(node, &peer))
}
