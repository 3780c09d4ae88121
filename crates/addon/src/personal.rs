//! `personal_*` methods and signing. Private keys cross as hex text and never appear in a message.

use crate::executors::{pooled, sync};
use crate::reply::{Reply, refusal};
use crate::text::Text;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::call_object::CallObject;
use rhizome_answers::{RpcError, eth, parameters, personal};

/// Returns the address of a key. Fails if this node cannot keep it.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn address_of_key(key: String) -> Result<Reply> {
    sync(|node| personal::address_of_key::answer(node, &parameters::bytes(&key)?))
}

/// Stores an encrypted key and unlocks its account. Returns the address.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn store_key(key: String, encrypted: String) -> Result<Reply> {
    sync(|node| personal::store_key::answer(node, &parameters::bytes(&key)?, &encrypted))
}

/// Returns the encrypted key of a stored account, or null.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn encrypted_key(address: String) -> Result<Reply> {
    sync(|node| personal::encrypted_key::answer(node, &parameters::address(&address)?))
}

/// Answers `personal_listAccounts`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn personal_list_accounts() -> Result<Reply> {
    sync(personal::list_accounts::answer)
}

/// Answers `personal_newAccountWithSeed`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn personal_new_account_with_seed(seed: String) -> Result<Reply> {
    sync(|node| personal::new_account_with_seed::answer(node, &seed))
}

/// Answers `personal_lockAccount`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn personal_lock_account(address: String) -> Result<Reply> {
    sync(|node| personal::lock_account::answer(node, &parameters::address(&address)?))
}

/// Unlocks a stored account with its decrypted key.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn personal_unlock_account(address: String, key: String, milliseconds: i64) -> Result<Reply> {
    sync(|node| {
        let milliseconds = u64::try_from(milliseconds).map_err(RpcError::internal)?;
        let (address, key) = (parameters::address(&address)?, parameters::bytes(&key)?);
        personal::unlock_account::answer(node, &address, &key, milliseconds)
    })
}

/// Answers `personal_dumpRawKey`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn personal_dump_raw_key(address: String) -> Result<Reply> {
    sync(|node| personal::dump_raw_key::answer(node, &parameters::address(&address)?))
}

/// Answers `personal_ecRecover`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn personal_ec_recover(data: String, signature: String) -> Result<Reply> {
    let read = || Ok((parameters::bytes(&data)?, parameters::bytes(&signature)?));
    let (data, signature) = read().map_err(refusal)?;
    personal::ec_recover::answer(&data, &signature).map(Reply).map_err(refusal)
}

/// Answers `personal_sign` with a decrypted key.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn personal_sign(data: String, key: String) -> Result<Reply> {
    sync(|_node| personal::sign::answer(&parameters::bytes(&key)?, &parameters::bytes(&data)?))
}

/// Returns the sender of a transaction to send, as JSON: an address or null.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn transaction_sender(#[napi(ts_arg_type = "string | object")] transaction: Text) -> Result<Reply> {
    sync(|_node| Ok(personal::send_transaction::sender(&CallObject::parse_transaction(&transaction)?)))
}

/// Answers `personal_sendTransaction` with a decrypted key.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn personal_send_transaction(
    env: &Env,
    #[napi(ts_arg_type = "string | object")] transaction: Text<512>,
    key: String,
    deadline_ms: i64,
    token: i64,
) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        personal::send_transaction::answer(
            node,
            &CallObject::parse_transaction(&transaction)?,
            &parameters::bytes(&key)?,
        )
    })
}

/// Answers `eth_signTypedData_v4` for the hash of the data.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_sign_typed_data(address: String, hash: String) -> Result<Reply> {
    sync(|node| {
        let hash = parameters::hash(&hash, "typed data hash")?;
        eth::sign_typed_data::answer(node, &parameters::address(&address)?, &hash)
    })
}
