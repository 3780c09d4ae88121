//! Golden data of blocks: encodings, hashes, proof of work, header rules.

use std::path::Path;

use rhizome_primitives::ChainSpec;
use serde_json::Value;

use crate::report::{Failure, Report, Verdict, broken};
use crate::vectors::{Check, Fields, VectorError, run_files};

mod activations;
mod ancestry;
mod bodies;
mod difficulty;
mod headers;
mod mining;
mod receipts;
mod rlp;
mod rules;
mod transactions;
mod uncles;

/// Runs the files of `folder`. `other` knows the files that need more than single blocks.
pub(crate) fn run(
    folder: &Path,
    other: impl Fn(&str) -> Option<Check>,
    report: &mut Report,
) -> Result<(), VectorError> {
    report.enter_suite("blocks");
    run_files(folder, |name| check_of(name).or_else(|| other(name)), report)
}

fn check_of(file: &str) -> Option<Check> {
    Some(match file {
        "rlp.json" => rlp::check,
        "transactions.json" => transactions::check,
        "headers.json" | "headers_real.json" | "pow.json" => headers::check,
        "receipts.json" => receipts::check,
        "blocks_real.json" => bodies::check_real,
        "genesis.json" => bodies::check_genesis,
        "activations.json" => activations::check,
        "difficulty.json" => difficulty::check,
        "difficulty_mainnet.json" => difficulty::check_consecutive,
        "fork_detection.json" => difficulty::check_fork_detection,
        "rules.json" => rules::check,
        "uncle_rules.json" => uncles::check_rules,
        "uncles_hash.json" => uncles::check_hashes,
        "mining.json" => mining::check,
        _ => return None,
    })
}

/// The chain of a network under the name that the files use.
fn spec_of(net: &str) -> Result<ChainSpec, Failure> {
    ChainSpec::by_name(net).map_err(|error| broken("chain specification", error))
}

/// The chain of a case.
fn spec(case: &Value) -> Result<ChainSpec, Failure> {
    spec_of(case.member("net")?.text()?)
}

/// Every case of a file with a name made of its position and what it says about itself.
fn each_case(json: &Value, report: &mut Report, check: impl Fn(&Value) -> Verdict) -> Verdict {
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
