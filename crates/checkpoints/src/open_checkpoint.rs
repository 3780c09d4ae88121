use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use rhizome_blobs::{BlobError, BlobStore, PublisherKey};

use crate::error::CheckpointError;
use crate::manifest::{CheckpointManifest, LATEST, MAX_MANIFEST_BYTES, is_manifest_name};
use crate::piece::{FilePiece, pieces, read_piece};
use crate::transfer::{PieceBytes, Transferred, transfer};

/// Pauses before a piece is read again.
const READ_PAUSES: [Duration; 3] = [Duration::from_millis(50), Duration::from_millis(100), Duration::from_millis(200)];
/// Longest name of a checkpoint, in bytes.
const MAX_NAME_BYTES: u64 = 128;

/// A checkpoint whose manifest was read and whose signature is right.
pub struct OpenCheckpoint {
    location: BlobStore,
    manifest: CheckpointManifest,
    publisher: PublisherKey,
}

impl OpenCheckpoint {
    /// Opens a checkpoint by name, or the latest one. Fails if another key than the trusted one signed it.
    pub fn open(
        location: &BlobStore,
        name: Option<&str>,
        trusted: Option<PublisherKey>,
    ) -> Result<Self, CheckpointError> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => latest(location)?,
        };
        if !is_manifest_name(&name) {
            return Err(CheckpointError::Name { name });
        }
        let bytes = location.read_all(&name, MAX_MANIFEST_BYTES)?;
        let file = format!("{}/{name}", location.name());
        let (manifest, publisher) = CheckpointManifest::decode(&file, &bytes, trusted)?;
        if manifest.name() != name {
            return Err(CheckpointError::damaged(&file, "the manifest is that of another block"));
        }
        Ok(Self { location: location.clone(), manifest, publisher })
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &CheckpointManifest {
        &self.manifest
    }

    /// Returns the key that signed.
    pub fn publisher(&self) -> PublisherKey {
        self.publisher
    }

    /// Returns the address of the manifest, without credentials.
    pub fn address(&self) -> String {
        format!("{}/{}", self.location.name(), self.manifest.name())
    }

    /// Reads all pieces and compares each with its hash. `report` may stop.
    pub fn verify(
        &self,
        report: &(dyn Fn(Transferred) -> ControlFlow<()> + Sync),
    ) -> Result<Transferred, CheckpointError> {
        let all = self.manifest.files.iter().flat_map(pieces);
        let once: BTreeMap<&str, FilePiece<'_>> = all.map(|piece| (piece.hash, piece)).collect();
        let once: Vec<FilePiece<'_>> = once.into_values().collect();
        let total = once.iter().map(|piece| piece.length).sum();
        let read = |piece: &FilePiece<'_>| {
            self.read(piece).map(|bytes| PieceBytes { length: piece.length, moved: bytes.len() as u64 })
        };
        transfer(&once, total, read, report)
    }

    /// Reads a piece: exactly the bytes that the manifest names. Reads it again if they were cut or changed on the way.
    pub(crate) fn read(&self, piece: &FilePiece<'_>) -> Result<Vec<u8>, CheckpointError> {
        for pause in READ_PAUSES {
            match read_piece(&self.location, piece) {
                Err(CheckpointError::Damaged { .. } | CheckpointError::Blob(BlobError::Interrupted { .. })) => {
                    thread::sleep(pause);
                }
                read => return read,
            }
        }
        read_piece(&self.location, piece)
    }
}

/// Opens all checkpoints of a folder or a bucket, lowest block first. A web server cannot be listed.
pub fn list(location: &BlobStore, trusted: Option<PublisherKey>) -> Result<Vec<OpenCheckpoint>, CheckpointError> {
    let mut names: Vec<String> = location.list()?.into_iter().map(|entry| entry.name).collect();
    names.retain(|name| is_manifest_name(name));
    names.sort_unstable();
    names.iter().map(|name| OpenCheckpoint::open(location, Some(name), trusted)).collect()
}

fn latest(location: &BlobStore) -> Result<String, CheckpointError> {
    let name = location.read_all(LATEST, MAX_NAME_BYTES).map_err(|error| match error {
        BlobError::NotFound { .. } => CheckpointError::NoCheckpoint { location: location.name().to_owned() },
        error => error.into(),
    })?;
    let name = String::from_utf8_lossy(&name).trim().to_owned();
    let file = format!("{}/{LATEST}", location.name());
    if is_manifest_name(&name) {
        Ok(name)
    } else {
        Err(CheckpointError::damaged(&file, "not the name of a checkpoint"))
    }
}
