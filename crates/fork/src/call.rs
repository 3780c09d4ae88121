use rhizome_primitives::{Address, B256, U256};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ForkError;

/// A JSON-RPC call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RemoteCall {
    pub(crate) method: String,
    /// The parameters, a JSON array without blanks.
    pub(crate) params: String,
}

/// Error that a node answers a call with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

/// Result of a call as JSON without blanks, or the error of the node.
pub(crate) type Outcome = Result<String, Refusal>;

impl RemoteCall {
    pub(crate) fn new(method: &str, params: &Value) -> Self {
        Self { method: method.into(), params: params.to_string() }
    }

    /// `block`: number or tag as text.
    pub(crate) fn block_by_number(block: &str) -> Self {
        Self::new("eth_getBlockByNumber", &json!([block, false]))
    }

    pub(crate) fn block_by_hash(hash: &B256) -> Self {
        Self::new("eth_getBlockByHash", &json!([hash.to_string(), false]))
    }

    /// With its transactions.
    pub(crate) fn whole_block(hash: &B256) -> Self {
        Self::new("eth_getBlockByHash", &json!([hash.to_string(), true]))
    }

    pub(crate) fn transaction(hash: &B256) -> Self {
        Self::new("eth_getTransactionByHash", &json!([hash.to_string()]))
    }

    pub(crate) fn uncle(block: &B256, index: usize) -> Self {
        Self::new("eth_getUncleByBlockHashAndIndex", &json!([block.to_string(), format!("{index:#x}")]))
    }

    /// `method` takes an address and a block.
    pub(crate) fn account(method: &str, address: &Address, block: &Value) -> Self {
        Self::new(method, &json!([format!("{address:#x}"), block]))
    }

    /// `method` takes an address, a storage slot and a block.
    pub(crate) fn slot(method: &str, address: &Address, slot: &B256, block: &Value) -> Self {
        let position = format!("{:#x}", U256::from_be_bytes(slot.0));
        Self::new(method, &json!([format!("{address:#x}"), position, block]))
    }

    /// Returns the result of the call, or the error of the node as an error.
    pub(crate) fn accept(&self, outcome: Outcome) -> Result<String, ForkError> {
        outcome.map_err(|Refusal { code, message }| ForkError::Refused {
            method: self.method.clone(),
            code,
            message: shortened(&message),
        })
    }

    /// Parses a result.
    pub(crate) fn parse<'a, T: Deserialize<'a>>(&self, result: &'a str) -> Result<T, ForkError> {
        serde_json::from_str(result).map_err(|error| self.malformed(error.to_string()))
    }

    /// Returns the error for a malformed result.
    pub(crate) fn malformed(&self, reason: impl Into<String>) -> ForkError {
        ForkError::Result { method: self.method.clone(), reason: reason.into() }
    }
}

/// Returns the first line of a text, cut to 200 characters: it comes from another machine.
pub(crate) fn shortened(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().filter(|character| !character.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_written_without_blanks() {
        let block = json!({ "blockHash": B256::repeat_byte(1).to_string() });
        let call = RemoteCall::slot("eth_getStorageAt", &Address::repeat_byte(0xab), &B256::with_last_byte(7), &block);
        let address = "ab".repeat(20);
        let hash = "01".repeat(32);
        assert_eq!(call.params, format!(r#"["0x{address}","0x7",{{"blockHash":"0x{hash}"}}]"#));
        assert_eq!(
            RemoteCall::slot("m", &Address::ZERO, &B256::ZERO, &json!("0x5")).params.matches("\"0x0\"").count(),
            1
        );
    }

    #[test]
    fn errors_of_a_node_are_shortened() {
        let call = RemoteCall::block_by_number("latest");
        let refusal = Refusal { code: -32601, message: format!("{}\u{1b}[31m\nsecond line", "x".repeat(300)) };
        let Err(ForkError::Refused { method, code, message }) = call.accept(Err(refusal)) else { panic!("accepted") };
        assert_eq!((method.as_str(), code, message.len()), ("eth_getBlockByNumber", -32601, 200));
    }
}
