//! From the name of a method and its JSON parameters to its answer, as the server does it.

use rhizome_answers::call_object::CallObject;
use rhizome_answers::log_filter::LogQuery;
use rhizome_answers::objects::block::TransactionList;
use rhizome_answers::overrides::Overrides;
use rhizome_answers::selector::Selector;
use rhizome_answers::{Answer, Node, RpcError, debug, eth, evm, mnr, net, parameters, rsk, web3};
use rhizome_evm::Deadline;
use serde_json::Value;

/// The answer; none for methods that this crate does not have.
pub(crate) fn dispatch(node: &Node, method: &str, parameters: &[Value]) -> Option<Answer> {
    let ask = Ask { node, method, parameters };
    let answer = match method.split_once('_')? {
        ("eth", _) => ask.eth(),
        ("evm", _) => ask.evm(),
        ("rsk" | "debug", _) => ask.raw(),
        _ => ask.others(),
    };
    match answer {
        Err(Missing::Method) => None,
        Err(Missing::Refused(error)) => Some(Err(error)),
        Ok(text) => Some(Ok(text)),
    }
}

enum Missing {
    Method,
    Refused(RpcError),
}

impl From<RpcError> for Missing {
    fn from(error: RpcError) -> Self {
        Self::Refused(error)
    }
}

type Attempt = Result<Vec<u8>, Missing>;

struct Ask<'a> {
    node: &'a Node,
    method: &'a str,
    parameters: &'a [Value],
}

impl Ask<'_> {
    fn value(&self, at: usize) -> &Value {
        self.parameters.get(at).unwrap_or(&Value::Null)
    }

    fn text(&self, at: usize) -> String {
        match self.value(at) {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// A parameter as JSON; empty where there is none.
    fn object(&self, at: usize) -> String {
        self.parameters.get(at).filter(|value| !value.is_null()).map(Value::to_string).unwrap_or_default()
    }

    fn flag(&self, at: usize) -> TransactionList {
        TransactionList::from_flag(self.value(at).as_bool().unwrap_or_default())
    }

    /// A selector in the one form that crosses the border.
    fn block(&self, at: usize) -> String {
        let takes_decimal = matches!(self.method, "eth_call" | "eth_estimateGas");
        match self.value(at) {
            Value::Null => "latest".into(),
            Value::Object(members) => match members.get("blockHash").and_then(Value::as_str) {
                Some(hash) => {
                    let required =
                        members.get("requireCanonical").is_some_and(|value| value == "true" || value == true);
                    format!("{}:{hash}", if required { "canonical" } else { "hash" })
                }
                None => members.get("blockNumber").and_then(Value::as_str).unwrap_or_default().into(),
            },
            Value::String(text) if takes_decimal => {
                text.parse::<u64>().map_or_else(|_| text.clone(), |number| format!("{number:#x}"))
            }
            other => other.as_str().unwrap_or_default().into(),
        }
    }

    fn eth(&self) -> Attempt {
        let (node, never) = (self.node, Deadline::none());
        let (first, second) = (self.text(0), self.text(1));
        let block_hash = || parameters::block_hash(&first);
        let transaction_hash = || parameters::transaction_hash(&first);
        let address = || parameters::address(&first);
        let index = || parameters::index(&second);
        let (block0, block1, block2) = (self.block(0), self.block(1), self.block(2));
        let answer = match self.method {
            "eth_accounts" => eth::accounts::answer(node),
            "eth_blockNumber" => eth::block_number::answer(node),
            "eth_chainId" => eth::chain_id::answer(node),
            "eth_coinbase" => eth::coinbase::answer(node),
            "eth_gasPrice" => eth::gas_price::answer(node),
            "eth_hashrate" => eth::hashrate::answer(node),
            "eth_getWork" => eth::get_work::answer(node),
            "eth_submitWork" => eth::submit_work::answer(),
            "eth_submitHashrate" => eth::submit_hashrate::answer(),
            "eth_mining" => eth::mining::answer(node),
            "eth_pendingTransactions" => eth::pending_transactions::answer(node),
            "eth_protocolVersion" => eth::protocol_version::answer(),
            "eth_syncing" => eth::syncing::answer(),
            "eth_getBalance" => eth::get_balance::answer(node, &address()?, &Selector::parse(&block1)?),
            "eth_getCode" => eth::get_code::answer(node, &address()?, &Selector::parse(&block1)?),
            "eth_getTransactionCount" => {
                eth::get_transaction_count::answer(node, &address()?, &Selector::parse(&block1)?)
            }
            "eth_getStorageAt" => {
                let position = parameters::number(&second)?;
                eth::get_storage_at::answer(node, &address()?, &position, &Selector::parse(&block2)?)
            }
            "eth_getBlockByHash" => eth::get_block_by_hash::answer(node, &block_hash()?, self.flag(1)),
            "eth_getBlockByNumber" => eth::get_block_by_number::answer(node, &Selector::parse(&block0)?, self.flag(1)),
            "eth_getBlocksByNumber" => eth::get_blocks_by_number::answer(node, &first),
            "eth_getBlockTransactionCountByHash" => {
                eth::get_block_transaction_count_by_hash::answer(node, &block_hash()?)
            }
            "eth_getBlockTransactionCountByNumber" => {
                eth::get_block_transaction_count_by_number::answer(node, &Selector::parse(&block0)?)
            }
            "eth_getUncleCountByBlockHash" => eth::get_uncle_count_by_block_hash::answer(node, &block_hash()?),
            "eth_getUncleCountByBlockNumber" => {
                eth::get_uncle_count_by_block_number::answer(node, &Selector::parse(&block0)?)
            }
            "eth_getUncleByBlockHashAndIndex" => {
                eth::get_uncle_by_block_hash_and_index::answer(node, &block_hash()?, index()?)
            }
            "eth_getUncleByBlockNumberAndIndex" => {
                eth::get_uncle_by_block_number_and_index::answer(node, &Selector::parse(&block0)?, index()?)
            }
            "eth_getTransactionByHash" => eth::get_transaction_by_hash::answer(node, &transaction_hash()?),
            "eth_getTransactionByBlockHashAndIndex" => {
                eth::get_transaction_by_block_hash_and_index::answer(node, &block_hash()?, index()?)
            }
            "eth_getTransactionByBlockNumberAndIndex" => {
                eth::get_transaction_by_block_number_and_index::answer(node, &Selector::parse(&block0)?, index()?)
            }
            "eth_getTransactionReceipt" => eth::get_transaction_receipt::answer(node, &transaction_hash()?),
            "eth_getLogs" => eth::get_logs::answer(node, &LogQuery::parse(&self.value(0).to_string())?, &never, &never),
            "eth_call" => {
                let call = CallObject::parse(&self.value(0).to_string())?;
                let overrides = Overrides::parse(&self.object(2), "")?;
                eth::call::answer(node, &call, &Selector::parse(&block1)?, &overrides, &never)
            }
            "eth_estimateGas" => {
                let call = CallObject::parse(&self.value(0).to_string())?;
                let overrides = Overrides::parse(&self.object(2), "")?;
                eth::estimate_gas::answer(node, &call, &Selector::parse(&block1)?, &overrides, &never)
            }
            "eth_sendRawTransaction" => eth::send_raw_transaction::answer(node, &parameters::bytes(&first)?),
            "eth_sendTransaction" => {
                eth::send_transaction::answer(node, &CallObject::parse(&self.value(0).to_string())?)
            }
            "eth_sign" => eth::sign::answer(node, &address()?, &parameters::bytes(&second)?),
            "eth_getProof" => {
                let keys: Vec<String> = serde_json::from_value(self.value(1).clone()).unwrap();
                let positions = parameters::numbers(&keys)?;
                eth::get_proof::answer(node, &address()?, &positions, &Selector::parse(&block2)?, &never)
            }
            "eth_getBlockReceipts" => eth::get_block_receipts::answer(node, &Selector::parse(&block0)?),
            "eth_getHeaderByHash" => eth::get_header_by_hash::answer(node, &block_hash()?),
            "eth_getHeaderByNumber" => eth::get_header_by_number::answer(node, &Selector::parse(&block0)?),
            "eth_getRawTransactionByHash" => eth::get_raw_transaction_by_hash::answer(node, &transaction_hash()?),
            "eth_feeHistory" => {
                let percentiles: Vec<f64> = serde_json::from_value(self.value(2).clone()).unwrap();
                let count = parameters::number(&first)?;
                eth::fee_history::answer(node, &count, &Selector::parse(&block1)?, &percentiles)
            }
            _ => return Err(Missing::Method),
        };
        Ok(answer?)
    }

    fn raw(&self) -> Attempt {
        let (node, first) = (self.node, self.text(0));
        let (block0, block2) = (self.block(0), self.block(2));
        let block_hash = || parameters::block_hash(&first);
        let answer = match self.method {
            "rsk_flush" => rsk::flush::answer(node),
            "rsk_getRawBlockHeaderByHash" => rsk::get_raw_block_header_by_hash::answer(node, &block_hash()?),
            "rsk_getRawBlockHeaderByNumber" => {
                rsk::get_raw_block_header_by_number::answer(node, &Selector::parse(&block0)?)
            }
            "rsk_getRawTransactionReceiptByHash" => {
                rsk::get_raw_transaction_receipt_by_hash::answer(node, &parameters::transaction_hash(&first)?)
            }
            "rsk_getTransactionReceiptNodesByHash" => {
                let transaction = parameters::transaction_hash(&self.text(1))?;
                rsk::get_transaction_receipt_nodes_by_hash::answer(node, &block_hash()?, &transaction)
            }
            "rsk_getStorageBytesAt" => {
                let (address, position) = (parameters::address(&first)?, parameters::number(&self.text(1))?);
                rsk::get_storage_bytes_at::answer(node, &address, &position, &Selector::parse(&block2)?)
            }
            "debug_getRawHeader" => debug::get_raw_header::answer(node, &Selector::parse(&block0)?),
            "debug_getRawBlock" => debug::get_raw_block::answer(node, &Selector::parse(&block0)?),
            "debug_getRawReceipts" => debug::get_raw_receipts::answer(node, &Selector::parse(&block0)?),
            _ => return Err(Missing::Method),
        };
        Ok(answer?)
    }

    fn evm(&self) -> Attempt {
        let number = |text: String| parameters::number(&text).map(|number| number.saturating_to::<u64>());
        let answer = match self.method {
            "evm_snapshot" => evm::snapshot::answer(self.node),
            "evm_revert" => evm::revert::answer(self.node, number(self.text(0))?),
            "evm_reset" => evm::reset::answer(self.node),
            "evm_mine" => evm::mine::answer(self.node, 1, None, &Deadline::none()),
            "evm_increaseTime" => evm::increase_time::answer(self.node, number(self.text(0))?),
            "evm_startMining" => evm::start_mining::answer(self.node),
            "evm_stopMining" => evm::stop_mining::answer(self.node),
            _ => return Err(Missing::Method),
        };
        Ok(answer?)
    }

    fn others(&self) -> Attempt {
        let answer = match self.method {
            "mnr_getWork" => mnr::get_work::answer(self.node),
            "mnr_submitBitcoinBlock" => mnr::submit_bitcoin_block::answer(self.node, &self.text(0)),
            "mnr_submitBitcoinBlockTransactions" => {
                let (header, coinbase, ids) = (self.text(1), self.text(2), self.text(3));
                mnr::submit_bitcoin_block_transactions::answer(self.node, &header, &coinbase, &ids)
            }
            "mnr_submitBitcoinBlockPartialMerkle" => {
                let (header, coinbase, branch, count) = (self.text(1), self.text(2), self.text(3), self.text(4));
                mnr::submit_bitcoin_block_partial_merkle::answer(self.node, &header, &coinbase, &branch, &count)
            }
            "net_version" => net::version::answer(self.node),
            "net_listening" => net::listening::answer(),
            "net_peerCount" => net::peer_count::answer(),
            "net_peerList" => net::peer_list::answer(),
            "web3_clientVersion" => web3::client_version::answer(self.node),
            "web3_sha3" => web3::sha3::answer(&self.text(0)),
            _ => return Err(Missing::Method),
        };
        Ok(answer?)
    }
}
