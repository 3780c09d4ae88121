//! Transactions: both hashes, sender, acceptance, intrinsic gas.

use crate::vectors::{bytes, cases, text};
use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{Address, ChainSpec, SignatureError, Transaction, hex};
use serde_json::Value;

#[test]
fn golden_transactions() {
    let (mainnet, regtest) = (ChainSpec::mainnet(), ChainSpec::regtest());
    let eras = [mainnet.rules(6223699), mainnet.rules(6223700), mainnet.rules(7338024), regtest.rules(1)];
    let cases = cases("blocks/transactions.json");
    for case in &cases {
        let raw = bytes(case, "raw");
        let decoded = Transaction::decode(&raw);
        assert_eq!(decoded.is_ok(), case["decodes"].as_bool().unwrap(), "{case}");
        let Ok(transaction) = decoded else { continue };
        let canonical = if case["reencoded"].is_string() { bytes(case, "reencoded") } else { raw };
        assert_eq!(transaction.encode(), canonical, "{case}");
        assert_eq!(hex::encode(transaction.hash()), text(case, "hash"));
        assert_eq!(hex::encode(transaction.raw_hash()), text(case, "rawHash"), "{case}");
        fields(case, &transaction);
        sender(case, &transaction);
        let is_remasc = case["remasc"].as_bool().unwrap();
        assert_eq!(transaction.has_remasc_form(), is_remasc, "{case}");
        assert_eq!(transaction.fields_valid(), case["fieldsValid"].as_bool().unwrap(), "{case}");
        for (chain_id, is_accepted) in case["acceptSignature"].as_object().unwrap() {
            let accepts = is_remasc || transaction.accepts_signature(chain_id.parse().unwrap());
            assert_eq!(accepts, is_accepted.as_bool().unwrap(), "{chain_id} {case}");
        }
        for (rules, expected) in eras.iter().zip(case["intrinsic"].as_array().unwrap()) {
            // "error": the reference needs a sender to decide whether the call is free.
            // 0: REMASC, or a free call of the Bridge.
            if let Some(expected) = expected.as_u64().filter(|&expected| expected != 0) {
                assert_eq!(transaction.intrinsic_gas(rules), expected, "{case}");
            }
        }
    }
    assert_eq!(cases.len(), 194);
}

fn fields(case: &Value, transaction: &Transaction) {
    let nonce = text(case, "nonce");
    let expected = if nonce == "00" { String::new() } else { nonce.into() };
    assert_eq!(hex::encode(transaction.nonce_bytes()), expected);
    assert_eq!(hex::encode(transaction.gas_limit_bytes()), case["gasLimit"].as_str().unwrap_or_default());
    if transaction.fields_valid() {
        assert_eq!(transaction.gas_price().to_string(), text(case, "gasPrice"));
        assert_eq!(transaction.value().to_string(), text(case, "value"));
    }
    assert_eq!(transaction.to().map(hex::encode).unwrap_or_default(), text(case, "to"));
    assert_eq!(transaction.is_creation(), text(case, "to").is_empty());
    assert_eq!(hex::encode(transaction.data()), case["data"].as_str().unwrap_or_default());
    assert_eq!(i64::from(transaction.chain_id()), case["chainId"].as_i64().unwrap());
    assert_eq!(transaction.is_signed(), case["v"].is_u64());
    if transaction.is_signed() {
        assert_eq!(Some(u64::from(transaction.recovery_value())), case["v"].as_u64());
        assert_eq!(Some(u64::from(transaction.encoded_v())), case["encodedV"].as_u64());
        for (name, number) in [("r", transaction.r()), ("s", transaction.s())] {
            let expected = text(case, name);
            if expected.len() <= 64 {
                assert_eq!(format!("{number:x}"), expected);
            }
        }
    }
}

fn sender(case: &Value, transaction: &Transaction) {
    match (text(case, "sender"), transaction.recover_sender()) {
        ("00", result) => assert_eq!(result, Err(SignatureError::Unsigned)),
        ("", result) => assert_eq!(result, Err(SignatureError::OutOfField), "{case}"),
        ("error", Err(SignatureError::NoKey | SignatureError::Unsigned)) => {}
        (expected, Ok(address)) => {
            assert_eq!(hex::encode(address), expected, "{case}");
            if case["createdAddress"].is_string() {
                let created = created_address(&address, &transaction.nonce());
                assert_eq!(created, Address::from_slice(&bytes(case, "createdAddress")));
            }
        }
        (_, result) => panic!("{result:?} {case}"),
    }
}
