use std::ops::Range;

use futures_util::TryStreamExt;
use object_store::client::HttpError;
use object_store::{Error, GetOptions, GetRange, GetResult};
use parking_lot::Mutex;

use crate::error::BlobError;
use crate::folder::FileIdentity;
use crate::location::{BlobStore, Source};
use crate::server::Server;

/// A file of a known length, read in ranges. All reads are of the same version of the file, as far as entity tag, time and length show.
pub struct BlobFile {
    location: BlobStore,
    name: String,
    length: u64,
    /// Version of the first read.
    version: Mutex<Option<Version>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Version {
    Tag(String),
    Modified(i64),
    Identity(FileIdentity),
}

impl Version {
    fn of(answer: &GetResult) -> Self {
        let modified = || Self::Modified(answer.meta.last_modified.timestamp_millis());
        answer.meta.e_tag.clone().map_or_else(modified, Self::Tag)
    }
}

impl BlobFile {
    pub(crate) fn new(location: BlobStore, name: &str, length: u64) -> Self {
        Self { location, name: name.to_owned(), length, version: Mutex::default() }
    }

    /// Returns the address of the file.
    pub fn address(&self) -> String {
        self.location.address(&self.name)
    }

    /// Returns the expected length, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads a range: exactly its bytes, or an error.
    pub fn read(&self, range: Range<u64>) -> Result<Vec<u8>, BlobError> {
        let file = self.address();
        if range.end > self.length {
            return Err(BlobError::Length { file, expected: range.end, actual: self.length });
        }
        if range.is_empty() {
            return Ok(Vec::new());
        }
        match &self.location.source {
            Source::Folder(folder) => {
                let (identity, bytes) =
                    self.location.on_disk(&file, || folder.read_range(&self.name, range.clone()))?;
                self.check_version(&file, Version::Identity(identity), identity.length)?;
                complete(&file, range, bytes)
            }
            Source::Server(server) => server.run(&file, self.receive(server, &file, range)),
        }
    }

    async fn receive(&self, server: &Server, file: &str, range: Range<u64>) -> Result<Vec<u8>, BlobError> {
        // A weak tag matches nothing in a condition: it is compared below.
        let if_match = match &*self.version.lock() {
            Some(Version::Tag(tag)) if !tag.starts_with("W/") => Some(tag.clone()),
            _ => None,
        };
        let options = GetOptions { range: Some(GetRange::Bounded(range.clone())), if_match, ..GetOptions::default() };
        let answer = match server.get(&self.name, options.clone()).await {
            Ok(answer) => answer,
            Err(error) => return Err(self.without_range(server, file, options, error).await),
        };
        self.check_version(file, Version::of(&answer), answer.meta.size)?;
        let expected = range.end.saturating_sub(range.start);
        let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
        let mut parts = answer.into_stream();
        while let Some(part) = parts.try_next().await.map_err(|error| BlobError::of(file, error))? {
            if (bytes.len() + part.len()) as u64 > expected {
                return Err(BlobError::TooLong { file: file.to_owned(), most: expected });
            }
            bytes.extend_from_slice(&part);
        }
        complete(file, range, bytes)
    }

    /// Finds out why a range was not served: a server that sends the file, but again no part of it, ignores ranges.
    async fn without_range(&self, server: &Server, file: &str, options: GetOptions, error: Error) -> BlobError {
        let has_answer =
            matches!(error, Error::Generic { .. } | Error::NotSupported { .. }) && !is_connection_fault(&error);
        if !has_answer {
            return BlobError::of(file, error);
        }
        match server.get(&self.name, GetOptions::default()).await {
            Ok(answer) if answer.meta.size != self.length => self.wrong_length(file, answer.meta.size),
            Ok(_) if server.get(&self.name, options).await.is_err() => BlobError::NoRanges { file: file.to_owned() },
            _ => BlobError::of(file, error),
        }
    }

    fn check_version(&self, file: &str, version: Version, length: u64) -> Result<(), BlobError> {
        let is_first = {
            let mut first = self.version.lock();
            let is_first = first.is_none();
            if *first.get_or_insert_with(|| version.clone()) != version {
                return Err(BlobError::Changed { file: file.to_owned() });
            }
            is_first
        };
        match length == self.length {
            true => Ok(()),
            false if is_first => Err(self.wrong_length(file, length)),
            false => Err(BlobError::Changed { file: file.to_owned() }),
        }
    }

    fn wrong_length(&self, file: &str, actual: u64) -> BlobError {
        BlobError::Length { file: file.to_owned(), expected: self.length, actual }
    }
}

/// Returns the bytes of a range, or an error if some are missing.
fn complete(file: &str, range: Range<u64>, bytes: Vec<u8>) -> Result<Vec<u8>, BlobError> {
    let received = bytes.len() as u64;
    match received == range.end.saturating_sub(range.start) {
        true => Ok(bytes),
        false => Err(BlobError::Incomplete { file: file.to_owned(), range, received }),
    }
}

/// Whether a request failed before its answer: no connection, or no answer in time.
fn is_connection_fault(error: &Error) -> bool {
    let first: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(first), |error| error.source()).any(|error| error.is::<HttpError>())
}
