use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::GetOptions;
use tokio::sync::watch;

use crate::error::{BlobError, cause};
use crate::file::BlobFile;
use crate::folder::Folder;
use crate::limits::BlobLimits;
use crate::server::Server;
use crate::writer::BlobWriter;

/// Most files that a list may have.
const MAX_FILES: usize = 1 << 20;

/// A folder of files: on disk, below an http or https URL, or below an s3 URL. Clones share their connections.
#[derive(Clone)]
pub struct BlobStore {
    pub(crate) source: Source,
    cancelled: Arc<watch::Sender<bool>>,
    name: String,
}

/// Place of the files.
#[derive(Clone)]
pub(crate) enum Source {
    Folder(Folder),
    Server(Arc<Server>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    Http,
    S3,
}

/// A file of a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobEntry {
    /// Name below the location.
    pub name: String,
    /// Length, in bytes.
    pub length: u64,
}

impl BlobStore {
    /// Opens a folder, an http or https URL, or `s3://bucket/prefix`. Access to S3 comes from the environment variables of
    /// Amazon's tools (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`). Credentials in an http or
    /// https URL are sent as Basic authorization. Connects to nothing.
    pub fn open(location: &str, limits: BlobLimits) -> Result<Self, BlobError> {
        let Address { kind, name, url, credentials } = Address::of(location);
        let fault = |error: object_store::Error| BlobError::Location { location: name.clone(), reason: cause(&error) };
        let cancelled = Arc::new(watch::Sender::new(false));
        let server = |server: Result<Server, _>| server.map(|server| Source::Server(server.into())).map_err(fault);
        let source = match kind {
            Kind::Folder => {
                let folder = Folder::open(PathBuf::from(&name));
                Source::Folder(folder.map_err(|_missing| BlobError::NotFound { file: name.clone() })?)
            }
            Kind::Http => server(Server::http(&url, credentials, limits, Arc::clone(&cancelled)))?,
            Kind::S3 => server(Server::s3(&url, limits, Arc::clone(&cancelled)))?,
        };
        Ok(Self { source, cancelled, name })
    }

    /// Opens a location, after creating it if it is a folder that does not exist.
    pub fn create(location: &str, limits: BlobLimits) -> Result<Self, BlobError> {
        let Address { kind, name, .. } = Address::of(location);
        if kind == Kind::Folder {
            std::fs::create_dir_all(&name)
                .map_err(|error| BlobError::Location { location: name.clone(), reason: error.to_string() })?;
        }
        let opened = Self::open(location, limits)?;
        opened.writable()?;
        Ok(opened)
    }

    /// Ends the running calls of this location and its clones, and all later ones until [`BlobStore::resume`], from any thread.
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    /// Accepts calls again.
    pub fn resume(&self) {
        self.cancelled.send_replace(false);
    }

    /// Returns the address, without credentials and query.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a file of a known length. Reads nothing.
    pub fn file(&self, name: &str, length: u64) -> BlobFile {
        BlobFile::new(self.clone(), name, length)
    }

    /// Reads a whole file of at most `most` bytes.
    pub fn read_all(&self, name: &str, most: u64) -> Result<Vec<u8>, BlobError> {
        let file = self.address(name);
        let too_long = || BlobError::TooLong { file: file.clone(), most };
        let server = match &self.source {
            Source::Folder(folder) => {
                let bytes = self.on_disk(&file, || folder.read_start(name, most.saturating_add(1)))?;
                return if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) };
            }
            Source::Server(server) => server,
        };
        server.run(&file, async {
            let answer = server.get(name, GetOptions::default()).await;
            let mut parts = answer.map_err(|error| BlobError::of(&file, error))?.into_stream();
            let mut bytes = Vec::new();
            let ended = |error| BlobError::Interrupted { file: file.clone(), source: Arc::new(error) };
            while let Some(part) = parts.try_next().await.map_err(ended)? {
                if (bytes.len() + part.len()) as u64 > most {
                    return Err(too_long());
                }
                bytes.extend_from_slice(&part);
            }
            Ok(bytes)
        })
    }

    /// Lists the files, in no order. A web server cannot be listed.
    pub fn list(&self) -> Result<Vec<BlobEntry>, BlobError> {
        self.writable()?;
        let files = match &self.source {
            Source::Folder(folder) => self.on_disk(&self.name, || folder.list(MAX_FILES))?,
            Source::Server(server) => server.run(&self.name, async {
                server.list(MAX_FILES).await.map_err(|error| BlobError::of(&self.name, error))
            })?,
        };
        if files.len() > MAX_FILES {
            return Err(BlobError::TooLong { file: self.name.clone(), most: MAX_FILES as u64 });
        }
        Ok(files.into_iter().map(|(name, length)| BlobEntry { name, length }).collect())
    }

    /// Writes a whole file in place of an earlier one. Readers see the earlier or the new one.
    pub fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), BlobError> {
        self.writable()?;
        let file = self.address(name);
        match &self.source {
            Source::Folder(folder) => {
                self.check_cancelled(&file)?;
                folder.replace(name, &bytes).map_err(|error| BlobError::disk(&file, error))
            }
            Source::Server(server) => {
                server.run(&file, async { server.put(name, bytes).await.map_err(|error| BlobError::of(&file, error)) })
            }
        }
    }

    /// Starts a file that is written in parts.
    pub fn writer(&self, name: &str) -> Result<BlobWriter, BlobError> {
        self.writable()?;
        BlobWriter::start(self, name)
    }

    /// Removes what killed writers left of files whose names are `is_own`. Only folders have such files: a bucket needs a rule
    /// that ends incomplete uploads.
    pub fn remove_unfinished(&self, is_own: &dyn Fn(&str) -> bool) -> Result<(), BlobError> {
        match &self.source {
            Source::Folder(folder) => {
                folder.remove_unfinished(is_own).map_err(|error| BlobError::disk(&self.name, error))
            }
            Source::Server(_) => Ok(()),
        }
    }

    /// Removes a file. A missing one is no error.
    pub fn remove(&self, name: &str) -> Result<(), BlobError> {
        self.writable()?;
        let file = self.address(name);
        let removed = match &self.source {
            Source::Folder(folder) => self.on_disk(&file, || folder.remove(name)),
            Source::Server(server) => {
                server.run(&file, async { server.delete(name).await.map_err(|error| BlobError::of(&file, error)) })
            }
        };
        match removed {
            Err(BlobError::NotFound { .. }) => Ok(()),
            other => other,
        }
    }

    pub(crate) fn address(&self, name: &str) -> String {
        format!("{}/{name}", self.name.trim_end_matches('/'))
    }

    /// Runs a call on a folder, unless calls are cancelled. `file` is named in errors.
    pub(crate) fn on_disk<T>(&self, file: &str, call: impl FnOnce() -> io::Result<T>) -> Result<T, BlobError> {
        self.check_cancelled(file)?;
        call().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => BlobError::NotFound { file: file.to_owned() },
            _ => BlobError::Unreadable { file: file.to_owned(), source: Arc::new(error) },
        })
    }

    /// Fails if calls are cancelled.
    pub(crate) fn check_cancelled(&self, file: &str) -> Result<(), BlobError> {
        match *self.cancelled.borrow() {
            true => Err(BlobError::Cancelled { file: file.to_owned() }),
            false => Ok(()),
        }
    }

    fn writable(&self) -> Result<(), BlobError> {
        match &self.source {
            Source::Server(server) if !server.is_bucket() => Err(BlobError::ReadOnly { location: self.name.clone() }),
            _ => Ok(()),
        }
    }
}

/// Parts of a location.
struct Address<'a> {
    kind: Kind,
    /// Path, or URL without credentials and query, for errors.
    name: String,
    /// URL without credentials.
    url: String,
    /// User and password of the URL, undecoded. Empty if it has none.
    credentials: &'a str,
}

impl<'a> Address<'a> {
    /// Splits a location. Any text without a known scheme is a path.
    fn of(location: &'a str) -> Self {
        let (scheme, rest) = location.split_once("://").unwrap_or_default();
        let mut url = scheme.to_ascii_lowercase();
        let kind = match url.as_str() {
            "http" | "https" => Kind::Http,
            "s3" => Kind::S3,
            _ => Kind::Folder,
        };
        if kind == Kind::Folder {
            let name = if url == "file" { rest.to_owned() } else { absolute(location) };
            return Self { kind, name, url, credentials: "" };
        }
        let end = |text: &str, marks: &[u8]| text.bytes().position(|byte| marks.contains(&byte)).unwrap_or(text.len());
        let (authority, _path) = rest.split_at(end(rest, b"/?#"));
        let host = authority.rfind('@').map_or(0, |at| at + 1);
        let credentials = rest.get(..host.saturating_sub(1)).unwrap_or_default();
        url.push_str("://");
        url.push_str(rest.get(host..).unwrap_or_default());
        let mut name = url.clone();
        if kind == Kind::Http {
            name.truncate(end(&url, b"?#"));
        }
        Self { kind, name, url, credentials }
    }
}

fn absolute(path: &str) -> String {
    let full = std::path::absolute(FilePath::new(path)).unwrap_or_else(|_unreadable| PathBuf::from(path));
    full.to_string_lossy().into_owned()
}
