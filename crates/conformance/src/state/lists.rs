//! `lists.json`: transaction roots, receipt roots, and proofs of receipts.

use rhizome_primitives::{Bloom, Bytes, Log, Receipt, hex, keccak256};
use rhizome_trie::{ProofOutcome, list_key, list_root, list_trie, verify};
use serde_json::Value;

use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for case in json.member("cases")?.items()? {
        let (kind, n) = (case.member("kind")?.text()?, case.member("n")?.number()?);
        report.case(&format!("{kind} {n}"), || check_case(case));
    }
    Ok(())
}

fn check_case(case: &Value) -> CaseResult {
    let items: Vec<Bytes> = case.member("items")?.items()?.iter().map(item).collect::<Result<_, _>>()?;
    for (field, is_orchid) in [("root", false), ("orchidRoot", true)] {
        let root = list_root(items.iter().map(AsRef::as_ref), is_orchid).map_err(|error| broken(field, error))?;
        equal(field, case.member(field)?.parsed()?, root)?;
    }
    match case.optional("receiptNodes") {
        Some(nodes) => check_proofs(&items, nodes.items()?),
        None => Ok(()),
    }
}

fn check_proofs(items: &[Bytes], expected: &[Value]) -> CaseResult {
    let trie = list_trie(items.iter().cloned()).map_err(|error| broken("trie", error))?;
    for ((index, expected), item) in (0..).zip(expected).zip(items) {
        let key = list_key(index);
        let nodes = trie.get_nodes(&key).map_err(|error| broken("getNodes", error))?;
        let mut nodes = nodes.ok_or_else(|| broken("getNodes", "nothing"))?;
        let wanted: Vec<_> =
            expected.items()?.iter().map(|node| node.bytes().map(hex::encode)).collect::<Result<_, _>>()?;
        equal(format!("receiptNodes {index}"), wanted, nodes.iter().map(hex::encode).collect())?;
        nodes.reverse();
        let proven = ProofOutcome::LongValue { hash: keccak256(item), length: item.len() };
        equal(format!("proof {index}"), Ok(proven), verify(trie.root_hash(), &key, 0, &nodes))?;
    }
    Ok(())
}

fn encode_receipt(item: &Value) -> Result<Bytes, CaseFailure> {
    let logs = item.member("logs")?.items()?.iter().map(log).collect::<Result<Vec<_>, _>>()?;
    let receipt = Receipt {
        success: item.member("ok")?.boolean()?,
        cumulative_gas: item.member("cumulativeGas")?.number()?,
        bloom: Bloom::of_logs(&logs),
        logs,
        gas_used: item.member("gasUsed")?.number()?,
    };
    Ok(receipt.encode().into())
}

fn log(log: &Value) -> Result<Log, CaseFailure> {
    let topics = log.member("topics")?.items()?.iter().map(VectorFields::parsed).collect::<Result<_, _>>()?;
    Ok(Log { address: log.member("address")?.parsed()?, topics, data: log.member("data")?.bytes()?.into() })
}

/// Returns the encoding of a list item: a transaction as hex, or a receipt by its fields.
fn item(item: &Value) -> Result<Bytes, CaseFailure> {
    if item.is_string() {
        return Ok(item.bytes()?.into());
    }
    let encoded = encode_receipt(item)?;
    if let Some(rlp) = item.optional("rlp") {
        equal("rlp", hex::encode(rlp.bytes()?), hex::encode(&encoded))?;
    }
    if let Some(hash) = item.optional("rlpHash") {
        equal("rlpHash", hash.parsed()?, keccak256(&encoded))?;
    }
    Ok(encoded)
}
