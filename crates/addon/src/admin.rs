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

/// Answers `admin_removePeer`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn admin_remove_peer(enode: String) -> Result<Reply> {
    sync(|node| admin::remove_peer::answer(node, &enode))
}
