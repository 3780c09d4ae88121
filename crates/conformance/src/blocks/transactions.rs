//! `transactions.json`: both hashes, fields, sender, acceptance, intrinsic cost.

use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{ChainSpec, Rules, SignatureError, Transaction, hex};
use serde_json::Value;

use super::cases::{each_case, spec_of};
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    let (mainnet, regtest) = (spec_of("mainnet")?, spec_of("regtest")?);
    let rules = |spec: &ChainSpec, number| spec.rules(number);
    // The blocks of the costs in `intrinsic`.
    let eras = [rules(&mainnet, 6_223_699), rules(&mainnet, 6_223_700), rules(&mainnet, 7_338_024), rules(&regtest, 1)];
    each_case(json, report, |case| check_case(case, &eras))
}

fn check_case(case: &Value, eras: &[Rules]) -> CaseResult {
    let raw = case.member("raw")?.bytes()?;
    let decoded = Transaction::decode(&raw);
    equal("decodes", case.member("decodes")?.boolean()?, decoded.is_ok())?;
    let Ok(transaction) = decoded else { return Ok(()) };
    let canonical = case.optional("reencoded").map(VectorFields::bytes).transpose()?.unwrap_or(raw);
    equal("encoding", hex::encode(canonical), hex::encode(transaction.encode()))?;
    equal("hash", case.member("hash")?.parsed()?, transaction.hash())?;
    equal("rawHash", case.member("rawHash")?.parsed()?, transaction.raw_hash())?;
    check_fields(case, &transaction)?;
    check_signature(case, &transaction)?;
    check_sender(case, &transaction)?;
    let is_remasc = case.member("remasc")?.boolean()?;
    equal("remasc", is_remasc, transaction.has_remasc_form())?;
    equal("fieldsValid", case.member("fieldsValid")?.boolean()?, transaction.fields_valid())?;
    for (chain_id, accepted) in case.member("acceptSignature")?.as_object().into_iter().flatten() {
        let id = chain_id.parse().map_err(|error| broken("chain id", error))?;
        let accepts = is_remasc || transaction.accepts_signature(id);
        equal(format!("acceptSignature {chain_id}"), accepted.boolean()?, accepts)?;
    }
    for (era, (rules, expected)) in eras.iter().zip(case.member("intrinsic")?.items()?).enumerate() {
        // "error": the reference needs a sender to decide whether the call is free.
        // 0: REMASC, or a free call of the Bridge.
        if let Some(expected) = expected.as_u64().filter(|expected| *expected != 0) {
            equal(format!("intrinsic {era}"), expected, transaction.intrinsic_gas(rules))?;
        }
    }
    Ok(())
}

fn text_or_empty<'a>(case: &'a Value, field: &str) -> &'a str {
    case.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn check_fields(case: &Value, transaction: &Transaction) -> CaseResult {
    let same = |field: &str, got: String| equal(field, text_or_empty(case, field), got.as_str());
    // The reference shows an empty nonce as 00.
    let nonce = match text_or_empty(case, "nonce") {
        "00" => "",
        nonce => nonce,
    };
    equal("nonce", nonce, hex::encode(transaction.nonce_bytes()).as_str())?;
    same("gasLimit", hex::encode(transaction.gas_limit_bytes()))?;
    if transaction.fields_valid() {
        same("gasPrice", transaction.gas_price().to_string())?;
        same("value", transaction.value().to_string())?;
    }
    same("to", transaction.to().map(hex::encode).unwrap_or_default())?;
    equal("is a creation", text_or_empty(case, "to").is_empty(), transaction.is_creation())?;
    same("data", hex::encode(transaction.data()))
}

fn check_signature(case: &Value, transaction: &Transaction) -> CaseResult {
    equal("chainId", case.member("chainId")?.as_i64(), Some(i64::from(transaction.chain_id())))?;
    let v = case.optional("v");
    equal("is signed", v.is_some(), transaction.is_signed())?;
    let Some(v) = v else { return Ok(()) };
    equal("v", v.number()?, u64::from(transaction.recovery_value()))?;
    equal("encodedV", case.member("encodedV")?.number()?, u64::from(transaction.encoded_v()))?;
    for (field, number) in [("r", transaction.r()), ("s", transaction.s())] {
        // Values of more than 32 bytes are preserved in the encoding, but have no numeric value.
        let expected = case.member(field)?.text()?;
        if expected.len() <= 64 {
            equal(field, expected, format!("{number:x}").as_str())?;
        }
    }
    Ok(())
}

fn check_sender(case: &Value, transaction: &Transaction) -> CaseResult {
    let expected = case.member("sender")?.text()?;
    let found = transaction.recover_sender();
    match expected {
        "00" => equal("sender", Err(SignatureError::Unsigned), found),
        "" => equal("sender", Err(SignatureError::OutOfField), found),
        "error" => {
            let is_refused = matches!(found, Err(SignatureError::NoKey | SignatureError::Unsigned));
            equal("sender is refused", true, is_refused)
        }
        _ => {
            let sender = found.map_err(|error| broken("sender", error))?;
            equal("sender", expected, hex::encode(sender).as_str())?;
            match case.optional("createdAddress") {
                Some(created) => {
                    let expected = created.parsed()?;
                    equal("createdAddress", expected, created_address(&sender, &transaction.nonce()))
                }
                None => Ok::<_, CaseFailure>(()),
            }
        }
    }
}
