//! A JSON-RPC node of this process with a chain of three blocks, whose answers a test can change.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rhizome_fork::{CacheFolder, ForkError, ForkOptions, ForkTarget, RemoteAddress, RemoteChain};
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, Header, U256, hex};
use serde_json::{Value, json};

/// Number of the best block.
pub(crate) const BEST: u64 = 3;

/// Result of a call, or code and message of an error.
type Answer = Result<Value, (i64, &'static str)>;
/// Replaces the answer to a call.
type Script = Box<dyn Fn(&str, &Value) -> Option<Answer> + Send>;

/// Reaction of the node to a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    Answer,
    Status(u16),
    /// Closes the connection.
    Close,
    /// Answers a batch as a whole with an error.
    NoBatches,
    Text(&'static str),
}

pub(crate) struct NodeScript {
    script: Script,
    /// Reactions to the next requests.
    reactions: Vec<Reaction>,
    /// Methods of each request.
    requests: Vec<Vec<String>>,
}

/// The node. It serves until the process ends.
pub(crate) struct ScriptedNode {
    pub(crate) url: String,
    pub(crate) shared: Arc<Mutex<NodeScript>>,
}

impl ScriptedNode {
    pub(crate) fn start() -> Self {
        Self::scripted(|_, _| None)
    }

    /// `script` may answer a call instead of the node.
    pub(crate) fn scripted(script: impl Fn(&str, &Value) -> Option<Answer> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/key", listener.local_addr().unwrap());
        let script = NodeScript { script: Box::new(script), reactions: Vec::new(), requests: Vec::new() };
        let shared = Arc::new(Mutex::new(script));
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                thread::spawn(move || while serve(&stream, &state).is_some() {});
            }
        });
        Self { url, shared }
    }

    pub(crate) fn react(&self, reactions: &[Reaction]) {
        self.shared.lock().unwrap().reactions = reactions.to_vec();
    }

    /// Returns the methods of each request since the last call.
    pub(crate) fn requests(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.shared.lock().unwrap().requests)
    }

    pub(crate) fn open(&self, target: ForkTarget, cache: Option<&CacheFolder>) -> Result<RemoteChain, ForkError> {
        self.open_funded(target, cache, BTreeMap::new())
    }

    /// `funded`: balances of accounts in the fork.
    pub(crate) fn open_funded(
        &self,
        target: ForkTarget,
        cache: Option<&CacheFolder>,
        funded: BTreeMap<Address, U256>,
    ) -> Result<RemoteChain, ForkError> {
        let remote = RemoteAddress::parse(&self.url, Some("X-Key=secret")).unwrap();
        RemoteChain::open(ForkOptions { remote, target, cache: cache.cloned(), spec: None, funded })
    }
}

/// Serves one request. `None` at the end of the connection.
fn serve(stream: &TcpStream, shared: &Mutex<NodeScript>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut has_key) = (0, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        has_key |= line == "x-key: secret";
        if line.is_empty() {
            break;
        }
    }
    assert!(has_key);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let mut shared = shared.lock().unwrap();
    let calls: Vec<Value> = body.as_array().cloned().unwrap_or_else(|| vec![body.clone()]);
    shared.requests.push(calls.iter().map(|call| call["method"].as_str().unwrap().to_owned()).collect());
    let reaction = if shared.reactions.is_empty() { Reaction::Answer } else { shared.reactions.remove(0) };
    let mut answers: Vec<Value> = calls.iter().map(|call| answer(&shared.script, call)).collect();
    drop(shared);
    let text = match (reaction, body.is_array()) {
        (Reaction::Close, _) => return None,
        (Reaction::Status(_), _) => "sorry".into(),
        (Reaction::Text(text), _) => text.into(),
        (Reaction::NoBatches, true) => {
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "no batches" } }).to_string()
        }
        // In another order.
        (_, true) => {
            answers.reverse();
            serde_json::to_string_pretty(&answers).unwrap()
        }
        (_, false) => answers[0].to_string(),
    };
    let status = if let Reaction::Status(status) = reaction { status } else { 200 };
    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nRetry-After: 0\r\n\r\n", text.len());
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(text.as_bytes()).ok()
}

fn answer(script: &Script, call: &Value) -> Value {
    let (method, params) = (call["method"].as_str().unwrap(), &call["params"]);
    match script(method, params).unwrap_or_else(|| own_answer(method, params)) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": call["id"], "result": result }),
        Err((code, message)) => {
            json!({ "jsonrpc": "2.0", "id": call["id"], "error": { "code": code, "message": message } })
        }
    }
}

fn own_answer(method: &str, params: &Value) -> Answer {
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    Ok(match method {
        "eth_chainId" => json!("0x21"),
        "eth_getBlockByNumber" => match params[0].as_str().unwrap() {
            "latest" => block_object(BEST),
            text => number(text).filter(|number| *number <= BEST).map_or(Value::Null, block_object),
        },
        "eth_getBlockByHash" => {
            let found = (0..=BEST).find(|number| json!(header(*number).hash().to_string()) == params[0]);
            found.map_or(Value::Null, block_object)
        }
        "eth_getBalance" => json!("0x64"),
        "eth_getTransactionCount" => json!("0x2"),
        "eth_getCode" => json!("0x6001"),
        "eth_getStorageAt" => json!(format!("{:#066x}", U256::from(7))),
        _ => return Err((-32601, "method not found")),
    })
}

/// Returns the header of a block of the node.
pub(crate) fn header(number: u64) -> Header {
    let spec = ChainSpec::regtest();
    let mut header = Header::new(number, &spec);
    if number > 0 {
        header.parent_hash = self::header(number - 1).hash().into();
        // The form of a miner, with a leading zero.
        header.gas_limit = Bytes::from_static(&[0x00, 0x98, 0x70, 0x5b]);
        header.difficulty = Some(U256::from(1));
        header.timestamp = 1_700_000_000 + number;
        header.extra_data = Bytes::from_static(b"scripted");
        header.bitcoin_header = Some(vec![7; 80].into());
    }
    header
}

/// Returns a block as the interface shows it.
pub(crate) fn block_object(number: u64) -> Value {
    let header = header(number);
    let data = |bytes: &[u8]| json!(hex::encode_prefixed(bytes));
    json!({
        "number": format!("{number:#x}"),
        "hash": header.hash().to_string(),
        "parentHash": data(&header.parent_hash),
        "sha3Uncles": data(&header.uncles_hash),
        "logsBloom": data(&header.logs_bloom),
        "transactionsRoot": data(&header.transactions_root),
        "stateRoot": data(&header.state_root),
        "receiptsRoot": data(&header.receipts_root),
        "miner": format!("{:#x}", header.coinbase_address()),
        "difficulty": format!("{:#x}", header.difficulty_value()),
        "totalDifficulty": format!("{:#x}", number + 1),
        "extraData": data(&header.extra_data),
        "gasLimit": format!("{:#x}", header.gas_limit_value()),
        "gasUsed": "0x0",
        "timestamp": format!("{:#x}", header.timestamp),
        "uncles": [],
        "minimumGasPrice": "0x0",
        "bitcoinMergedMiningHeader": data(header.bitcoin_header.as_ref().map_or(&[][..], |bytes| bytes)),
        "bitcoinMergedMiningCoinbaseTransaction": "0x",
        "bitcoinMergedMiningMerkleProof": "0x",
        "paidFees": "0x0",
        "rskPteEdges": header.edges,
        "baseEvent": header.base_event.as_ref().map(|bytes| data(bytes)),
    })
}

/// Returns the hash of a block of the node.
pub(crate) fn hash(number: u64) -> B256 {
    header(number).hash()
}
