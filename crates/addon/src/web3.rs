//! `web3_*` methods.

use crate::executors::{pooled, sync};
use crate::reply::Reply;
use crate::text::Text;
use napi::bindgen_prelude::{Either, Object};
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::web3;

/// Maximum size of a text that is hashed on the caller's thread, in bytes.
const LONGEST_BRIEF_TEXT: usize = 16 * 1024;

/// Answers `web3_clientVersion`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn web3_client_version() -> Result<Reply> {
    sync(web3::client_version::answer)
}

/// Answers `web3_sha3`. Answers on the caller's thread if the text is short.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn web3_sha3(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] data: Text,
    deadline_ms: i64,
    token: i64,
) -> Result<Either<Reply, Object<'_>>> {
    if data.len() <= LONGEST_BRIEF_TEXT {
        return sync(|_node| web3::sha3::answer(&data)).map(Either::A);
    }
    pooled(env, deadline_ms, token, move |_node, _limit| web3::sha3::answer(&data)).map(Either::B)
}
