//! Golden traces: `evm/traces.json`.

use crate::cases;
use crate::traces;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs::File;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/evm/");

#[test]
fn equal_the_traces_of_the_reference() {
    let packed = File::open(format!("{FOLDER}traces.json.gz")).unwrap();
    let file: Value = serde_json::from_reader(GzDecoder::new(packed)).unwrap();
    let forks: Value = serde_json::from_reader(File::open(format!("{FOLDER}forks.json")).unwrap()).unwrap();
    let mut failed = Vec::new();
    let mut passed = 0;
    for case in cases::cases(&file) {
        match traces::check(&file, &forks, case) {
            Ok(()) => passed += 1,
            Err(mismatch) => failed.push(format!("{}: {mismatch}", case["name"])),
        }
    }
    assert!(failed.is_empty(), "{passed} passed\n{}", failed.join("\n"));
    assert_eq!(passed, 32);
}
