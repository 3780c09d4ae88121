//! `web3_*`.

use crate::lanes::sync;
use crate::reply::Reply;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::web3;

/// `web3_clientVersion`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn web3_client_version() -> Result<Reply> {
    sync(web3::client_version::answer)
}

/// `web3_sha3`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn web3_sha3(data: String) -> Result<Reply> {
    sync(|_node| web3::sha3::answer(&data))
}
