//! `headers.json`, `headers_real.json`, `pow.json`: headers of all versions and the validity of their proof of work.

use rhizome_pow::{PowError, proof_of_work};
use rhizome_primitives::{ChainSpec, Header, hex};
use serde_json::Value;

use super::cases::{each_case, spec};
use crate::report::{CaseFailure, CaseResult, SuiteReport, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, check_case)
}

fn check_case(case: &Value) -> CaseResult {
    let spec = spec(case)?;
    let raw = case.member("raw")?.bytes()?;
    let decoded = Header::decode(&raw, &spec);
    let decodes = case.optional("decodes").map_or(Ok(true), VectorFields::boolean)?;
    equal("decodes", decodes, decoded.is_ok())?;
    let Ok(header) = decoded else { return Ok(()) };
    let canonical = case.optional("canonical").map_or(Ok(true), VectorFields::boolean)?;
    equal("canonical", canonical, header.encode() == raw)?;
    check_hashes(case, &header)?;
    if let Some(fields) = case.optional("fields") {
        check_fields(fields, &header)?;
    }
    check_work(case, &header, &spec)
}

/// Compares a text member, if present.
fn same(case: &Value, field: &str, got: Option<String>) -> CaseResult {
    match case.optional(field) {
        Some(expected) => equal(field, Some(expected.text()?.to_owned()), got),
        None => Ok(()),
    }
}

fn check_hashes(case: &Value, header: &Header) -> CaseResult {
    if let Some(number) = case.optional("number") {
        equal("number", number.number()?, header.number)?;
    }
    if let Some(version) = case.optional("version") {
        equal("version", version.number()?, u64::from(header.version))?;
    }
    same(case, "hash", Some(hex::encode(header.hash())))?;
    let merged = header.hash_for_merged_mining().map(hex::encode);
    same(case, "hashForMergedMining", Some(merged.unwrap_or("error".to_owned())))?;
    let fork_data = match header.fork_detection_data() {
        Ok(data) => data.map(hex::encode).unwrap_or_default(),
        // Without mining elements the reference has no data and no merged mining hash either.
        Err(_) if case.get("forkDetectionData").and_then(Value::as_str) == Some("") => String::new(),
        Err(_) => "error".to_owned(),
    };
    same(case, "forkDetectionData", Some(fork_data))?;
    same(case, "extensionHash", header.extension_hash().map(hex::encode))?;
    same(case, "extensionData", header.extension_data().map(hex::encode))?;
    same(case, "extensionWire", header.extension_wire().map(hex::encode))?;
    same(case, "compressed", Some(hex::encode(header.encode_compressed())))
}

fn check_fields(fields: &Value, header: &Header) -> CaseResult {
    let shown = |field: &str, got: String| {
        equal(field, fields.get(field).and_then(Value::as_str).unwrap_or_default(), got.as_str())
    };
    shown("parentHash", hex::encode(&header.parent_hash))?;
    shown("unclesHash", hex::encode(&header.uncles_hash))?;
    shown("coinbase", header.coinbase.map(hex::encode).unwrap_or_default())?;
    shown("stateRoot", hex::encode(&header.state_root))?;
    shown("txRoot", hex::encode(&header.transactions_root))?;
    shown("receiptsRoot", hex::encode(&header.receipts_root))?;
    shown("difficulty", header.difficulty_value().to_string())?;
    shown("gasLimitBytes", hex::encode(&header.gas_limit))?;
    shown("extraData", hex::encode(&header.extra_data))?;
    shown("paidFees", header.paid_fees.to_string())?;
    shown("minimumGasPrice", header.minimum_gas_price.map(|price| price.to_string()).unwrap_or_default())?;
    shown("ummRoot", header.umm_root.as_ref().map(hex::encode).unwrap_or_default())?;
    shown("baseEvent", header.base_event.as_ref().map(hex::encode).unwrap_or_default())?;
    let is_there = |field: &str| fields.optional(field).is_some();
    equal("there is a UMM root", is_there("ummRoot"), header.umm_root.is_some())?;
    equal("there is a base event", is_there("baseEvent"), header.base_event.is_some())?;
    equal("gasUsed", fields.member("gasUsed")?.number()?, header.gas_used)?;
    equal("timestamp", fields.member("timestamp")?.number()?, header.timestamp)?;
    equal("uncleCount", fields.member("uncleCount")?.number()?, u64::from(header.uncle_count))?;
    let numbers = |edges: &Value| -> Result<Vec<i16>, CaseFailure> {
        Ok(edges.items()?.iter().filter_map(Value::as_i64).map(|edge| edge as i16).collect())
    };
    let edges = fields.optional("edges").map(numbers);
    equal("edges", edges.transpose()?, header.edges.clone())
}

fn check_work(case: &Value, header: &Header, spec: &ChainSpec) -> CaseResult {
    let Some(expected) = case.optional("powValid") else { return Ok(()) };
    let verdict = proof_of_work(header, spec);
    equal("powValid", expected.boolean()?, verdict.is_ok())?;
    match (verdict, case.optional("powReason")) {
        // If the reference aborts with an exception, any failing step is accepted.
        (Err(error), Some(reason)) if reason != "exception" => equal("powReason", reason.text()?, reason_of(&error)),
        _ => Ok(()),
    }
}

/// Returns the name that the files give to a failing step.
fn reason_of(error: &PowError) -> &'static str {
    match error {
        PowError::FallbackSignature(_) => "fallback-signature",
        PowError::MerkleProofFormat => "merkle-proof-format",
        PowError::CoinbaseMissing => "coinbase-missing",
        PowError::BitcoinHeaderMissing => "btc-header-missing",
        PowError::AboveTarget { .. } => "target",
        PowError::TagNotFound => "tag-not-found",
        PowError::TagPosition { .. } => "tag-position",
        PowError::TagNotLast { .. } => "tag-not-last",
        PowError::TooManyBytesAfterTag { .. } => "too-many-bytes-after-tag",
        PowError::CoinbaseTooShort { .. } => "coinbase-too-short",
        PowError::MerkleProof(_) => "merkle-proof",
        PowError::BitcoinHeaderSize { .. }
        | PowError::BitcoinHeaderMalformed(_)
        | PowError::CoinbaseTruncated { .. }
        | PowError::NoHash(_) => "exception",
    }
}
