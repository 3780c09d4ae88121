//! Replays golden cases: of the suite `evm` (one transaction, one local call or one activation each) and the scripts of
//! repository operations of the suite `state`.
//!
//! Shared by the tests of this crate and by the conformance runner.

mod activation;
pub(crate) mod bridge;
mod fields;
mod local;
mod regime;
pub(crate) mod repository;
pub(crate) mod trace;
mod transaction;
mod world;

use std::fmt::{self, Debug, Display};

use serde_json::Value;

/// The reason why a case failed.
#[derive(Debug, Clone)]
pub(crate) struct Mismatch {
    /// The compared value.
    pub(crate) what: String,
    pub(crate) expected: String,
    pub(crate) got: String,
}

impl Mismatch {
    pub(crate) fn broken(what: impl Display, error: impl Display) -> Mismatch {
        Mismatch { what: what.to_string(), expected: "success".to_owned(), got: error.to_string() }
    }
}

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, got {}", self.what, self.expected, self.got)
    }
}

/// The result of a case.
pub(crate) type Verdict = Result<(), Mismatch>;

/// Fails unless both values are equal.
fn equal<T: PartialEq + Debug>(what: &str, expected: T, got: T) -> Verdict {
    if expected == got {
        return Ok(());
    }
    Err(Mismatch { what: what.to_owned(), expected: format!("{expected:?}"), got: format!("{got:?}") })
}

/// Returns the cases of a file.
pub(crate) fn cases(file: &Value) -> impl Iterator<Item = &Value> {
    file["cases"].as_array().into_iter().flatten()
}

/// Replays one case of a file. `forks` is the content of `forks.json`, which defines the regimes.
pub(crate) fn check(file: &Value, forks: &Value, case: &Value) -> Verdict {
    match file["kind"].as_str() {
        Some("state") => transaction::check(file, forks, case),
        Some("local") => local::check(file, forks, case),
        Some("activation") => activation::check(case),
        Some("trace") => trace::check(file, forks, case),
        kind => Err(Mismatch::broken("kind of the file", format!("{kind:?}"))),
    }
}
