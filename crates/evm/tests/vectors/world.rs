//! The inputs of a case: accounts, block, ancestors.

use std::collections::HashMap;
use std::sync::Arc;

use rhizome_evm::{AncestorBlock, Ancestry, AncestryError, BlockEnv, State};
use rhizome_primitives::{B256, Bytes, ChainSpec, Header, I256, U256};
use rhizome_trie::keys::{MARK, account_key, code_key_of, mark_key_of, storage_key_of};
use rhizome_trie::{AccountState, MemoryNodes, StateDelta, Trie};
use serde_json::Value;

use super::fields::{address_at, bytes_at, hash_at, hex_bytes, number, number_at, optional_address_at, small_at};
use super::{Mismatch, Verdict, equal};

/// Returns the trie of the accounts in `pre`, checked against `preRoot`.
pub(super) fn trie_of(case: &Value) -> Result<Trie, Mismatch> {
    let mut delta = StateDelta::default();
    for (address, account) in case["pre"].as_object().into_iter().flatten() {
        let key = account_key(&hex_bytes(address)?);
        if account["account"] != false {
            let balance = I256::from_raw(number_at(account, "balance")?);
            let state = AccountState { nonce: number_at(account, "nonce")?, balance, flags: 0 };
            delta.writes.insert(key.clone(), Some(state.encode()));
        }
        if account["contract"] == true {
            delta.writes.insert(mark_key_of(&key), Some(Bytes::from_static(MARK)));
        }
        let code = bytes_at(account, "code")?;
        if !code.is_empty() {
            delta.writes.insert(code_key_of(&key), Some(code));
        }
        for (slot, value) in account["storage"].as_object().into_iter().flatten() {
            let slot = B256::from(number(slot)?);
            let value = hex_bytes(value.as_str().unwrap_or_default())?;
            delta.writes.insert(storage_key_of(&key, &slot), Some(value));
        }
    }
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    trie.apply(&delta).map_err(|error| Mismatch::broken("pre", error))?;
    equal("preRoot", hash_at(case, "preRoot")?, trie.root_hash())?;
    Ok(trie)
}

/// Checks the state after an execution: first the listed accounts, then the root.
pub(super) fn check_state(mut trie: Trie, state: State, expect: &Value) -> Verdict {
    trie.apply(&state.into_delta()).map_err(|error| Mismatch::broken("post", error))?;
    let get = |key: &[u8]| trie.get(key).map_err(|error| Mismatch::broken("post", error));
    for (address, account) in expect["post"].as_object().into_iter().flatten() {
        let key = account_key(&hex_bytes(address)?);
        let exists = account["account"] != false;
        let found = get(&key)?.map(|value| AccountState::decode(&value));
        let found = found.transpose().map_err(|error| Mismatch::broken(address, error))?;
        equal(&format!("{address} exists"), exists, found.is_some())?;
        let found = found.unwrap_or_default();
        let what = |part: &str| format!("{part} of {address}");
        equal(&what("balance"), signed(account["balance"].as_str().unwrap_or("0x0"))?, found.balance)?;
        equal(&what("nonce"), number_at(account, "nonce")?, found.nonce)?;
        equal(&what("contract mark"), account["contract"] == true, get(&mark_key_of(&key))?.is_some())?;
        let code = get(&code_key_of(&key))?.map_or(0, |code| code.len());
        equal(&what("code size"), account["codeSize"].as_u64().unwrap_or(0), code as u64)?;
        for (slot, value) in account["storage"].as_object().into_iter().flatten() {
            let stored = get(&storage_key_of(&key, &B256::from(number(slot)?)))?;
            let expected = hex_bytes(value.as_str().unwrap_or_default())?;
            equal(&what(&format!("slot {slot}")), Some(expected), stored)?;
        }
    }
    equal("state root", hash_at(expect, "stateRoot")?, trie.root_hash())
}

fn signed(text: &str) -> Result<I256, Mismatch> {
    match text.strip_prefix('-') {
        Some(digits) => Ok(-I256::from_raw(number(digits)?)),
        None => Ok(I256::from_raw(number(text)?)),
    }
}

pub(super) fn env_of(case: &Value) -> Result<BlockEnv, Mismatch> {
    let env = &case["env"];
    Ok(BlockEnv {
        number: small_at(env, "number")?,
        timestamp: small_at(env, "timestamp")?,
        coinbase: address_at(env, "coinbase")?,
        difficulty: number_at(env, "difficulty")?,
        gas_limit: small_at(env, "gasLimit")?,
        minimum_gas_price: number_at(env, "minimumGasPrice")?,
        parent_hash: hash_at(env, "parentHash")?,
    })
}

/// A list of ancestors.
pub(super) struct FixedAncestry(HashMap<u64, Arc<AncestorBlock>>);

impl FixedAncestry {
    /// Returns an empty list.
    pub(super) fn none() -> FixedAncestry {
        FixedAncestry(HashMap::new())
    }

    /// Returns the ancestors of a case. If only the hash of the parent is given, the parent has just that hash.
    pub(super) fn new(file: &Value, case: &Value, spec: &ChainSpec) -> Result<FixedAncestry, Mismatch> {
        let mut blocks = HashMap::new();
        if let (Some(parent), Ok(hash)) =
            (small_at(&case["env"], "number")?.checked_sub(1), hash_at(&case["env"], "parentHash"))
        {
            let header = Arc::new(Header::new(parent, spec));
            let total_difficulty = U256::ZERO;
            blocks.insert(parent, Arc::new(AncestorBlock { hash, header, uncles: Vec::new(), total_difficulty }));
        }
        let listed = case["chain"].as_str().and_then(|name| file["chains"][name].as_array());
        let listed = listed.map(Vec::as_slice).unwrap_or_default();
        for value in listed {
            let uncles = value["uncles"].as_array().into_iter().flatten();
            let block = AncestorBlock {
                hash: hash_at(value, "hash")?,
                header: Arc::new(header_of(value, spec)?),
                uncles: uncles.map(|uncle| uncle_of(uncle, listed, spec)).collect::<Result<_, _>>()?,
                total_difficulty: number_at(value, "totalDifficulty")?,
            };
            blocks.insert(block.header.number, Arc::new(block));
        }
        Ok(FixedAncestry(blocks))
    }
}

impl Ancestry for FixedAncestry {
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        Ok(self.0.get(&number).cloned())
    }
}

fn header_of(value: &Value, spec: &ChainSpec) -> Result<Header, Mismatch> {
    let optional = |name: &str| value[name].as_str().map(hex_bytes).transpose();
    let mut header = Header::new(small_at(value, "number")?, spec);
    header.coinbase = optional_address_at(value, "coinbase")?;
    header.difficulty = Some(number_at(value, "difficulty")?);
    header.gas_limit = optional("gasLimit")?.unwrap_or_default();
    header.gas_used = small_at(value, "gasUsed")?;
    header.timestamp = small_at(value, "timestamp")?;
    header.paid_fees = number_at(value, "paidFees")?;
    header.minimum_gas_price = Some(I256::from_raw(number_at(value, "minimumGasPrice")?));
    header.uncle_count = small_at(value, "uncleCount")? as u32;
    header.bitcoin_header = optional("bitcoinMergedMiningHeader")?;
    header.bitcoin_coinbase = optional("bitcoinMergedMiningCoinbaseTransaction")?;
    Ok(header)
}

/// Returns the header of an uncle. It cannot have the given hash, only the same order relative to the hash of the block at
/// its height, which is relevant for REMASC.
fn uncle_of(value: &Value, blocks: &[Value], spec: &ChainSpec) -> Result<Header, Mismatch> {
    let mut uncle = header_of(value, spec)?;
    if let Some(rival) = blocks.iter().find(|block| block["number"] == value["number"]) {
        let rival = hash_at(rival, "hash")?;
        let is_smaller = hash_at(value, "hash")? < rival;
        while (uncle.hash() < rival) != is_smaller {
            uncle.timestamp += 1;
            uncle.forget_hash();
        }
    }
    Ok(uncle)
}
