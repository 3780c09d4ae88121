//! Writers, the lenient reader and the number parsers.

use crate::vectors::{bytes, cases, text};
use rhizome_primitives::rlp::{self, Item};
use rhizome_primitives::{DecodeError, I256, U256, hex};
use serde_json::{Value, json};

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    hex::encode(out)
}

#[test]
fn golden_rlp() {
    let cases = cases("blocks/rlp.json");
    for case in &cases {
        match text(case, "kind") {
            "integer" => integer(case),
            "null" => null(case),
            "element" if case["zeros"].is_u64() => {
                let zeros = vec![0; case["zeros"].as_u64().unwrap() as usize];
                assert!(written(|out| rlp::put_bytes(out, &zeros)).starts_with(text(case, "encodedPrefix")));
            }
            "element" => assert_eq!(written(|out| rlp::put_bytes(out, &bytes(case, "bytes"))), text(case, "encoded")),
            "byte" => {
                let byte = case["value"].as_u64().unwrap() as u8;
                assert_eq!(written(|out| rlp::put_byte(out, byte)), text(case, "encoded"));
            }
            "int" => {
                let value = case["value"].as_u64().unwrap();
                assert_eq!(written(|out| rlp::put_u64(out, value)), text(case, "encoded"));
            }
            "edges" => {
                let edges: Vec<i16> =
                    case["value"].as_array().unwrap().iter().map(|edge| edge.as_i64().unwrap() as i16).collect();
                assert_eq!(written(|out| rlp::put_edges(out, &edges)), text(case, "encoded"));
            }
            "list of k elements 01" => {
                let elements = vec![1; case["k"].as_u64().unwrap() as usize];
                assert_eq!(hex::encode(rlp::list(&elements)), text(case, "encoded"));
            }
            "decode" => decode(case),
            "parse" => parse(case),
            other => panic!("kind {other}"),
        }
    }
    assert_eq!(cases.len(), 149);
}

fn integer(case: &Value) {
    let value: U256 = text(case, "value").parse().unwrap();
    let digits = value.to_be_bytes::<32>();
    assert_eq!(written(|out| rlp::put_value(out, &value)), text(case, "bigInteger"));
    assert_eq!(written(|out| rlp::put_value(out, &value)), text(case, "coin"));
    assert_eq!(written(|out| rlp::put_unsigned(out, &digits)), text(case, "coinNullZero"));
    assert_eq!(written(|out| rlp::put_price(out, Some(&digits))), text(case, "coinNonNullZero"));
    assert_eq!(written(|out| rlp::put_difficulty(out, Some(&value))), text(case, "difficulty"));
    if let Ok(signed) = I256::try_from(value) {
        assert_eq!(written(|out| rlp::put_minimum_gas_price(out, Some(&signed))), text(case, "signedCoinNonNullZero"));
    }
}

fn null(case: &Value) {
    assert_eq!(written(|out| rlp::put_price(out, None)), text(case, "coinNonNullZero"));
    assert_eq!(written(|out| rlp::put_minimum_gas_price(out, None)), text(case, "signedCoinNonNullZero"));
    assert_eq!(written(|out| rlp::put_difficulty(out, None)), text(case, "difficulty"));
    assert_eq!(written(|out| rlp::put_bytes(out, &[])), text(case, "element"));
    assert_eq!(written(|out| rlp::put_address(out, None)), text(case, "address"));
}

fn decode(case: &Value) {
    let data = bytes(case, "bytes");
    let items = rlp::decode_all(&data).and_then(|items| tree(&items));
    assert_eq!(items.is_ok(), case["ok"].as_bool().unwrap(), "{case}");
    if let Ok(items) = items {
        assert_eq!(items, case["items"], "{case}");
    }
    assert_eq!(rlp::decode_list(&data).is_ok(), case["singleList"].as_bool().unwrap(), "{case}");
}

fn tree(items: &[Item<'_>]) -> Result<Value, DecodeError> {
    let parse = |item: &Item<'_>| match item.is_list() {
        true => tree(&item.list("list")?),
        false => Ok(json!(hex::encode(item.bytes()))),
    };
    items.iter().map(parse).collect()
}

fn parse(case: &Value) {
    let data = bytes(case, "bytes");
    let shown = |number: Result<String, DecodeError>| number.unwrap_or_else(|_| "error".into());
    let unsigned = shown(rlp::read_u256(&data, "n").map(|number| number.to_string()));
    assert_eq!(unsigned, text(case, "coin"));
    assert_eq!(unsigned, text(case, "coinNonNullZero"));
    assert_eq!(
        shown(rlp::read_signed(&data, "n").map(|number| number.to_string())),
        text(case, "signedCoinNonNullZero")
    );
    assert_eq!(shown(rlp::read_difficulty(&data, "n").map(|number| number.to_string())), text(case, "difficulty"));
}
