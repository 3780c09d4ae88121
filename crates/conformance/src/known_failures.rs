//! The list of vectors that are known to fail, `tests/vectors/known-failures.yaml`.

#![allow(dead_code, reason = "the test programs that include this file use a part of it")]

use serde::Deserialize;
use std::path::Path;

/// An entry of the list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFailure {
    suite: String,
    file: String,
    /// The name of a case, or a prefix of names followed by `*`.
    case: String,
    reason: String,
}

impl KnownFailure {
    fn names(&self, suite: &str, file: &str, case: &str) -> bool {
        self.suite == suite
            && self.file == file
            && match self.case.strip_suffix('*') {
                Some(prefix) => case.starts_with(prefix),
                None => self.case == case,
            }
    }
}

/// Why the list cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KnownFailuresError {
    #[error("cannot read it: {0}")]
    Read(#[from] std::io::Error),
    #[error("expected a list of entries with suite, file, case and reason: {0}")]
    Syntax(#[from] serde_yaml_ng::Error),
}

/// The cases that are expected to fail.
#[derive(Debug, Default)]
pub(crate) struct KnownFailures {
    entries: Vec<KnownFailure>,
}

impl KnownFailures {
    pub(crate) fn read(path: &Path) -> Result<KnownFailures, KnownFailuresError> {
        Self::parse(&std::fs::read_to_string(path)?)
    }

    /// Returns the reason for which a case is expected to fail; `None` if it is not listed.
    pub(crate) fn reason(&self, suite: &str, file: &str, case: &str) -> Option<String> {
        self.entries.iter().find(|entry| entry.names(suite, file, case)).map(|entry| entry.reason.clone())
    }

    fn parse(text: &str) -> Result<KnownFailures, KnownFailuresError> {
        // A file with comments only is null.
        let entries: Option<Vec<KnownFailure>> = serde_yaml_ng::from_str(text)?;
        Ok(KnownFailures { entries: entries.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_full_names_and_prefixes() {
        let text = "# why\n- suite: evm\n  file: calls.json\n  case: \"deep*\"\n  reason: \"bridge: not yet\"\n\n- suite: state\n  \
                    file: a.json\n  case: one\n  reason: r\n";
        let list = KnownFailures::parse(text).unwrap();
        assert_eq!(list.reason("evm", "calls.json", "deeper"), Some("bridge: not yet".to_owned()));
        assert_eq!(list.reason("state", "a.json", "one"), Some("r".to_owned()));
        assert_eq!(list.reason("state", "a.json", "one more"), None);
        assert!(KnownFailures::parse("[]\n").unwrap().entries.is_empty());
    }

    #[test]
    fn rejects_unknown_syntax_and_incomplete_entries() {
        for text in ["suite: x", "- suite: x\n", "- suite: x\n  colour: y\n", "- suite: x\n  suite: y\n", "text"] {
            assert!(KnownFailures::parse(text).is_err(), "{text}");
        }
    }
}
