use std::sync::Arc;

use object_store::MultipartUpload;

use crate::error::BlobError;
use crate::folder::StagedFile;
use crate::location::{BlobStore, Source};
use crate::server::Server;

/// Length of an uploaded part, in bytes. S3 accepts at least 5 MiB and at most 10,000 parts.
const PART_BYTES: usize = 16 << 20;

/// A file that is being written in parts. It exists once it is finished; until then readers see the earlier one.
pub struct BlobWriter {
    location: BlobStore,
    file: String,
    target: BlobTarget,
    length: u64,
}

enum BlobTarget {
    Folder(StagedFile),
    Bucket(Upload),
}

/// An upload, with the bytes of the next part.
struct Upload {
    server: Arc<Server>,
    parts: Box<dyn MultipartUpload>,
    next: Vec<u8>,
}

impl BlobWriter {
    pub(crate) fn start(location: &BlobStore, name: &str) -> Result<Self, BlobError> {
        let file = location.address(name);
        let target = match &location.source {
            Source::Folder(folder) => {
                BlobTarget::Folder(folder.stage(name).map_err(|error| BlobError::disk(&file, error))?)
            }
            Source::Server(server) => {
                let started = async { server.upload(name).await.map_err(|error| BlobError::of(&file, error)) };
                let parts = server.run(&file, started)?;
                BlobTarget::Bucket(Upload { server: Arc::clone(server), parts, next: Vec::new() })
            }
        };
        Ok(Self { location: location.clone(), file, target, length: 0 })
    }

    /// Returns the number of bytes so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.location.check_cancelled(&self.file)?;
        self.length += bytes.len() as u64;
        match &mut self.target {
            BlobTarget::Folder(staged) => staged.write(bytes).map_err(|error| BlobError::disk(&self.file, error)),
            BlobTarget::Bucket(upload) => upload.write(&self.file, bytes),
        }
    }

    /// Completes the file. It is on disk afterwards.
    pub fn finish(self) -> Result<(), BlobError> {
        match self.target {
            BlobTarget::Folder(staged) => staged.finish().map_err(|error| BlobError::disk(&self.file, error)),
            BlobTarget::Bucket(upload) => upload.finish(&self.file),
        }
    }

    /// Drops the parts that were written.
    pub fn abort(self) -> Result<(), BlobError> {
        match self.target {
            BlobTarget::Folder(staged) => {
                drop(staged);
                Ok(())
            }
            BlobTarget::Bucket(upload) => upload.abort(&self.file),
        }
    }
}

impl Upload {
    fn write(&mut self, file: &str, bytes: &[u8]) -> Result<(), BlobError> {
        self.next.extend_from_slice(bytes);
        if self.next.len() >= PART_BYTES { self.send(file) } else { Ok(()) }
    }

    fn send(&mut self, file: &str) -> Result<(), BlobError> {
        let part = std::mem::take(&mut self.next);
        let sent = self.parts.put_part(part.into());
        self.server.run(file, async { sent.await.map_err(|error| BlobError::of(file, error)) })
    }

    fn finish(mut self, file: &str) -> Result<(), BlobError> {
        if !self.next.is_empty() {
            self.send(file)?;
        }
        let Self { server, mut parts, .. } = self;
        server.run(file, async { parts.complete().await.map(drop).map_err(|error| BlobError::of(file, error)) })
    }

    fn abort(self, file: &str) -> Result<(), BlobError> {
        let Self { server, mut parts, .. } = self;
        server.run(file, async { parts.abort().await.map_err(|error| BlobError::of(file, error)) })
    }
}
