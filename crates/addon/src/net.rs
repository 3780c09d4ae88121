//! `net_*` methods.

use crate::executors::sync;
use crate::reply::Reply;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::net;

/// Answers `net_version`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn net_version() -> Result<Reply> {
    sync(net::version::answer)
}

/// Answers `net_listening`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn net_listening() -> Result<Reply> {
    sync(net::listening::answer)
}

/// Answers `net_peerCount`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn net_peer_count() -> Result<Reply> {
    sync(net::peer_count::answer)
}

/// Answers `net_peerList`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn net_peer_list() -> Result<Reply> {
    sync(net::peer_list::answer)
}
