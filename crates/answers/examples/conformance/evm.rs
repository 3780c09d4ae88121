//! Golden data of the machine: transactions, local calls, activations, traces, calls of the Bridge, and the scripts of
//! repository operations.

use std::path::Path;

use serde_json::Value;

use crate::report::{Failure, Report, Verdict};
use crate::vectors::{VectorError, json_files, plain_name, read_json};

#[path = "../../../evm/tests/vectors/mod.rs"]
mod cases;
#[path = "../../tests/traces.rs"]
mod traces;

/// Runs the files of `folder`.
pub(crate) fn run(folder: &Path, report: &mut Report) -> Result<(), VectorError> {
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
pub(crate) fn check_repository(json: &Value, report: &mut Report) -> Verdict {
    for case in cases::cases(json) {
        report.case(name_of(case), || cases::repository::check(case).map_err(failure));
    }
    Ok(())
}

/// True if a file of the suite `bridge` holds calls or transactions; the others are about parts that are missing.
pub(crate) fn is_bridge_file(name: &str) -> bool {
    !matches!(name, "scripts.json" | "bridge-state.json" | "btc-checkpoints.json")
}

/// Checks the scenarios of a file of the suite `bridge`.
pub(crate) fn check_bridge(json: &Value, report: &mut Report) -> Verdict {
    cases::bridge::replay(json, |name, outcome| match outcome {
        Ok(cases::bridge::Outcome::Same) => report.case(name, || Ok(())),
        Ok(cases::bridge::Outcome::Stopped(part)) => report.stop(name, &part),
        Err(mismatch) => report.case(name, || Err(failure(mismatch))),
    })
    .map_err(failure)
}

fn name_of(case: &Value) -> &str {
    case["name"].as_str().unwrap_or("a case without a name")
}

fn failure(mismatch: cases::Mismatch) -> Failure {
    Failure { what: mismatch.what, expected: mismatch.expected, got: mismatch.got }
}
