//! Readers of golden data: files (plain or gzip-compressed) and fields of JSON objects.

#![allow(dead_code, reason = "the test programs that include this file use a part of it")]

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use rhizome_primitives::hex;
use serde_json::Value;

use crate::report::{CaseFailure, CaseResult, SuiteReport};

/// Errors of reading a file of golden data.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VectorError {
    #[error("{}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{}: {error}", .path.display())]
    Json { path: PathBuf, error: serde_json::Error },
}

/// Checks the cases of one file.
pub(crate) type FileCheck = fn(&Value, &mut SuiteReport) -> CaseResult;

/// Runs the files of a folder. `check_of` returns the check for a file name (without `.gz`). Names of files without a
/// check are printed to standard error.
pub(crate) fn run_files(
    folder: &Path,
    check_of: impl Fn(&str) -> Option<FileCheck>,
    report: &mut SuiteReport,
) -> Result<(), VectorError> {
    for path in json_files(folder)? {
        let name = plain_name(&path);
        let Some(check) = check_of(&name) else {
            eprintln!("not run: {}", path.display());
            continue;
        };
        report.enter_file(&name);
        let json = read_json(&path)?;
        if let Err(failure) = check(&json, report) {
            report.case("the file", || Err(failure));
        }
    }
    Ok(())
}

/// Returns the JSON files of a folder, plain or compressed, sorted by name.
pub(crate) fn json_files(folder: &Path) -> Result<Vec<PathBuf>, VectorError> {
    let failed = |error| VectorError::Read { path: folder.to_owned(), error };
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".json") || name.ends_with(".json.gz") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the name of a file without its folder and without `.gz`.
pub(crate) fn plain_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".gz").unwrap_or(&name).to_owned()
}

/// Reads a file and decompresses it if its name ends in `.gz`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, VectorError> {
    let failed = |error| VectorError::Read { path: path.to_owned(), error };
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(file).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        file.read_to_end(&mut bytes).map_err(failed)?;
    }
    Ok(bytes)
}

/// Reads a JSON file.
pub(crate) fn read_json(path: &Path) -> Result<Value, VectorError> {
    serde_json::from_slice(&read(path)?).map_err(|error| VectorError::Json { path: path.to_owned(), error })
}

/// Access to JSON values of golden data. A missing member or a value of a different type fails the case.
pub(crate) trait VectorFields {
    /// Returns a member of an object.
    fn member(&self, name: &str) -> Result<&Value, CaseFailure>;
    /// Returns a member; `None` if it is missing or null.
    fn optional(&self, name: &str) -> Option<&Value>;
    /// Returns the value as a list.
    fn items(&self) -> Result<&[Value], CaseFailure>;
    /// Returns the value as text.
    fn text(&self) -> Result<&str, CaseFailure>;
    /// Returns the value as bytes: hex with or without prefix, or a repeated byte `{"rep": "ab", "n": 3}`.
    fn bytes(&self) -> Result<Vec<u8>, CaseFailure>;
    /// Returns the value of a JSON number.
    fn number(&self) -> Result<u64, CaseFailure>;
    /// Returns the value of a JSON boolean.
    fn boolean(&self) -> Result<bool, CaseFailure>;
    /// Parses text as a `T`, for integers in decimal or hex notation.
    fn parsed<T: std::str::FromStr>(&self) -> Result<T, CaseFailure>;
}

impl VectorFields for Value {
    fn member(&self, name: &str) -> Result<&Value, CaseFailure> {
        self.get(name).ok_or_else(|| unusable(self, &format!("an object with `{name}`")))
    }

    fn optional(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !value.is_null())
    }

    fn items(&self) -> Result<&[Value], CaseFailure> {
        self.as_array().map(Vec::as_slice).ok_or_else(|| unusable(self, "a list"))
    }

    fn text(&self) -> Result<&str, CaseFailure> {
        self.as_str().ok_or_else(|| unusable(self, "text"))
    }

    fn bytes(&self) -> Result<Vec<u8>, CaseFailure> {
        let decode = |text: &str| hex::decode(text.strip_prefix("0x").unwrap_or(text)).ok();
        let bytes = match self {
            Value::String(text) => decode(text),
            Value::Object(_) => {
                match (self.get("rep").and_then(Value::as_str), self.get("n").and_then(Value::as_u64)) {
                    (Some(text), Some(times)) => decode(text).map(|bytes| bytes.repeat(times as usize)),
                    _ => None,
                }
            }
            _ => None,
        };
        bytes.ok_or_else(|| unusable(self, "bytes in hex"))
    }

    fn number(&self) -> Result<u64, CaseFailure> {
        self.as_u64().ok_or_else(|| unusable(self, "a number"))
    }

    fn boolean(&self) -> Result<bool, CaseFailure> {
        self.as_bool().ok_or_else(|| unusable(self, "true or false"))
    }

    fn parsed<T: std::str::FromStr>(&self) -> Result<T, CaseFailure> {
        self.text()?.parse().map_err(|_unreadable| unusable(self, std::any::type_name::<T>()))
    }
}

fn unusable(value: &Value, expected: &str) -> CaseFailure {
    let mut got = value.to_string();
    if got.len() > 200 {
        got.truncate((0..=200).rev().find(|at| got.is_char_boundary(*at)).unwrap_or(0));
        got.push('…');
    }
    CaseFailure { what: "golden data".to_owned(), expected: expected.to_owned(), got }
}
