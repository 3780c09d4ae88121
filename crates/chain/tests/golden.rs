use std::fs::File;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::known_failures::KnownFailures;
use crate::report::SuiteReport;
use crate::{chains, vectors_folder};

fn report() -> SuiteReport {
    SuiteReport::new(KnownFailures::read(&vectors_folder().join("known-failures.yaml")).unwrap(), false)
}

#[test]
fn chains_come_out_as_they_should() {
    let mut report = report();
    chains::run(&vectors_folder().join("chains"), &mut report).unwrap();
    assert!(report.finish(), "golden data failed, see the output");
    // A folder that is not found or a field that is renamed must not pass for success.
    assert!(report.cases() >= 1500, "only {} cases ran", report.cases());
}

#[test]
fn blocks_of_all_kinds_have_the_right_result() {
    let mut report = report();
    report.enter_suite("blocks");
    let folder = vectors_folder().join("blocks");
    report.enter_file("chain_regtest.json");
    let regtest = File::open(folder.join("chain_regtest.json.gz")).unwrap();
    let regtest: Value = serde_json::from_reader(GzDecoder::new(regtest)).unwrap();
    chains::check_import_results("regtest", &regtest, &mut report).unwrap();
    report.enter_file("chain_testnet.json");
    let testnet: Value = serde_json::from_reader(File::open(folder.join("chain_testnet.json")).unwrap()).unwrap();
    chains::check_import_results("testnet", &testnet, &mut report).unwrap();
    assert!(report.finish(), "golden data failed, see the output");
}
