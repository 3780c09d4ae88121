//! Up to which block a chain must reach for the answer of a step to be the recorded one.

use rhizome_primitives::{Block, ChainSpec, Transaction, hex};
use serde_json::Value;
use std::collections::HashMap;

/// Heights of the blocks and transactions in the files, by hash.
pub(crate) struct Heights(HashMap<String, u64>);

impl Heights {
    /// From lines `number,hash,total difficulty,block`.
    pub(crate) fn of(files: &[Vec<u8>]) -> Self {
        let text = files.iter().flat_map(|file| std::str::from_utf8(file).unwrap().lines());
        let spec = ChainSpec::regtest();
        let entries = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            let (number, raw) = (fields[0].parse().unwrap(), hex::decode(fields[3]).unwrap());
            let block = Block::decode(&raw, &spec).unwrap();
            let hashes = block.transactions.iter().map(Transaction::hash).chain([block.hash()]);
            hashes.map(|hash| (hash.to_string(), number)).collect::<Vec<_>>()
        };
        Self(text.flat_map(entries).collect())
    }

    fn top(&self) -> u64 {
        self.0.values().copied().max().unwrap_or_default()
    }

    /// The highest block that the question names or the recorded answer speaks of.
    pub(crate) fn reach(&self, step: &Value) -> u64 {
        let parameters = step["request"]["params"].as_array().cloned().unwrap_or_default();
        let method = step["request"]["method"].as_str().unwrap_or_default();
        let asked = match method {
            "eth_getLogs" => self.of_filter(&parameters[0]),
            "eth_getTransactionByHash" | "eth_getTransactionReceipt" => 0,
            "eth_getBalance" | "eth_getCode" | "eth_getTransactionCount" | "eth_call" | "eth_estimateGas" => {
                self.of_block(parameters.get(1))
            }
            "eth_getStorageAt" | "rsk_getStorageBytesAt" => self.of_block(parameters.get(2)),
            _ => self.of_block(parameters.first()),
        };
        // The draft of the next block stands above the highest one.
        asked.max(self.of_answer(&step["response"]["result"])).min(self.top())
    }

    fn of_filter(&self, filter: &Value) -> u64 {
        match filter.get("blockHash") {
            Some(hash) => self.of_block(Some(hash)),
            None => self.of_block(filter.get("fromBlock")).max(self.of_block(filter.get("toBlock"))),
        }
    }

    /// Blocks that no file holds are as unknown on a shorter chain.
    fn of_block(&self, named: Option<&Value>) -> u64 {
        let Some(text) = named.and_then(|value| {
            let inner = value.get("blockHash").or_else(|| value.get("blockNumber")).unwrap_or(value);
            inner.as_str()
        }) else {
            return self.top();
        };
        if let Some(height) = self.0.get(&text.to_lowercase()).or_else(|| self.0.get(&format!("0x{text}"))) {
            return *height;
        }
        match text {
            "earliest" => 0,
            "latest" | "pending" => self.top(),
            _ => {
                let digits = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
                let number = digits.unwrap_or_else(|| text.parse()).unwrap_or_default();
                if number <= self.top() { number } else { 0 }
            }
        }
    }

    fn of_answer(&self, value: &Value) -> u64 {
        let number = |value: &Value| {
            value.as_str().and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()).unwrap_or_default()
        };
        match value {
            Value::Object(members) => number(&value["number"])
                .max(number(&value["blockNumber"]))
                .max(members.values().map(|member| self.of_answer(member)).max().unwrap_or_default()),
            Value::Array(elements) => elements.iter().map(|element| self.of_answer(element)).max().unwrap_or_default(),
            _ => 0,
        }
    }
}
