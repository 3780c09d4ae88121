//! Cases of a file and the networks they belong to.

use rhizome_primitives::ChainSpec;
use serde_json::Value;

use crate::report::{CaseFailure, CaseResult, SuiteReport, broken};
use crate::vectors::VectorFields;

/// Returns the chain specification of the network `net`.
pub(crate) fn spec_of(net: &str) -> Result<ChainSpec, CaseFailure> {
    ChainSpec::by_name(net).map_err(|error| broken("chain specification", error))
}

/// Returns the chain specification of a case.
pub(crate) fn spec(case: &Value) -> Result<ChainSpec, CaseFailure> {
    spec_of(case.member("net")?.text()?)
}

/// Runs all cases of a file. Their names are made of the index and of the descriptive members.
pub(crate) fn each_case(json: &Value, report: &mut SuiteReport, check: impl Fn(&Value) -> CaseResult) -> CaseResult {
    for (index, case) in json.member("cases")?.items()?.iter().enumerate() {
        report.case(&case_name(index, case), || check(case));
    }
    Ok(())
}

fn case_name(index: usize, case: &Value) -> String {
    let mut name = index.to_string();
    for field in ["net", "kind", "label", "number"] {
        match case.get(field) {
            Some(Value::String(text)) => name = format!("{name} {text}"),
            Some(Value::Number(number)) => name = format!("{name} {number}"),
            _ => {}
        }
    }
    name
}
