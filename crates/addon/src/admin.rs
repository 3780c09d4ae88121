//! `admin_*` methods.

use crate::executors::sync;
use crate::reply::Reply;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::admin;

/// Answers `admin_nodeInfo`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn admin_node_info() -> Result<Reply> {
    sync(admin::node_info::answer)
}

/// Answers `admin_peers`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn admin_peers() -> Result<Reply> {
    sync(admin::peers::answer)
}

/// Answers `admin_addPeer`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn admin_add_peer(enode: String) -> Result<Reply> {
    sync(|node| admin::add_peer::answer(node, &enode))
}

/// Answers `admin_removePeer`. Takes a URL or an id.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn admin_remove_peer(peer: String) -> Result<Reply> {
    sync(|node| admin::remove_peer::answer(node, &peer))
}

/// Returns the nodes that are always dialled, and the bans of the operator.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn peer_rules() -> Result<Reply> {
    sync(admin::peer_rules::list)
}

/// Bans a node by id or URL, or addresses, for some seconds or without end.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn ban_peer(target: String, seconds: Option<u32>) -> Result<Reply> {
    sync(|node| admin::peer_rules::ban(node, &target, seconds.map(u64::from)))
}

/// Lifts a ban. Returns whether there was one.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn unban_peer(target: String) -> Result<Reply> {
    sync(|node| admin::peer_rules::unban(node, &target))
}
