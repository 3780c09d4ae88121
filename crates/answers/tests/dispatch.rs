//! Calls answers by method name and JSON parameters, like the server.

use rhizome_answers::block_id::BlockId;
use rhizome_answers::call_object::CallObject;
use rhizome_answers::objects::block::TransactionList;
use rhizome_answers::overrides::Overrides;
use rhizome_answers::{Answer, Node, eth, evm, mnr, parameters};
use rhizome_evm::Deadline;
use serde_json::Value;

/// Returns the answer of a method. Only methods that the tests call are listed.
pub(crate) fn dispatch(node: &Node, method: &str, parameters: &[Value]) -> Answer {
    let sent = Parameters(parameters);
    let (first, second) = (sent.text(0), sent.text(1));
    let (block0, block1, block2) = (sent.block(0), sent.block(1), sent.block(2));
    let address = || parameters::address(&first);
    let transaction_hash = || parameters::transaction_hash(&first);
    let call = || CallObject::parse(&sent.value(0).to_string());
    let overrides = || Overrides::parse(&sent.object(2), "");
    match method {
        "eth_blockNumber" => eth::block_number::answer(node),
        "eth_getWork" => eth::get_work::answer(node),
        "eth_pendingTransactions" => eth::pending_transactions::answer(node, usize::MAX),
        "eth_getBalance" => eth::get_balance::answer(node, &address()?, &BlockId::parse(&block1)?),
        "eth_getCode" => eth::get_code::answer(node, &address()?, &BlockId::parse(&block1)?),
        "eth_getTransactionCount" => eth::get_transaction_count::answer(node, &address()?, &BlockId::parse(&block1)?),
        "eth_getStorageAt" => {
            let position = parameters::number(&second)?;
            eth::get_storage_at::answer(node, &address()?, &position, &BlockId::parse(&block2)?)
        }
        "eth_getBlockByNumber" => {
            let list = TransactionList::from_flag(sent.value(1).as_bool().unwrap_or_default());
            eth::get_block_by_number::answer(node, &BlockId::parse(&block0)?, list)
        }
        "eth_getUncleCountByBlockNumber" => {
            eth::get_uncle_count_by_block_number::answer(node, &BlockId::parse(&block0)?)
        }
        "eth_getTransactionByHash" => eth::get_transaction_by_hash::answer(node, &transaction_hash()?),
        "eth_getTransactionReceipt" => eth::get_transaction_receipt::answer(node, &transaction_hash()?),
        "eth_call" => eth::call::answer(node, &call()?, &BlockId::parse(&block1)?, &overrides()?, &Deadline::none()),
        "eth_estimateGas" => {
            eth::estimate_gas::answer(node, &call()?, &BlockId::parse(&block1)?, &overrides()?, &Deadline::none())
        }
        "eth_sendTransaction" => eth::send_transaction::answer(node, &call()?),
        "evm_startMining" => evm::start_mining::answer(node),
        "evm_stopMining" => evm::stop_mining::answer(node),
        "mnr_getWork" => mnr::get_work::answer(node),
        "mnr_submitBitcoinBlock" => mnr::submit_bitcoin_block::answer(node, &first),
        "mnr_submitBitcoinBlockTransactions" => {
            mnr::submit_bitcoin_block_transactions::answer(node, &second, &sent.text(2), &sent.text(3))
        }
        "mnr_submitBitcoinBlockPartialMerkle" => {
            let (coinbase, branch, count) = (sent.text(2), sent.text(3), sent.text(4));
            mnr::submit_bitcoin_block_partial_merkle::answer(node, &second, &coinbase, &branch, &count)
        }
        _ => unreachable!("{method}"),
    }
}

/// The parameters of a method.
struct Parameters<'a>(&'a [Value]);

impl Parameters<'_> {
    fn value(&self, at: usize) -> &Value {
        self.0.get(at).unwrap_or(&Value::Null)
    }

    fn text(&self, at: usize) -> String {
        match self.value(at) {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Returns a parameter as JSON; empty if it is absent or null.
    fn object(&self, at: usize) -> String {
        self.0.get(at).filter(|value| !value.is_null()).map(Value::to_string).unwrap_or_default()
    }

    /// Returns a block id in the form that TypeScript passes.
    fn block(&self, at: usize) -> String {
        match self.value(at) {
            Value::Null => "latest".into(),
            other => other.as_str().unwrap_or_default().into(),
        }
    }
}
