//! The chain as a whole, on golden data and on blocks in disorder.

// One runner for golden data: the conformance example runs the same code over any folder.
#[path = "../examples/conformance/chains.rs"]
mod chains;
#[path = "../examples/conformance/known_failures.rs"]
mod known_failures;
#[path = "../examples/conformance/report.rs"]
mod report;
#[path = "../examples/conformance/vectors.rs"]
mod vectors;

use std::path::Path;

use crate::known_failures::KnownFailures;
use crate::report::Report;

#[test]
fn golden_chains() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"));
    let folder = std::env::var("RZ_CHAINS").map_or(folder.join("chains"), Into::into);
    let known = KnownFailures::default();
    let mut report = Report::new(known, false);
    chains::run(&folder, &mut report).unwrap();
    assert!(report.finish(), "golden data failed, see the output");
}
