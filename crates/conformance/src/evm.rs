//! Golden data of the EVM: transactions, local calls, activations, traces, Bridge calls, and sequences of repository
//! operations.

use std::path::Path;

use rhizome_answers::eth::bridge_state;
use rhizome_answers::options::BridgeStateForm;
use rhizome_evm::precompiles::checkpoint;
use rhizome_primitives::{Network, hex};
use serde_json::Value;

use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::{FileCheck, VectorError, VectorFields, json_files, plain_name, read_json};

#[path = "../../evm/tests/vectors/mod.rs"]
mod cases;
#[path = "../../answers/tests/traces.rs"]
mod traces;

/// Runs the files of `folder`.
pub(crate) fn run(folder: &Path, report: &mut SuiteReport) -> Result<(), VectorError> {
    report.enter_suite("evm");
    let forks = read_json(&folder.join("forks.json"))?;
    for path in json_files(folder)? {
        let name = plain_name(&path);
        if name == "forks.json" {
            continue;
        }
        report.enter_file(&name);
        let json = read_json(&path)?;
        let check = if json["kind"] == "trace" { traces::check } else { cases::check };
        for case in cases::cases(&json) {
            report.case(name_of(case), || check(&json, &forks, case).map_err(failure));
        }
    }
    Ok(())
}

/// Checks `repo.json` of the suite `state`.
pub(crate) fn check_repository(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for case in cases::cases(json) {
        report.case(name_of(case), || cases::repository::check(case).map_err(failure));
    }
    Ok(())
}

/// Returns the check of a file of the suite `bridge`. Most files hold calls or transactions.
pub(crate) fn bridge_check_of(name: &str) -> FileCheck {
    match name {
        "scripts.json" => check_scripts,
        "bridge-state.json" => check_bridge_states,
        "btc-checkpoints.json" => check_checkpoints,
        _ => check_bridge,
    }
}

/// Checks scripts of federations.
fn check_scripts(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for case in cases::cases(json) {
        let (version, network) = (case.member("type")?.text()?, case.member("network")?.text()?);
        let size = case.member("memberBtcKeys")?.items()?.len();
        let name = format!("{version} {network} of {size}");
        report.case(&name, || cases::bridge::check_scripts(case).map_err(failure));
    }
    Ok(())
}

/// Checks the Bitcoin blocks that a store of headers can begin with.
fn check_checkpoints(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for (name, network) in [("mainnet", Network::Mainnet), ("testnet", Network::Testnet)] {
        for fields in json.member(name)?.items()? {
            let field = |index: usize| fields.get(index).ok_or_else(|| broken("checkpoint", "too few fields"));
            let height = field(0)?.number()?;
            report.case(&format!("{name} {height}"), || {
                let found = checkpoint(network, field(1)?.number()? as i64);
                let found = found.ok_or_else(|| broken("checkpoint", "none"))?;
                equal("height", height, found.height as u64)?;
                equal("work", field(3)?.parsed()?, found.work)?;
                equal("header", hex::encode(field(4)?.bytes()?), hex::encode(found.header))
            });
        }
    }
    Ok(())
}

/// Checks the state that the Bridge returns to a local call and that `eth_bridgeState` returns.
fn check_bridge_states(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for case in cases::cases(json) {
        let note = case.member("note")?.text()?;
        report.case(&format!("encoded: {note}"), || cases::bridge::check_encoded_state(json, case).map_err(failure));
        report.case(&format!("answer: {note}"), || check_bridge_answer(json, case));
    }
    Ok(())
}

fn check_bridge_answer(file: &Value, case: &Value) -> CaseResult {
    let (spec, trie) = cases::bridge::stored_state(case).map_err(failure)?;
    let rules = cases::bridge::rules_of(file, case).map_err(failure)?;
    let expected = match case.optional("resultJson") {
        Some(json) => json.text()?.to_owned(),
        None => format!("error {}", case.member("rpcError")?.member("code")?),
    };
    let got = match bridge_state::answer_at(spec.network, &rules, &trie, BridgeStateForm::Decodable) {
        Ok(json) => String::from_utf8_lossy(&json).into_owned(),
        Err(error) => format!("error {}", error.code.number()),
    };
    equal("answer", expected, got)
}

/// Checks the scenarios of a file of the suite `bridge`.
fn check_bridge(json: &Value, report: &mut SuiteReport) -> CaseResult {
    cases::bridge::replay(json, |name, verdict| report.case(name, || verdict.map_err(failure))).map_err(failure)
}

fn name_of(case: &Value) -> &str {
    case["name"].as_str().unwrap_or("a case without a name")
}

fn failure(mismatch: cases::Mismatch) -> CaseFailure {
    CaseFailure { what: mismatch.what, expected: mismatch.expected, got: mismatch.got }
}
