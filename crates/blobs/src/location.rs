use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::error::BlobError;
use crate::file::BlobFile;
use crate::folder;
use crate::limits::BlobLimits;
use crate::writer::BlobWriter;

/// Most files that a list may have.
const MAX_FILES: usize = 1 << 20;

/// A folder of files: on disk, below an http or https URL, or below an s3 URL. Clones share their connections.
#[derive(Clone)]
pub struct BlobStore {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) limits: BlobLimits,
    cancelled: Arc<watch::Sender<bool>>,
    kind: Kind,
    name: String,
    prefix: Path,
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
    /// Amazon's tools (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`). Connects to nothing.
    pub fn open(location: &str, limits: BlobLimits) -> Result<Self, BlobError> {
        let (kind, name) = parse(location);
        let fault =
            |error: object_store::Error| BlobError::Location { location: name.clone(), reason: error.to_string() };
        let mut prefix = Path::default();
        let store: Arc<dyn ObjectStore> = match kind {
            Kind::Folder => {
                let folder = LocalFileSystem::new_with_prefix(&name);
                Arc::new(folder.map_err(|_missing| BlobError::NotFound { file: name.clone() })?)
            }
            Kind::Http => {
                let builder = HttpBuilder::new().with_url(location).with_client_options(limits.client());
                Arc::new(builder.with_retry(limits.retry()).build().map_err(fault)?)
            }
            Kind::S3 => {
                let path = location.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
                prefix = Path::from(path.map_or("", |(_bucket, path)| path));
                let builder = AmazonS3Builder::from_env().with_url(location).with_client_options(limits.client());
                Arc::new(builder.with_retry(limits.retry()).build().map_err(fault)?)
            }
        };
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("rhizome-blobs").enable_all().build();
        let runtime = Arc::new(runtime.map_err(|error| BlobError::Thread(Arc::new(error)))?);
        let cancelled = Arc::new(watch::Sender::new(false));
        Ok(Self { store, runtime, limits, cancelled, kind, name, prefix })
    }

    /// Opens a location, after creating it if it is a folder that does not exist.
    pub fn create(location: &str, limits: BlobLimits) -> Result<Self, BlobError> {
        let (kind, name) = parse(location);
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

    /// Returns the address, without credentials.
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
        let read = async {
            let answer = self.store.get_opts(&self.path(name), GetOptions::default()).await;
            let mut parts = answer.map_err(|error| BlobError::of(&file, error))?.into_stream();
            let mut bytes = Vec::new();
            while let Some(part) = parts.try_next().await.map_err(|error| BlobError::of(&file, error))? {
                if (bytes.len() + part.len()) as u64 > most {
                    return Err(BlobError::TooLong { file: file.clone(), most });
                }
                bytes.extend_from_slice(&part);
            }
            Ok(bytes)
        };
        self.run(&file, read)
    }

    /// Lists the files, in no order. A web server cannot be listed.
    pub fn list(&self) -> Result<Vec<BlobEntry>, BlobError> {
        self.writable()?;
        let listed = async {
            let mut found = self.store.list(Some(&self.prefix));
            let mut entries = Vec::new();
            while let Some(meta) = found.try_next().await.map_err(|error| BlobError::of(&self.name, error))? {
                let Some(name) = meta.location.prefix_match(&self.prefix) else { continue };
                let name = name.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
                entries.push(BlobEntry { name, length: meta.size });
                if entries.len() > MAX_FILES {
                    return Err(BlobError::TooLong { file: self.name.clone(), most: MAX_FILES as u64 });
                }
            }
            Ok(entries)
        };
        self.run(&self.name, listed)
    }

    /// Writes a whole file in place of an earlier one. Readers see the earlier or the new one.
    pub fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), BlobError> {
        self.writable()?;
        let file = self.address(name);
        if let Some(folder) = self.folder() {
            return folder::replace(folder, name, &bytes).map_err(|error| BlobError::disk(&file, error));
        }
        let path = self.path(name);
        let put = async { self.store.put(&path, bytes.into()).await.map_err(|error| BlobError::of(&file, error)) };
        self.run(&file, put).map(drop)
    }

    /// Starts a file that is written in parts.
    pub fn writer(&self, name: &str) -> Result<BlobWriter, BlobError> {
        self.writable()?;
        BlobWriter::start(self.clone(), name)
    }

    /// Removes what killed writers left of files whose names are `is_own`. Only folders have such files: a bucket needs a rule
    /// that ends incomplete uploads.
    pub fn remove_unfinished(&self, is_own: &dyn Fn(&str) -> bool) -> Result<(), BlobError> {
        let removed = self.folder().map(|folder| folder::remove_unfinished(folder, is_own));
        removed.transpose().map(drop).map_err(|error| BlobError::disk(&self.name, error))
    }

    /// Removes a file. A missing one is no error.
    pub fn remove(&self, name: &str) -> Result<(), BlobError> {
        self.writable()?;
        let file = self.address(name);
        let path = self.path(name);
        let removed = async { self.store.delete(&path).await.map_err(|error| BlobError::of(&file, error)) };
        match self.run(&file, removed) {
            Err(BlobError::NotFound { .. }) => Ok(()),
            other => other,
        }
    }

    pub(crate) fn path(&self, name: &str) -> Path {
        self.prefix.parts().chain(Path::from(name).parts()).collect()
    }

    pub(crate) fn address(&self, name: &str) -> String {
        format!("{}/{name}", self.name.trim_end_matches('/'))
    }

    /// Runs a call on this thread, within the time of a call.
    pub(crate) fn run<T>(&self, file: &str, call: impl Future<Output = Result<T, BlobError>>) -> Result<T, BlobError> {
        let time = self.limits.call();
        let mut cancelled = self.cancelled.subscribe();
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                _ = cancelled.wait_for(|cancelled| *cancelled) => Err(BlobError::Cancelled { file: file.to_owned() }),
                ended = timeout(time, call) => ended.unwrap_or_else(|_elapsed| {
                    Err(BlobError::Stopped { file: file.to_owned(), seconds: time.as_secs() })
                }),
            }
        })
    }

    /// Returns the path of a location on disk.
    pub(crate) fn folder(&self) -> Option<&FilePath> {
        (self.kind == Kind::Folder).then(|| FilePath::new(&self.name))
    }

    fn writable(&self) -> Result<(), BlobError> {
        match self.kind {
            Kind::Http => Err(BlobError::ReadOnly { location: self.name.clone() }),
            Kind::Folder | Kind::S3 => Ok(()),
        }
    }
}

/// Returns kind and printable name of a location.
fn parse(location: &str) -> (Kind, String) {
    match location.split_once("://") {
        Some((scheme @ ("http" | "https"), rest)) => (Kind::Http, format!("{scheme}://{}", without_credentials(rest))),
        Some((scheme @ "s3", rest)) => (Kind::S3, format!("{scheme}://{rest}")),
        Some(("file", path)) => (Kind::Folder, path.to_owned()),
        _ => (Kind::Folder, absolute(location)),
    }
}

fn without_credentials(rest: &str) -> &str {
    let host = rest.split_once('/').map_or(rest, |(host, _path)| host);
    host.rfind('@').map_or(rest, |at| rest.get(at + 1..).unwrap_or_default())
}

fn absolute(path: &str) -> String {
    let full = std::path::absolute(FilePath::new(path)).unwrap_or_else(|_unreadable| PathBuf::from(path));
    full.to_string_lossy().into_owned()
}
