//! Results of calls at one block of one chain, in a file that several runs share.
//!
//! One line for each result: checksum, method, parameters, result, with one blank between them. Lines are only added. The process
//! that has the lock of the file adds to it; others read it. A file with a damaged line is emptied.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rhizome_primitives::{B256, hex, keccak256};

use crate::call::RemoteCall;
use crate::error::ForkError;

/// Size from which on nothing is added.
const MAX_BYTES: u64 = 4 << 30;
/// Longest line. A result is shorter: the client limits answers.
const MAX_LINE: u64 = 64 << 20;
/// Bytes of the Keccak hash of a line that are its checksum.
const CHECKSUM_BYTES: usize = 8;

/// A cache file, open.
pub(crate) struct CacheFile {
    path: PathBuf,
    content: Mutex<CacheContent>,
}

struct CacheContent {
    file: File,
    /// Position and length of the result of each call, by the Keccak hash of the call.
    results: HashMap<B256, (u64, u32)>,
    /// Position of the next line; `None` if another process adds to the file.
    end: Option<u64>,
}

/// State of a cache file when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    /// A file without a fault, or none.
    Whole,
    /// A damaged file, which is empty now.
    Damaged,
    /// A file that another process adds to.
    Shared,
}

impl CacheFile {
    /// Opens a cache file, which is made if it is absent.
    pub(crate) fn open(path: &Path) -> Result<(Self, FileState), ForkError> {
        let failed = |source| ForkError::Cache { file: path.display().to_string(), source };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let is_locked = file.try_lock().is_ok();
        let read = read_lines(&file).map_err(failed)?;
        let (results, end, found) = match (read, is_locked) {
            (Lines { results, end, is_whole: true }, true) => (results, Some(end), FileState::Whole),
            // A process that was killed may leave a part of a line at the end.
            (Lines { results, end, is_whole: false }, true) if is_last_line(&file, end).map_err(failed)? => {
                file.set_len(end).map_err(failed)?;
                (results, Some(end), FileState::Whole)
            }
            (_, true) => {
                file.set_len(0).map_err(failed)?;
                (HashMap::new(), Some(0), FileState::Damaged)
            }
            (Lines { results, .. }, false) => (results, None, FileState::Shared),
        };
        let content = Mutex::new(CacheContent { file, results, end });
        Ok((Self { path: path.to_path_buf(), content }, found))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the result of a call; `None` if it is not in the file.
    pub(crate) fn get(&self, call: &RemoteCall) -> Option<String> {
        let mut content = self.content.lock();
        let (position, length) = *content.results.get(&key(call))?;
        let mut result = vec![0; usize::try_from(length).ok()?];
        content.file.seek(SeekFrom::Start(position)).ok()?;
        content.file.read_exact(&mut result).ok()?;
        String::from_utf8(result).ok()
    }

    /// Adds the result of a call. A file that cannot be written stays as it is: the result is asked for again.
    pub(crate) fn put(&self, call: &RemoteCall, result: &str) {
        let mut content = self.content.lock();
        let Some(end) = content.end.filter(|end| *end < MAX_BYTES) else { return };
        if content.results.contains_key(&key(call)) {
            return;
        }
        let text = format!("{} {} ", call.method, call.params);
        let line = format!("{} {text}{result}\n", checksum(&[text.as_bytes(), result.as_bytes()].concat()));
        let written = content.file.seek(SeekFrom::Start(end)).and_then(|_| content.file.write_all(line.as_bytes()));
        if written.is_err() {
            // A part of the line may be there. Without its end it does not count.
            let _cut = content.file.set_len(end);
            content.end = None;
            return;
        }
        let position = end + line.len() as u64 - result.len() as u64 - 1;
        if let Ok(length) = u32::try_from(result.len()) {
            content.results.insert(key(call), (position, length));
        }
        content.end = Some(end + line.len() as u64);
    }
}

fn key(call: &RemoteCall) -> B256 {
    keccak256([call.method.as_bytes(), b" ", call.params.as_bytes()].concat())
}

fn checksum(line: &[u8]) -> String {
    hex::encode(keccak256(line).get(..CHECKSUM_BYTES).unwrap_or_default())
}

struct Lines {
    results: HashMap<B256, (u64, u32)>,
    /// Position behind the last good line.
    end: u64,
    /// Whether no other line follows.
    is_whole: bool,
}

/// Reads the lines up to the first damaged one.
fn read_lines(file: &File) -> io::Result<Lines> {
    let mut lines = Lines { results: HashMap::new(), end: 0, is_whole: true };
    let mut reader = BufReader::with_capacity(1 << 20, file);
    reader.seek(SeekFrom::Start(0))?;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(lines);
        }
        let Some((call, result)) = parse_line(&line) else {
            lines.is_whole = false;
            return Ok(lines);
        };
        let position = lines.end + read - 1 - result as u64;
        // Bounded by MAX_LINE.
        lines.results.insert(call, (position, result as u32));
        lines.end += read;
    }
}

/// Returns the hash of the call of a line, and the length of its result; `None` if the line is damaged.
fn parse_line(line: &[u8]) -> Option<(B256, usize)> {
    let text = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (sum, rest) = text.split_once(' ')?;
    if sum != checksum(rest.as_bytes()) {
        return None;
    }
    // Parameters and results have blanks in strings only: the call ends where its array does.
    let (method, rest) = rest.split_once(' ')?;
    let mut parameters = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
    parameters.next()?.ok()?;
    let (params, result) = rest.split_at_checked(parameters.byte_offset())?;
    let call = RemoteCall { method: method.into(), params: params.into() };
    Some((key(&call), result.strip_prefix(' ')?.len()))
}

/// Whether the line at a position is the last one, and has no end.
fn is_last_line(file: &File, position: u64) -> io::Result<bool> {
    let mut reader = BufReader::new(file);
    reader.seek(SeekFrom::Start(position))?;
    let mut line = Vec::new();
    reader.take(MAX_LINE).read_until(b'\n', &mut line)?;
    Ok(line.last() != Some(&b'\n') && position + line.len() as u64 == file.metadata()?.len())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn call(number: u64) -> RemoteCall {
        RemoteCall::new("eth_getBalance", &json!([format!("{number:#x}"), { "blockHash": "0x a" }]))
    }

    fn filled(path: &Path) {
        let (file, found) = CacheFile::open(path).unwrap();
        assert_eq!(found, FileState::Whole);
        for number in 0..3 {
            file.put(&call(number), &format!(r#"{{"value":"{number} [ ]"}}"#));
            file.put(&call(number), "\"a second result is ignored\"");
        }
    }

    fn results(file: &CacheFile) -> Vec<Option<String>> {
        (0..3).map(|number| file.get(&call(number))).collect()
    }

    #[test]
    fn results_are_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache");
        filled(&path);
        let (file, found) = CacheFile::open(&path).unwrap();
        assert_eq!(found, FileState::Whole);
        assert_eq!(results(&file)[2].as_deref(), Some(r#"{"value":"2 [ ]"}"#));
        assert_eq!(file.get(&call(3)), None);
        file.put(&call(3), "null");
        assert_eq!(file.get(&call(3)).as_deref(), Some("null"));
    }

    #[test]
    fn a_second_process_reads_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache");
        filled(&path);
        let (first, _) = CacheFile::open(&path).unwrap();
        let (second, found) = CacheFile::open(&path).unwrap();
        assert_eq!(found, FileState::Shared);
        second.put(&call(7), "\"0x7\"");
        assert_eq!((second.get(&call(7)), second.get(&call(1)).is_some()), (None, true));
        drop((first, second));
        assert_eq!(CacheFile::open(&path).unwrap().0.get(&call(7)), None);
    }

    #[test]
    fn a_damaged_file_is_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache");
        filled(&path);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() - 1 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            let (file, found) = CacheFile::open(&path).unwrap();
            assert_eq!((found, results(&file)), (FileState::Damaged, vec![None; 3]), "{at}");
            assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        }
    }

    #[test]
    fn a_line_without_its_end_is_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache");
        filled(&path);
        let whole = fs::read(&path).unwrap();
        let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for length in [second + 1, second + 20, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            let (file, found) = CacheFile::open(&path).unwrap();
            assert_eq!(found, FileState::Whole);
            assert!(results(&file)[0].is_some() && results(&file)[2].is_none());
            file.put(&call(2), "\"again\"");
            drop(file);
            assert_eq!(results(&CacheFile::open(&path).unwrap().0)[2].as_deref(), Some("\"again\""));
        }
    }
}
