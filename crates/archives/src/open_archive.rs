use std::sync::Arc;

use parking_lot::Mutex;
use rhizome_blobs::{BlobError, BlobFile, BlobStore, PublisherKey};
use rhizome_primitives::{B256, U256};

use crate::error::ArchiveError;
use crate::index::{BLOCKS_PER_FILE, BLOCKS_PER_GROUP, FileIndex, PartKind, index_bytes, sha256};
use crate::manifest::{FileEntry, MANIFEST_NAME, MAX_MANIFEST_BYTES, Manifest};
use crate::part::{ArchivedBlock, decompress, records};

/// Open files. Downloads run ahead, so blocks of two files are read at the same time.
const OPEN_FILES: usize = 2;

/// An archive whose manifest was read and whose signature is right.
pub struct OpenArchive {
    location: BlobStore,
    manifest: Manifest,
    /// Most recently opened last.
    files: Mutex<Vec<Arc<OpenFile>>>,
}

/// A file whose index was read and has the hash of the manifest.
pub(crate) struct OpenFile {
    blob: BlobFile,
    pub(crate) index: FileIndex,
}

/// Consecutive blocks.
pub(crate) struct BlockGroup {
    /// Address of their file.
    pub(crate) file: String,
    /// Number of the first block.
    pub(crate) first: u64,
    pub(crate) blocks: Vec<ArchivedBlock>,
}

impl OpenArchive {
    /// Reads the manifest of an archive. Fails if another key than the trusted one signed it.
    pub fn open(location: BlobStore, trusted: Option<PublisherKey>) -> Result<Self, ArchiveError> {
        let bytes = location.read_all(MANIFEST_NAME, MAX_MANIFEST_BYTES).map_err(|error| match error {
            BlobError::NotFound { .. } => ArchiveError::NoManifest { location: location.name().to_owned() },
            error => error.into(),
        })?;
        let file = format!("{}/{MANIFEST_NAME}", location.name());
        let manifest = Manifest::decode(&bytes).map_err(|fault| ArchiveError::damaged(&file, fault))?;
        if trusted.is_some_and(|trusted| trusted != manifest.publisher) {
            let publisher = manifest.publisher.to_string();
            return Err(ArchiveError::Publisher { location: location.name().to_owned(), publisher });
        }
        Ok(Self { location, manifest, files: Mutex::default() })
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the address, without credentials.
    pub fn name(&self) -> &str {
        self.location.name()
    }

    /// Ends the running reads, and all later ones until [`OpenArchive::resume`].
    pub(crate) fn cancel(&self) {
        self.location.cancel();
    }

    /// Accepts reads again.
    pub(crate) fn resume(&self) {
        self.location.resume();
    }

    /// Fails unless the archive has blocks of a network.
    pub(crate) fn check_network(&self, chain_id: u64, genesis: B256) -> Result<(), ArchiveError> {
        let manifest = &self.manifest;
        if (manifest.chain_id, manifest.genesis) == (chain_id, genesis) {
            return Ok(());
        }
        let location = self.name().to_owned();
        Err(ArchiveError::Network { location, chain_id: manifest.chain_id, genesis: manifest.genesis })
    }

    /// Opens the file with a block. `None` if the archive ends below.
    pub(crate) fn file_of(&self, number: u64) -> Result<Option<Arc<OpenFile>>, ArchiveError> {
        let position = usize::try_from(number / BLOCKS_PER_FILE).unwrap_or(usize::MAX);
        let Some(entry) = self.manifest.files.get(position).filter(|entry| number <= entry.last) else {
            return Ok(None);
        };
        if let Some(open) = self.files.lock().iter().find(|open| open.index.first == entry.first) {
            return Ok(Some(Arc::clone(open)));
        }
        let open = Arc::new(self.open_file(entry)?);
        let mut files = self.files.lock();
        files.push(Arc::clone(&open));
        if files.len() > OPEN_FILES {
            files.remove(0);
        }
        Ok(Some(open))
    }

    /// Reads the group of a block; `kinds` names its parts. `None` if the archive ends below.
    pub(crate) fn group(&self, number: u64, kinds: &[PartKind]) -> Result<Option<BlockGroup>, ArchiveError> {
        let Some(file) = self.file_of(number)? else { return Ok(None) };
        file.group((number - file.index.first) / BLOCKS_PER_GROUP, kinds).map(Some)
    }

    fn open_file(&self, entry: &FileEntry) -> Result<OpenFile, ArchiveError> {
        let blob = self.location.file(&entry.name(), entry.length);
        let damaged = |fault: &str| ArchiveError::damaged(&blob.address(), fault);
        let count = u32::try_from(entry.count()).map_err(|_too_many| damaged("too many blocks"))?;
        let start = entry.length.saturating_sub(index_bytes(count));
        let bytes = blob.read(start..entry.length)?;
        if sha256(&bytes) != entry.index_hash {
            return Err(damaged("the index has another hash than the manifest names"));
        }
        let index = FileIndex::decode(&bytes, entry.length).map_err(damaged)?;
        let manifest = &self.manifest;
        let expected = (manifest.chain_id, manifest.genesis, entry.first, count);
        if (index.chain_id, index.genesis, index.first, index.count) != expected {
            return Err(damaged("the index has other blocks than the manifest names"));
        }
        Ok(OpenFile { blob, index })
    }
}

impl OpenFile {
    pub(crate) fn address(&self) -> String {
        self.blob.address()
    }

    /// Returns the lengths of a group, compressed and not, in bytes: while a part is unpacked, both are in memory.
    pub(crate) fn group_bytes(&self, group: u64) -> u64 {
        let parts = PartKind::ALL.iter().filter_map(|kind| self.index.part(group, *kind));
        parts.map(|part| u64::from(part.length) + u64::from(part.content_length)).sum()
    }

    pub(crate) fn group(&self, group: u64, kinds: &[PartKind]) -> Result<BlockGroup, ArchiveError> {
        let (first, count) = self.index.group_blocks(group);
        let mut blocks =
            vec![
                ArchivedBlock { header: Vec::new(), body: Vec::new(), receipts: None, total_difficulty: U256::ZERO };
                usize::try_from(count).unwrap_or_default()
            ];
        for &kind in kinds {
            let content = self.part(group, kind)?;
            let records = records(&content, kind, count).map_err(|(position, fault)| {
                let number = first + position;
                ArchiveError::damaged(&self.address(), format!("{} of block {number}: {fault}", kind.name()))
            })?;
            for (block, record) in blocks.iter_mut().zip(records) {
                match kind {
                    PartKind::Headers => block.header = record.to_vec(),
                    PartKind::Bodies => block.body = record.to_vec(),
                    PartKind::Receipts => block.receipts = Some(record.to_vec()),
                    PartKind::Difficulties => block.total_difficulty = U256::from_be_slice(record),
                }
            }
        }
        Ok(BlockGroup { file: self.address(), first, blocks })
    }

    fn part(&self, group: u64, kind: PartKind) -> Result<Vec<u8>, ArchiveError> {
        let entry = self.index.part(group, kind).ok_or_else(|| self.damaged(group, kind, "not in the index"))?;
        let bytes = self.blob.read(entry.range())?;
        if sha256(&bytes) != entry.hash {
            return Err(self.damaged(group, kind, "another hash than the index names"));
        }
        decompress(&bytes, entry.content_length)
            .ok_or_else(|| self.damaged(group, kind, "not zstd of the length that the index names"))
    }

    fn damaged(&self, group: u64, kind: PartKind, fault: &str) -> ArchiveError {
        let (first, _) = self.index.group_blocks(group);
        ArchiveError::damaged(&self.address(), format!("{} from block {first} on: {fault}", kind.name()))
    }
}

#[cfg(test)]
mod tests {
    use rhizome_blobs::BlobLimits;

    use super::*;
    use crate::index::PartEntry;

    #[test]
    fn the_memory_for_a_group_counts_compressed_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let location = BlobStore::open(folder.path().to_str().unwrap(), BlobLimits::default()).unwrap();
        let part = PartEntry { offset: 8, length: 1000, content_length: 10, hash: B256::ZERO };
        let index = FileIndex { chain_id: 33, genesis: B256::ZERO, first: 0, count: 1, parts: vec![part; 4] };
        assert_eq!(OpenFile { blob: location.file("x", 0), index }.group_bytes(0), 4040);
    }
}
