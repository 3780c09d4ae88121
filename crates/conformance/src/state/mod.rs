//! Golden data of the state: trie, keys, accounts, genesis, proofs.

use std::path::Path;

use crate::report::SuiteReport;
use crate::vectors::{FileCheck, VectorError, run_files};

mod genesis;
mod keys;
mod lists;
mod orchid;
mod proofs;
pub(crate) mod tries;

/// Runs the files of `folder`. `other` returns the checks of files that need more than the trie.
pub(crate) fn run(
    folder: &Path,
    other: impl Fn(&str) -> Option<FileCheck>,
    report: &mut SuiteReport,
) -> Result<(), VectorError> {
    report.enter_suite("state");
    run_files(folder, |name| check_of(name).or_else(|| other(name)), report)
}

fn check_of(file: &str) -> Option<FileCheck> {
    Some(match file {
        "nodes.json" => tries::check_nodes,
        name if name.starts_with("ops-") => tries::check_operations,
        "keys.json" => keys::check,
        "orchid-state.json" => orchid::check,
        "genesis.json" => genesis::check_genesis,
        "activation.json" => genesis::check_activations,
        "lists.json" => lists::check,
        "proofs.json" => proofs::check,
        _ => return None,
    })
}
