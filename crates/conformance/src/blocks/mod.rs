//! Golden data of blocks: encodings, hashes, proof of work, header rules.

use std::path::Path;

use crate::report::SuiteReport;
use crate::vectors::{FileCheck, VectorError, run_files};

mod activations;
mod ancestry;
mod bodies;
mod cases;
mod difficulty;
mod headers;
mod mining;
mod receipts;
mod rlp;
mod rules;
mod transactions;
mod uncles;

/// Runs the files of `folder`. `other` returns the checks of files that need a chain.
pub(crate) fn run(
    folder: &Path,
    other: impl Fn(&str) -> Option<FileCheck>,
    report: &mut SuiteReport,
) -> Result<(), VectorError> {
    report.enter_suite("blocks");
    run_files(folder, |name| check_of(name).or_else(|| other(name)), report)
}

fn check_of(file: &str) -> Option<FileCheck> {
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
