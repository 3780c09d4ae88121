//! Results of cases and their output.

#![allow(dead_code, reason = "the test programs that include this file use a part of it")]

use std::fmt::{Debug, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::known_failures::KnownFailures;

/// The difference that fails a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CaseFailure {
    /// The compared value, as named in the output.
    pub(crate) what: String,
    pub(crate) expected: String,
    pub(crate) got: String,
}

/// The result of one case.
pub(crate) type CaseResult = Result<(), CaseFailure>;

/// Fails if the values differ.
pub(crate) fn equal<T: PartialEq + Debug>(what: impl Display, expected: T, got: T) -> CaseResult {
    if expected == got {
        return Ok(());
    }
    Err(CaseFailure { what: what.to_string(), expected: format!("{expected:?}"), got: format!("{got:?}") })
}

/// Returns the failure of a case that expects success, for an error of the code under test.
pub(crate) fn broken(what: impl Display, error: impl Display) -> CaseFailure {
    CaseFailure { what: what.to_string(), expected: "success".to_owned(), got: error.to_string() }
}

/// Counts the results of cases and prints each failure at once.
pub(crate) struct SuiteReport {
    suite: &'static str,
    file: String,
    known: KnownFailures,
    is_json: bool,
    passed: usize,
    failed: usize,
    known_failed: usize,
}

impl SuiteReport {
    pub(crate) fn new(known: KnownFailures, is_json: bool) -> SuiteReport {
        SuiteReport { suite: "", file: String::new(), known, is_json, passed: 0, failed: 0, known_failed: 0 }
    }

    /// Starts a suite: the following cases belong to it.
    pub(crate) fn enter_suite(&mut self, suite: &'static str) {
        self.suite = suite;
    }

    /// Starts a file: the following cases belong to it.
    pub(crate) fn enter_file(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Runs one case. A panic counts as a failure.
    pub(crate) fn case(&mut self, name: &str, check: impl FnOnce() -> CaseResult) {
        let verdict = catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(broken("panic", text.unwrap_or_default()))
        });
        self.record(name, verdict);
    }

    fn record(&mut self, name: &str, verdict: CaseResult) {
        let known = self.known.reason(self.suite, &self.file, name);
        let (result, failure) = match (verdict, known) {
            (Ok(()), None) => ("passed", None),
            (Err(failure), None) => ("failed", Some(failure)),
            (Err(failure), Some(_)) => ("known-failure", Some(failure)),
            (Ok(()), Some(reason)) => {
                let expected = format!("a failure, as listed: {reason}");
                let failure = CaseFailure { what: "known failure".to_owned(), expected, got: "passed".to_owned() };
                ("failed", Some(failure))
            }
        };
        match result {
            "passed" => self.passed += 1,
            "known-failure" => self.known_failed += 1,
            _ => self.failed += 1,
        }
        self.print(name, result, failure.as_ref());
    }

    fn print(&self, name: &str, result: &str, failure: Option<&CaseFailure>) {
        if self.is_json {
            let mut line = serde_json::json!({
                "suite": self.suite, "file": self.file, "case": name, "result": result,
            });
            if let (Some(failure), Some(line)) = (failure, line.as_object_mut()) {
                line.insert("what".to_owned(), failure.what.as_str().into());
                line.insert("expected".to_owned(), failure.expected.as_str().into());
                line.insert("got".to_owned(), failure.got.as_str().into());
            }
            println!("{line}");
        } else if let (Some(failure), "failed") = (failure, result) {
            println!("FAILED {}/{}: {name}: {}", self.suite, self.file, failure.what);
            println!("    expected {}", failure.expected);
            println!("    got      {}", failure.got);
        }
    }

    /// Prints the totals: to standard error if the lines are JSON. Returns `true` if no case failed.
    pub(crate) fn finish(&self) -> bool {
        let mut totals = format!("{} passed, {} failed", self.passed, self.failed);
        if self.known_failed > 0 {
            totals.push_str(&format!(", {} known failures", self.known_failed));
        }
        if self.is_json {
            eprintln!("{totals}");
        } else {
            println!("{totals}");
        }
        self.failed == 0
    }

    /// Returns the number of cases that ran.
    pub(crate) fn cases(&self) -> usize {
        self.passed + self.failed + self.known_failed
    }
}
