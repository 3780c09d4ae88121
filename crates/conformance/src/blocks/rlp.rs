//! `rlp.json`: RLP encoders, the lenient decoder, parsers of numbers.

use rhizome_primitives::rlp::{self, Item};
use rhizome_primitives::{DecodeError, I256, U256, hex};
use serde_json::{Value, json};

use super::cases::each_case;
use crate::report::{CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, check_case)
}

fn check_case(case: &Value) -> CaseResult {
    let value = case.get("value").unwrap_or(&Value::Null);
    let encoded = |out: Vec<u8>| equal("encoded", case.member("encoded")?.text()?, hex::encode(out).as_str());
    match case.member("kind")?.text()? {
        "integer" => check_integer(case),
        "null" => check_null(case),
        "element" if case.optional("zeros").is_some() => {
            let zeros = vec![0; case.member("zeros")?.number()? as usize];
            let prefix = case.member("encodedPrefix")?.text()?;
            let found = written(|out| rlp::put_bytes(out, &zeros));
            equal("encodedPrefix", prefix, found.get(..prefix.len()).unwrap_or(&found))
        }
        "element" => {
            let bytes = case.member("bytes")?.bytes()?;
            encoded(collect(|out| rlp::put_bytes(out, &bytes)))
        }
        "byte" => {
            let byte = value.number()? as u8;
            encoded(collect(|out| rlp::put_byte(out, byte)))
        }
        "int" => {
            let number = value.number()?;
            encoded(collect(|out| rlp::put_u64(out, number)))
        }
        "edges" => {
            let edges: Vec<i16> =
                value.items()?.iter().filter_map(|edge| edge.as_i64()).map(|edge| edge as i16).collect();
            encoded(collect(|out| rlp::put_edges(out, &edges)))
        }
        "list of k elements 01" => encoded(rlp::list(&vec![1; case.member("k")?.number()? as usize])),
        "decode" => check_decoding(case),
        "parse" => check_parsing(case),
        other => Err(broken("kind", other)),
    }
}

fn collect(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    hex::encode(collect(write))
}

fn check_integer(case: &Value) -> CaseResult {
    let value: U256 = case.member("value")?.parsed()?;
    let digits = value.to_be_bytes::<32>();
    let same = |field: &str, got: String| equal(field, case.member(field)?.text()?, got.as_str());
    same("bigInteger", written(|out| rlp::put_value(out, &value)))?;
    same("coin", written(|out| rlp::put_value(out, &value)))?;
    same("coinNullZero", written(|out| rlp::put_unsigned(out, &digits)))?;
    same("coinNonNullZero", written(|out| rlp::put_price(out, Some(&digits))))?;
    same("difficulty", written(|out| rlp::put_difficulty(out, Some(&value))))?;
    match I256::try_from(value) {
        Ok(signed) => same("signedCoinNonNullZero", written(|out| rlp::put_minimum_gas_price(out, Some(&signed)))),
        Err(_) => Ok(()),
    }
}

fn check_null(case: &Value) -> CaseResult {
    let same = |field: &str, got: String| equal(field, case.member(field)?.text()?, got.as_str());
    same("coinNonNullZero", written(|out| rlp::put_price(out, None)))?;
    same("signedCoinNonNullZero", written(|out| rlp::put_minimum_gas_price(out, None)))?;
    same("difficulty", written(|out| rlp::put_difficulty(out, None)))?;
    same("element", written(|out| rlp::put_bytes(out, &[])))?;
    same("address", written(|out| rlp::put_address(out, None)))
}

fn check_decoding(case: &Value) -> CaseResult {
    let data = case.member("bytes")?.bytes()?;
    let items = rlp::decode_all(&data).and_then(|items| tree(&items));
    equal("ok", case.member("ok")?.boolean()?, items.is_ok())?;
    if let Ok(items) = items {
        equal("items", case.member("items")?, &items)?;
    }
    equal("singleList", case.member("singleList")?.boolean()?, rlp::decode_list(&data).is_ok())
}

fn tree(items: &[Item<'_>]) -> Result<Value, DecodeError> {
    let parse = |item: &Item<'_>| match item.is_list() {
        true => tree(&item.list("list")?),
        false => Ok(json!(hex::encode(item.bytes()))),
    };
    items.iter().map(parse).collect()
}

fn check_parsing(case: &Value) -> CaseResult {
    let data = case.member("bytes")?.bytes()?;
    let shown = |number: Result<String, DecodeError>| number.unwrap_or_else(|_| "error".to_owned());
    let unsigned = shown(rlp::read_u256(&data, "n").map(|number| number.to_string()));
    let signed = shown(rlp::read_signed(&data, "n").map(|number| number.to_string()));
    let difficulty = shown(rlp::read_difficulty(&data, "n").map(|number| number.to_string()));
    let same = |field: &str, got: &str| equal(field, case.member(field)?.text()?, got);
    same("coin", &unsigned)?;
    same("coinNonNullZero", &unsigned)?;
    same("signedCoinNonNullZero", &signed)?;
    same("difficulty", &difficulty)
}
