//! The list of vectors that are known to fail, `tests/vectors/known-failures.yaml`.
//!
//! The list is a small part of YAML: comments, blank lines, `[]` for an empty list, and entries of the four keys below
//! with values on one line, plain or in double quotes. Other YAML is rejected.

#![allow(dead_code, reason = "the test programs that include this file use a part of it")]

use std::path::Path;

/// An entry of the list.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
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

    fn field(&mut self, name: &str) -> Option<&mut String> {
        match name {
            "suite" => Some(&mut self.suite),
            "file" => Some(&mut self.file),
            "case" => Some(&mut self.case),
            "reason" => Some(&mut self.reason),
            _ => None,
        }
    }

    fn is_complete(&self) -> bool {
        [&self.suite, &self.file, &self.case, &self.reason].iter().all(|field| !field.is_empty())
    }
}

/// Why the list cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KnownFailuresError {
    #[error("cannot read it: {0}")]
    Read(#[from] std::io::Error),
    #[error("line {line}: expected `- suite: …` or one of the keys suite, file, case, reason")]
    Line { line: usize },
    #[error("line {line}: the entry before it lacks one of the keys suite, file, case, reason")]
    Incomplete { line: usize },
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
        let mut entries: Vec<KnownFailure> = Vec::new();
        let mut lines = 0;
        for (line, text) in (1..).zip(text.lines()) {
            lines = line;
            let content = text.trim();
            if content.is_empty() || content.starts_with('#') || content == "[]" {
                continue;
            }
            let pair = match content.strip_prefix("- ") {
                Some(pair) => {
                    check_last(&entries, line)?;
                    entries.push(KnownFailure::default());
                    pair
                }
                None => content,
            };
            let (key, value) = pair.split_once(": ").ok_or(KnownFailuresError::Line { line })?;
            let field = entries.last_mut().and_then(|entry| entry.field(key)).filter(|field| field.is_empty());
            let field = field.ok_or(KnownFailuresError::Line { line })?;
            let value = value.trim();
            let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            unquoted.unwrap_or(value).clone_into(field);
        }
        check_last(&entries, lines + 1)?;
        Ok(KnownFailures { entries })
    }
}

fn check_last(entries: &[KnownFailure], line: usize) -> Result<(), KnownFailuresError> {
    match entries.last() {
        Some(entry) if !entry.is_complete() => Err(KnownFailuresError::Incomplete { line }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_full_names_and_prefixes() {
        let text = "# why\n- suite: evm\n  file: calls.json\n  case: \"deep*\"\n  reason: bridge: not yet\n\n- suite: state\n  \
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
