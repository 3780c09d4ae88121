//! Answers of the Bridge of the remote chain at the block that the fork begins at, for remote nodes that do not serve its storage.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_evm::{AncestryError, BridgeAnswers};
use rhizome_primitives::{B256, BRIDGE, Bytes, U256, hex};
use serde_json::{Value, json};

use crate::call::RemoteCall;
use crate::error::ForkError;
use crate::header::bytes;
use crate::remote::Remote;
use crate::state::block_parameter;

/// `getFederationSize()`
const FEDERATION_SIZE: [u8; 4] = [0x80, 0x2a, 0xd4, 0xb6];
/// `getFederatorPublicKeyOfType(int256,string)`
const FEDERATOR_KEY: [u8; 4] = [0x54, 0x9c, 0xfd, 0x1c];
/// Members of a federation at most: its scripts have room for fewer.
const MAX_MEMBERS: usize = 64;
const WORD: usize = 32;

/// Answers of the Bridge by calls of the remote node.
pub(crate) struct RemoteBridge {
    remote: Arc<Remote>,
    by_hash: bool,
    number: u64,
    hash: B256,
    /// Keys of the federation by height and kind.
    keys: Mutex<HashMap<(u64, bool), Vec<Bytes>>>,
}

impl RemoteBridge {
    pub(crate) fn new(remote: Arc<Remote>, by_hash: bool, number: u64, hash: B256) -> Self {
        Self { remote, by_hash, number, hash, keys: Mutex::default() }
    }

    fn call(input: &[u8], block: &Value) -> RemoteCall {
        let object = json!({ "to": format!("{BRIDGE:#x}"), "data": hex::encode_prefixed(input) });
        RemoteCall::new("eth_call", &json!([object, block]))
    }

    fn outputs(&self, calls: &[RemoteCall]) -> Result<Vec<Bytes>, ForkError> {
        let texts = self.remote.results(calls)?;
        calls.iter().zip(texts).map(|(call, text)| bytes(call, &call.parse::<String>(&text)?)).collect()
    }

    fn own_block(&self) -> Value {
        block_parameter(self.by_hash, self.number, &self.hash)
    }

    /// Returns a storage slot as the interface shows it, as JSON: longer slots than a word are zero.
    pub(crate) fn shown_slot(&self, slot: &U256) -> Result<String, ForkError> {
        let call = RemoteCall::slot("eth_getStorageAt", &BRIDGE, &B256::from(*slot), &self.own_block());
        let mut results = self.remote.results(std::slice::from_ref(&call))?;
        results.pop().ok_or_else(|| call.malformed("no result"))
    }

    fn load_keys(&self, height: u64, bitcoin: bool) -> Result<Vec<Bytes>, ForkError> {
        // The Bridge names the federation that is active at the block of a call.
        let block = if height < self.number { json!(format!("{height:#x}")) } else { self.own_block() };
        let size = Self::call(&FEDERATION_SIZE, &block);
        let found = self.outputs(std::slice::from_ref(&size))?;
        let members = found.first().and_then(|word| U256::try_from_be_slice(word));
        let members = members.and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= MAX_MEMBERS);
        let members = members.ok_or_else(|| size.malformed("the size of a federation"))?;
        let kind = if bitcoin { "btc" } else { "rsk" };
        let calls: Vec<RemoteCall> = (0..members).map(|index| Self::call(&key_input(index, kind), &block)).collect();
        let outputs = self.outputs(&calls)?;
        let keys = calls.iter().zip(outputs).map(|(call, output)| {
            // Offset, length 33, key.
            let key = output.get(2 * WORD..2 * WORD + 33);
            key.map(Bytes::copy_from_slice).ok_or_else(|| call.malformed("a public key"))
        });
        keys.collect()
    }
}

/// Returns the input of `getFederatorPublicKeyOfType`.
fn key_input(index: usize, kind: &str) -> Vec<u8> {
    let word = |value: usize| U256::from(value).to_be_bytes::<WORD>();
    let mut text = kind.as_bytes().to_vec();
    text.resize(WORD, 0);
    [&FEDERATOR_KEY[..], &word(index), &word(2 * WORD), &word(kind.len()), &text].concat()
}

impl BridgeAnswers for RemoteBridge {
    fn read(&self, input: &[u8]) -> Result<Bytes, AncestryError> {
        let call = Self::call(input, &self.own_block());
        let outputs = self.outputs(std::slice::from_ref(&call)).map_err(|error| failure(self.number, error))?;
        Ok(outputs.into_iter().next().unwrap_or_default())
    }

    fn federation_keys(&self, height: u64, bitcoin: bool) -> Result<Vec<Bytes>, AncestryError> {
        let height = height.min(self.number);
        if let Some(keys) = self.keys.lock().get(&(height, bitcoin)) {
            return Ok(keys.clone());
        }
        let keys = self.load_keys(height, bitcoin).map_err(|error| failure(height, error))?;
        self.keys.lock().insert((height, bitcoin), keys.clone());
        Ok(keys)
    }
}

fn failure(number: u64, error: ForkError) -> AncestryError {
    AncestryError { number, reason: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_for_a_key_is_that_of_the_interface() {
        let expected = concat!(
            "549cfd1c",
            "0000000000000000000000000000000000000000000000000000000000000003",
            "0000000000000000000000000000000000000000000000000000000000000040",
            "0000000000000000000000000000000000000000000000000000000000000003",
            "72736b0000000000000000000000000000000000000000000000000000000000",
        );
        assert_eq!(hex::encode(key_input(3, "rsk")), expected);
    }
}
