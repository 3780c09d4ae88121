use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use rhizome_blobs::{BlobStore, SigningKey};
use rhizome_storage::{BlockLogRows, StorageError, Store, StoreOptions, directory_chain};

use crate::data_copy::{DATABASE, DataCopy};
use crate::error::CheckpointError;
use crate::manifest::{CheckpointFile, CheckpointManifest, CheckpointPlace, LATEST, is_manifest_name};
use crate::piece::{PIECE_BYTES, named_hash, piece_hash, write_piece};
use crate::transfer::{PieceBytes, Transferred, transfer};

/// A checkpoint that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedCheckpoint {
    /// Its manifest.
    pub manifest: CheckpointManifest,
    /// Bytes that were transferred.
    pub transferred: Transferred,
}

/// A piece that is to be hashed, by the place of its file in the list.
struct UnhashedPiece {
    file: usize,
    number: usize,
    length: u64,
}

/// Writes a copy of a database as a checkpoint and makes it the latest. Pieces that the location has are not written again, so a run
/// that was stopped continues. `report` may stop.
pub fn create(
    copy: &DataCopy,
    location: &BlobStore,
    key: &SigningKey,
    report: &(dyn Fn(Transferred) -> ControlFlow<()> + Sync),
) -> Result<CreatedCheckpoint, CheckpointError> {
    let mut manifest = describe(&copy.folder())?;
    let is_own = |name: &str| named_hash(name).is_some() || is_manifest_name(name) || name == LATEST;
    location.remove_unfinished(&is_own)?;
    let known: HashSet<String> =
        location.list()?.into_iter().filter_map(|entry| named_hash(&entry.name).map(str::to_owned)).collect();
    let known = Mutex::new(known);
    let folder = copy.folder().join(DATABASE);
    let mut files = files_of(&folder)?;
    let total = files.iter().map(|file| file.bytes).sum();
    let unhashed: Vec<UnhashedPiece> = (0..).zip(&files).flat_map(|(file, entry)| unhashed(file, entry)).collect();
    let hashes = Mutex::new(Vec::with_capacity(unhashed.len()));
    let transferred = transfer(
        &unhashed,
        total,
        |piece| {
            let UnhashedPiece { file, number, length } = *piece;
            let path = files.get(file).map_or_else(PathBuf::new, |file| folder.join(&file.name));
            let bytes = read_range(&path, number as u64 * PIECE_BYTES, length)?;
            let hash = piece_hash(&bytes);
            hashes.lock().push((file, number, hash.clone()));
            // Two files may have the same piece.
            let is_new = known.lock().insert(hash.clone());
            let moved = if is_new { write_piece(location, &hash, &bytes)? } else { 0 };
            Ok(PieceBytes { length, moved })
        },
        report,
    )?;
    let mut hashes = hashes.into_inner();
    hashes.sort_unstable();
    for (file, _, hash) in hashes {
        if let Some(file) = files.get_mut(file) {
            file.pieces.push(hash);
        }
    }
    manifest.files = files;
    location.write(&manifest.name(), manifest.encode(key)?)?;
    location.write(LATEST, manifest.name().into_bytes())?;
    Ok(CreatedCheckpoint { manifest, transferred })
}

/// Reads from a copy which block it ends with.
fn describe(folder: &Path) -> Result<CheckpointManifest, CheckpointError> {
    let (identity, node_versions) = directory_chain(folder)?;
    let options = StoreOptions { node_versions, ..StoreOptions::default() };
    let store = Store::open_read_only(folder, &identity, &options)?;
    let no_chain = || StorageError::NoChain { dir: folder.to_path_buf() };
    let hash = store.head()?.ok_or_else(no_chain)?;
    let head = store.block(&hash)?.ok_or_else(no_chain)?;
    let mut number = store.highest_number()?.unwrap_or_default();
    // Branches may be higher than the best chain.
    while store.main_hash(number)? != Some(hash) {
        number = number.checked_sub(1).ok_or_else(no_chain)?;
    }
    let mut manifest = CheckpointManifest::new(&identity, node_versions, (number, hash, head.state_root));
    manifest.oldest_state = store.oldest_state();
    let place = BlockLogRows::new(&store).place()?;
    manifest.place = place.map(|place| CheckpointPlace { log: place.log, sequence: place.sequence });
    manifest.created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(manifest)
}

/// Lists the files of a database, in the order of their names.
fn files_of(folder: &Path) -> Result<Vec<CheckpointFile>, CheckpointError> {
    let mut files = Vec::new();
    let mut waiting = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = waiting.pop() {
        let failed = |error| CheckpointError::file(&folder, error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let metadata = entry.metadata().map_err(failed)?;
            // RocksDB makes its own.
            if metadata.is_dir() {
                waiting.push((entry.path(), format!("{name}/")));
            } else if name != "LOCK" && !name.starts_with("LOG") {
                files.push(CheckpointFile { name, bytes: metadata.len(), pieces: Vec::new() });
            }
        }
    }
    files.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

fn unhashed(file: usize, entry: &CheckpointFile) -> impl Iterator<Item = UnhashedPiece> {
    let bytes = entry.bytes;
    (0_u64..)
        .step_by(usize::try_from(PIECE_BYTES).unwrap_or(usize::MAX))
        .take_while(move |offset| *offset < bytes)
        .zip(0..)
        .map(move |(offset, number)| UnhashedPiece { file, number, length: PIECE_BYTES.min(bytes - offset) })
}

/// Reads a range of a file: exactly its bytes.
pub(crate) fn read_range(path: &Path, offset: u64, length: u64) -> Result<Vec<u8>, CheckpointError> {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| CheckpointError::file(path, error))
}
