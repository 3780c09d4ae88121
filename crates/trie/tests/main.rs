//! Golden data of the state suite, random histories against a model, and arbitrary bytes.

#![allow(clippy::unwrap_used)]

// The runner of golden data is shared with the conformance program, which runs it over any folder.
#[path = "../../conformance/src/known_failures.rs"]
mod known_failures;
#[path = "../../conformance/src/report.rs"]
mod report;
#[path = "../../conformance/src/state/mod.rs"]
mod state;
#[path = "../../conformance/src/vectors.rs"]
mod vectors;

#[path = "../../primitives/tests/corpus.rs"]
mod corpus;
#[path = "../../primitives/tests/mutation.rs"]
mod mutation;

mod fuzz;
mod history;
mod positions;
mod snap_chunk;

use std::path::Path;

use crate::known_failures::KnownFailures;
use crate::report::SuiteReport;

#[test]
fn golden_data() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"));
    let known = KnownFailures::read(&folder.join("known-failures.yaml")).unwrap();
    let mut report = SuiteReport::new(known, false);
    state::run(&folder.join("state"), |_| None, &mut report).unwrap();
    assert!(report.finish(), "golden data failed, see the output");
    // An absent folder or a renamed field must not pass as success.
    assert!(report.cases() >= 480, "only {} cases ran", report.cases());
}
