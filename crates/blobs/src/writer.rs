use object_store::{MultipartUpload, ObjectStoreExt};

use crate::error::BlobError;
use crate::folder;
use crate::location::BlobStore;

/// Length of an uploaded part, in bytes. S3 accepts at least 5 MiB and at most 10,000 parts.
const PART_BYTES: usize = 16 << 20;

/// A file that is being written in parts. It exists once it is finished; until then readers see the earlier one.
pub struct BlobWriter {
    location: BlobStore,
    name: String,
    file: String,
    upload: Box<dyn MultipartUpload>,
    part: Vec<u8>,
    length: u64,
}

impl BlobWriter {
    pub(crate) fn start(location: BlobStore, name: &str) -> Result<Self, BlobError> {
        let file = location.address(name);
        let path = location.path(name);
        let store = &location.store;
        let started = async { store.put_multipart(&path).await.map_err(|error| BlobError::of(&file, error)) };
        let upload = location.run(&file, started)?;
        Ok(Self { location, name: name.to_owned(), file, upload, part: Vec::new(), length: 0 })
    }

    /// Returns the number of bytes so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.length += bytes.len() as u64;
        self.part.extend_from_slice(bytes);
        if self.part.len() >= PART_BYTES { self.send() } else { Ok(()) }
    }

    /// Completes the file. It is on disk afterwards.
    pub fn finish(mut self) -> Result<(), BlobError> {
        if !self.part.is_empty() {
            self.send()?;
        }
        let Self { location, name, file, mut upload, .. } = self;
        let ended = async { upload.complete().await.map_err(|error| BlobError::of(&file, error)) };
        location.run(&file, ended)?;
        let synced = location.folder().map(|folder| folder::sync_file(folder, &name));
        synced.transpose().map(drop).map_err(|error| BlobError::disk(&file, error))
    }

    /// Drops the parts that were written.
    pub fn abort(self) -> Result<(), BlobError> {
        let Self { location, file, mut upload, .. } = self;
        let ended = async { upload.abort().await.map_err(|error| BlobError::of(&file, error)) };
        location.run(&file, ended)
    }

    fn send(&mut self) -> Result<(), BlobError> {
        let part = std::mem::take(&mut self.part);
        let sent = self.upload.put_part(part.into());
        let file = &self.file;
        self.location.run(file, async { sent.await.map_err(|error| BlobError::of(file, error)) })
    }
}
