//! Bitcoin transactions and scripts as the library of the reference reads them (docs/spec/bridge.md, 4).

use std::fmt::Debug;
use std::fs::File;

use flate2::read::GzDecoder;
use rhizome_bitcoin::{
    BitcoinTransaction, OutputKind, ScriptError, display, output_kind, parse_script, spends_correctly,
};
use serde_json::Value;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/bridge/bitcoin-objects.json.gz");

type Verdict = Result<(), String>;

fn equal<T: PartialEq + Debug>(what: &str, expected: T, got: T) -> Verdict {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}

fn bytes_at(case: &Value, name: &str) -> Result<Vec<u8>, String> {
    let text = case[name].as_str().ok_or_else(|| format!("{name}: absent"))?;
    hex::decode(text.trim_start_matches("0x")).map_err(|error| format!("{name}: {error}"))
}

/// Compares a transaction, its hashes and the signature hashes of its inputs with the recorded ones.
fn check_transaction(case: &Value) -> Verdict {
    let raw = bytes_at(case, "raw")?;
    let parsed = BitcoinTransaction::parse(&raw);
    equal("parses", case["error"].is_null(), parsed.is_ok())?;
    let Ok(transaction) = parsed else { return Ok(()) };
    equal("txid", case["txid"].as_str(), Some(hex::encode(display(transaction.txid())).as_str()))?;
    equal("wtxid", case["wtxid"].as_str(), Some(hex::encode(display(transaction.wtxid())).as_str()))?;
    equal("serialized", bytes_at(case, "serialized")?, transaction.serialize())?;
    equal("size", transaction.serialize().len(), transaction.size())?;
    equal("coinbase", case["coinbase"].as_bool(), Some(transaction.is_coinbase()))?;
    equal("witness", case["witness"].as_bool(), Some(transaction.has_witness()))?;
    equal("verifies", case["verifies"].as_bool(), Some(BitcoinTransaction::parse_verified(&raw).is_ok()))?;
    for (input, hashes) in case["hashes"].as_array().into_iter().flatten().enumerate() {
        let script = bytes_at(hashes, "script")?;
        let legacy = transaction.legacy_signature_hash(input, &script).map_err(|error| error.to_string())?;
        equal("legacy hash", bytes_at(hashes, "legacy")?, legacy.to_vec())?;
        if hashes["segwit"].is_null() {
            // Negative outputs are in no transaction of which this hash is taken.
            continue;
        }
        let satoshis = hashes["value"].as_i64().unwrap_or_default();
        let segwit = transaction.segwit_signature_hash(input, &script, satoshis).map_err(|error| error.to_string())?;
        equal("segwit hash", bytes_at(hashes, "segwit")?, segwit.to_vec())?;
    }
    Ok(())
}

/// Compares the chunks of a script and its kind of output with the recorded ones.
fn check_script(case: &Value) -> Verdict {
    let script = bytes_at(case, "script")?;
    let parsed = parse_script(&script);
    equal("parses", case["error"].is_null(), parsed.is_ok())?;
    let Ok(chunks) = parsed else { return Ok(()) };
    let data = |data: Option<&[u8]>| data.map(|data| format!("0x{}", hex::encode(data)));
    let chunks = chunks.iter().map(|chunk| (Some(u64::from(chunk.opcode)), data(chunk.data)));
    let recorded = case["chunks"].as_array().into_iter().flatten();
    let recorded = recorded.map(|chunk| (chunk[0].as_u64(), chunk[1].as_str().map(str::to_owned)));
    equal("chunks", recorded.collect::<Vec<_>>(), chunks.collect::<Vec<_>>())?;
    let kind = match output_kind(&script) {
        Ok(OutputKind::PayToKeyHash(_)) => Some("key hash"),
        Ok(OutputKind::PayToScriptHash(_)) => Some("script hash"),
        Ok(OutputKind::RawKey) => Some("key"),
        Ok(OutputKind::OpReturn) => Some("return"),
        Ok(OutputKind::Other) => Some("other"),
        Err(ScriptError::Truncated { .. }) => Some("truncated"),
        Err(_) => None,
    };
    equal("kind", case["kind"].as_str(), kind)
}

/// Compares whether an input spends an output with the recorded verdict.
fn check_spend(case: &Value) -> Verdict {
    let transaction = BitcoinTransaction::parse(&bytes_at(case, "raw")?).map_err(|error| error.to_string())?;
    let input = case["input"].as_u64().unwrap_or_default() as usize;
    let spends =
        spends_correctly(&transaction, input, &bytes_at(case, "script")?).map_err(|error| error.to_string())?;
    equal("spends", case["spends"].as_bool(), Some(spends))
}

fn failures(json: &Value, list: &str, check: fn(&Value) -> Verdict) -> Vec<String> {
    let cases = json[list].as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(!cases.is_empty(), "no {list}");
    let failed = |(index, case)| Some(format!("{list} {index}: {}", check(case).err()?));
    cases.iter().enumerate().filter_map(failed).collect()
}

#[test]
fn objects_equal_those_of_the_reference() {
    let file = File::open(VECTORS).unwrap_or_else(|error| panic!("{VECTORS}: {error}"));
    let json: Value = serde_json::from_reader(GzDecoder::new(file)).unwrap();
    let failed = [
        failures(&json, "transactions", check_transaction),
        failures(&json, "scripts", check_script),
        failures(&json, "spends", check_spend),
    ]
    .concat();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
