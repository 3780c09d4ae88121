//! `blocks_real.json` and `genesis.json`: whole blocks with their transactions, receipts and roots.

use std::sync::Arc;

use rhizome_primitives::{Block, Bloom, Receipt, Rule, Transaction, hex, uncles_hash};
use rhizome_trie::{MemoryNodes, genesis, list_root};
use serde_json::Value;

use super::cases::{each_case, spec};
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check_genesis(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, check_first_block)
}

fn check_first_block(case: &Value) -> CaseResult {
    let spec = spec(case)?;
    let (block, state) = genesis(&spec, Arc::new(MemoryNodes::default())).map_err(|error| broken("genesis", error))?;
    let header = &block.header;
    let same = |field: &str, got: String| equal(field, case.member(field)?.text()?, got.as_str());
    same("translatedStateRoot", hex::encode(state.root_hash()))?;
    same("stateRoot", hex::encode(&header.state_root))?;
    same("header", hex::encode(header.encode()))?;
    same("hashPreimage", hex::encode(header.encode_for_hash()))?;
    same("hash", hex::encode(header.hash()))?;
    same("difficulty", header.difficulty_value().to_string())?;
    same("minimumGasPrice", header.min_gas_price().to_string())?;
    same("block", hex::encode(block.encode()))?;
    equal("timestamp", case.member("timestamp")?.number()?, header.timestamp)?;
    equal("hasMiningFields", case.member("hasMiningFields")?.boolean()?, header.has_mining_elements())?;
    let again = Block::decode(&block.encode(), &spec).map_err(|error| broken("decode", error))?;
    equal("block read back", (block.hash(), block.encode()), (again.hash(), again.encode()))?;
    let alloc = case.member("alloc")?.as_object().map_or(0, serde_json::Map::len);
    equal("accounts", alloc, spec.genesis.alloc.len())?;
    for account in &spec.genesis.alloc {
        let address = hex::encode(account.address);
        let expected = case.member("alloc")?.member(&address)?.parsed()?;
        equal(format!("balance of {address}"), expected, account.balance)?;
    }
    Ok(())
}

pub(crate) fn check_real(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, check_block)
}

fn check_block(case: &Value) -> CaseResult {
    let spec = spec(case)?;
    let is_orchid = !spec.is_active(Rule::Rskip126, case.member("number")?.number()?);
    let transactions = check_transactions(case)?;
    let encodings: Vec<_> = transactions.iter().map(Transaction::encode).collect();
    check_root(case, "txRoot", &encodings, is_orchid)?;
    if let Some(receipts) = case.optional("receipts") {
        check_receipts(case, receipts.items()?, is_orchid)?;
    }
    let Some(raw) = case.optional("block") else { return Ok(()) };
    let block = Block::decode(&raw.bytes()?, &spec).map_err(|error| broken("block", error))?;
    equal("block", raw.text()?, hex::encode(block.encode()).as_str())?;
    equal("hash", case.member("hash")?.parsed()?, block.hash())?;
    equal("transactions of the block", true, block.transactions == transactions)?;
    equal("uncles hash", hex::encode(uncles_hash(&block.uncles)), hex::encode(&block.header.uncles_hash))
}

fn check_receipts(case: &Value, encodings: &[Value], is_orchid: bool) -> CaseResult {
    let mut bloom = Bloom::ZERO;
    let mut receipts = Vec::new();
    for raw in encodings {
        let raw = raw.bytes()?;
        let receipt = Receipt::decode(&raw).map_err(|error| broken("receipt", error))?;
        equal("receipt", hex::encode(&raw), hex::encode(receipt.encode()))?;
        equal("bloom of a receipt", true, Bloom::of_logs(&receipt.logs) == receipt.bloom)?;
        bloom.accrue(&receipt.bloom);
        receipts.push(raw);
    }
    check_root(case, "receiptsRoot", &receipts, is_orchid)?;
    equal("bloom", case.member("bloom")?.text()?, hex::encode(bloom.as_bytes()).as_str())
}

fn check_root(case: &Value, field: &str, items: &[Vec<u8>], is_orchid: bool) -> CaseResult {
    let root = list_root(items.iter().map(Vec::as_slice), is_orchid).map_err(|error| broken(field, error))?;
    equal(field, case.member(field)?.parsed()?, root)
}

fn check_transactions(case: &Value) -> Result<Vec<Transaction>, CaseFailure> {
    let texts =
        |field: &str| case.member(field)?.items()?.iter().map(VectorFields::text).collect::<Result<Vec<_>, _>>();
    let mut transactions = Vec::new();
    for ((raw, hash), sender) in texts("transactions")?.into_iter().zip(texts("txHashes")?).zip(texts("senders")?) {
        let bytes = hex::decode(raw).map_err(|error| broken("transaction", error))?;
        let transaction = Transaction::decode(&bytes).map_err(|error| broken("transaction", error))?;
        equal("transaction", raw, hex::encode(transaction.encode()).as_str())?;
        equal("txHashes", hash, hex::encode(transaction.hash()).as_str())?;
        let found = transaction.recover_sender().map(hex::encode).unwrap_or_default();
        equal("senders", sender, found.as_str())?;
        transactions.push(transaction);
    }
    Ok(transactions)
}
