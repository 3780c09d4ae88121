//! `eth_*` methods that are answered on the caller's thread.

use crate::executors::{sync, sync_or_pooled};
use crate::reply::{Reply, size};
use crate::text::Text;
use napi::bindgen_prelude::{Either, Object};
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::block_id::BlockId;
use rhizome_answers::objects::block::TransactionList;
use rhizome_answers::{RpcError, eth, object_fault, parameters};

/// Answers `eth_protocolVersion`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_protocol_version() -> Result<Reply> {
    sync(|_node| eth::protocol_version::answer())
}

/// Answers `eth_chainId`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_chain_id() -> Result<Reply> {
    sync(eth::chain_id::answer)
}

/// Answers `eth_blockNumber`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_block_number() -> Result<Reply> {
    sync(eth::block_number::answer)
}

/// Answers `eth_config`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_config() -> Result<Reply> {
    sync(eth::config::answer)
}

/// Answers `eth_capabilities`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_capabilities() -> Result<Reply> {
    sync(eth::capabilities::answer)
}

/// Answers `eth_gasPrice`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_gas_price() -> Result<Reply> {
    sync(eth::gas_price::answer)
}

/// Answers `eth_coinbase`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_coinbase() -> Result<Reply> {
    sync(eth::coinbase::answer)
}

/// Answers `eth_mining`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_mining() -> Result<Reply> {
    sync(eth::mining::answer)
}

/// Answers `eth_hashrate`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_hashrate() -> Result<Reply> {
    sync(eth::hashrate::answer)
}

/// Answers `eth_netHashrate`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_net_hashrate() -> Result<Reply> {
    sync(eth::net_hashrate::answer)
}

/// Answers `eth_bridgeState`.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_bridge_state(env: &Env) -> Result<Either<Reply, Object<'_>>> {
    sync_or_pooled(env, eth::bridge_state::answer)
}

/// Answers `eth_accounts`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_accounts() -> Result<Reply> {
    sync(eth::accounts::answer)
}

/// Answers `eth_syncing`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_syncing() -> Result<Reply> {
    sync(eth::syncing::answer)
}

/// Answers `eth_pendingTransactions` with at most `max_bytes`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_pending_transactions(max_bytes: i64) -> Result<Reply> {
    sync(|node| eth::pending_transactions::answer(node, size(max_bytes)?))
}

/// Answers `eth_getBalance`.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_get_balance(
    env: &Env,
    #[napi(ts_arg_type = "string")] address: Text,
    #[napi(ts_arg_type = "string")] block: Text,
) -> Result<Either<Reply, Object<'_>>> {
    sync_or_pooled(env, move |node| {
        eth::get_balance::answer(node, &parameters::address(&address)?, &BlockId::parse(&block)?)
    })
}

/// Answers `eth_getTransactionCount`.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_get_transaction_count(
    env: &Env,
    #[napi(ts_arg_type = "string")] address: Text,
    #[napi(ts_arg_type = "string")] block: Text,
) -> Result<Either<Reply, Object<'_>>> {
    sync_or_pooled(env, move |node| {
        eth::get_transaction_count::answer(node, &parameters::address(&address)?, &BlockId::parse(&block)?)
    })
}

/// Answers `eth_getCode`.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_get_code(
    env: &Env,
    #[napi(ts_arg_type = "string")] address: Text,
    #[napi(ts_arg_type = "string")] block: Text,
) -> Result<Either<Reply, Object<'_>>> {
    sync_or_pooled(env, move |node| {
        eth::get_code::answer(node, &parameters::address(&address)?, &BlockId::parse(&block)?)
    })
}

/// Answers `eth_getStorageAt`.
#[napi(catch_unwind, ts_return_type = "string | Buffer | Promise<string | Buffer>")]
pub fn eth_get_storage_at(
    env: &Env,
    #[napi(ts_arg_type = "string")] address: Text,
    #[napi(ts_arg_type = "string")] position: Text,
    #[napi(ts_arg_type = "string")] block: Text,
) -> Result<Either<Reply, Object<'_>>> {
    sync_or_pooled(env, move |node| {
        let (address, position) = (parameters::address(&address)?, parameters::number(&position)?);
        eth::get_storage_at::answer(node, &address, &position, &BlockId::parse(&block)?)
    })
}

/// Answers `eth_getBlockByHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_block_by_hash(#[napi(ts_arg_type = "string")] hash: Text, is_full: bool) -> Result<Reply> {
    let list = TransactionList::from_flag(is_full);
    sync(|node| eth::get_block_by_hash::answer(node, &parameters::block_hash(&hash)?, list))
}

/// Answers `eth_getBlockByNumber`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_block_by_number(#[napi(ts_arg_type = "string")] block: Text, is_full: bool) -> Result<Reply> {
    let list = TransactionList::from_flag(is_full);
    sync(|node| eth::get_block_by_number::answer(node, &BlockId::parse(&block)?, list))
}

/// Answers `eth_getBlocksByNumber`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_blocks_by_number(number: String) -> Result<Reply> {
    sync(|node| eth::get_blocks_by_number::answer(node, &number))
}

/// Answers `eth_getBlockTransactionCountByHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_block_transaction_count_by_hash(hash: String) -> Result<Reply> {
    sync(|node| eth::get_block_transaction_count_by_hash::answer(node, &parameters::block_hash(&hash)?))
}

/// Answers `eth_getUncleCountByBlockHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_uncle_count_by_block_hash(hash: String) -> Result<Reply> {
    sync(|node| eth::get_uncle_count_by_block_hash::answer(node, &parameters::block_hash(&hash)?))
}

/// Answers `eth_getBlockTransactionCountByNumber`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_block_transaction_count_by_number(block: String) -> Result<Reply> {
    sync(|node| eth::get_block_transaction_count_by_number::answer(node, &BlockId::parse(&block)?))
}

/// Answers `eth_getUncleCountByBlockNumber`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_uncle_count_by_block_number(block: String) -> Result<Reply> {
    sync(|node| eth::get_uncle_count_by_block_number::answer(node, &BlockId::parse(&block)?))
}

/// Answers `eth_getUncleByBlockHashAndIndex`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_uncle_by_block_hash_and_index(hash: String, index: u32) -> Result<Reply> {
    sync(|node| eth::get_uncle_by_block_hash_and_index::answer(node, &parameters::block_hash(&hash)?, position(index)?))
}

/// Answers `eth_getTransactionByBlockHashAndIndex`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_transaction_by_block_hash_and_index(hash: String, index: u32) -> Result<Reply> {
    sync(|node| {
        eth::get_transaction_by_block_hash_and_index::answer(node, &parameters::block_hash(&hash)?, position(index)?)
    })
}

/// Answers `eth_getUncleByBlockNumberAndIndex`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_uncle_by_block_number_and_index(block: String, index: u32) -> Result<Reply> {
    sync(|node| eth::get_uncle_by_block_number_and_index::answer(node, &BlockId::parse(&block)?, position(index)?))
}

/// Answers `eth_getTransactionByBlockNumberAndIndex`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_transaction_by_block_number_and_index(block: String, index: u32) -> Result<Reply> {
    sync(|node| {
        eth::get_transaction_by_block_number_and_index::answer(node, &BlockId::parse(&block)?, position(index)?)
    })
}

/// Answers `eth_getTransactionByHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_transaction_by_hash(#[napi(ts_arg_type = "string")] hash: Text) -> Result<Reply> {
    sync(|node| eth::get_transaction_by_hash::answer(node, &parameters::transaction_hash(&hash)?))
}

/// Answers `eth_getTransactionReceipt`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_transaction_receipt(#[napi(ts_arg_type = "string")] hash: Text) -> Result<Reply> {
    sync(|node| eth::get_transaction_receipt::answer(node, &parameters::transaction_hash(&hash)?))
}

/// Answers `eth_getBlockReceipts`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_block_receipts(block: String) -> Result<Reply> {
    sync(|node| eth::get_block_receipts::answer(node, &BlockId::parse(&block)?))
}

/// Answers `eth_getHeaderByHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_header_by_hash(hash: String) -> Result<Reply> {
    sync(|node| eth::get_header_by_hash::answer(node, &parameters::block_hash(&hash)?))
}

/// Answers `eth_getHeaderByNumber`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_header_by_number(block: String) -> Result<Reply> {
    sync(|node| eth::get_header_by_number::answer(node, &BlockId::parse(&block)?))
}

/// Answers `eth_getRawTransactionByHash`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_raw_transaction_by_hash(hash: String) -> Result<Reply> {
    sync(|node| eth::get_raw_transaction_by_hash::answer(node, &parameters::transaction_hash(&hash)?))
}

/// Answers `eth_getRawTransactionByBlockHashAndIndex`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_raw_transaction_by_block_hash_and_index(hash: String, index: u32) -> Result<Reply> {
    sync(|node| {
        eth::get_raw_transaction_by_block_hash_and_index::answer(
            node,
            &parameters::block_hash(&hash)?,
            position(index)?,
        )
    })
}

/// Answers `eth_getRawTransactionByBlockNumberAndIndex`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_get_raw_transaction_by_block_number_and_index(block: String, index: u32) -> Result<Reply> {
    sync(|node| {
        eth::get_raw_transaction_by_block_number_and_index::answer(node, &BlockId::parse(&block)?, position(index)?)
    })
}

/// Answers `eth_maxPriorityFeePerGas`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn eth_max_priority_fee_per_gas() -> Result<Reply> {
    sync(|_node| eth::max_priority_fee_per_gas::answer())
}

/// Converts an index.
fn position(index: u32) -> std::result::Result<usize, RpcError> {
    usize::try_from(index).map_err(RpcError::internal)
}

/// Returns the fault of an object of a request by the name of the parameter: `{"message","hint","shows"}` or `null`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn object_fault(name: String, #[napi(ts_arg_type = "string | object")] object: Text) -> Result<Reply> {
    sync(|_node| object_fault::answer(&name, &object))
}
