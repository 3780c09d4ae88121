use std::collections::HashSet;
use std::ops::ControlFlow;

use rayon::prelude::*;
use rhizome_blobs::{BlobStore, BlobWriter, SigningKey};
use rhizome_chain::{Chain, ChainError};
use rhizome_primitives::B256;

use crate::error::ArchiveError;
use crate::index::{
    BLOCKS_PER_FILE, BLOCKS_PER_GROUP, FILE_MAGIC, FileIndex, PartEntry, PartKind, is_too_large, sha256,
};
use crate::manifest::{FileEntry, MANIFEST_NAME, Manifest, file_name, is_file_name};
use crate::open_archive::OpenArchive;
use crate::part::{ArchivedBlock, compress, content};

/// Choices for a new archive.
pub struct CreateOptions {
    /// Key that signs the manifest.
    pub key: SigningKey,
    /// Last block. The head if that is lower.
    pub to: u64,
}

/// An archive that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// Files that were written; others were there before.
    pub written: u64,
    /// The manifest. Its files end early if the caller stopped.
    pub manifest: Manifest,
}

/// Writes the best chain from its genesis as an archive, or continues one. The manifest is written after each file, so a killed
/// run loses at most one file. `on_blocks` gets the last block that is written and may stop. Fails, and leaves the archive as it
/// is, if the archive has a block that the chain lacks, unless the chain is heavier.
pub fn create(
    chain: &Chain,
    location: &BlobStore,
    options: &CreateOptions,
    mut on_blocks: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Created, ArchiveError> {
    let to = options.to.min(chain.head().number());
    let mut manifest = start(chain, location, &options.key, to)?;
    let mut written = 0;
    while manifest.last().is_none_or(|last| last < to) {
        // A complete file follows, or the incomplete last one is replaced.
        let replaced = manifest.files.pop_if(|file| !file.is_complete());
        let first = manifest.files.last().map_or(0, |file| file.last + 1);
        let last = to.min(first + BLOCKS_PER_FILE - 1);
        let Some(file) = write_file(chain, location, &manifest, first..=last, &mut on_blocks)? else {
            manifest.files.extend(replaced);
            break;
        };
        manifest.files.push(file);
        location.write(MANIFEST_NAME, manifest.encode(&options.key))?;
        written += 1;
        if let Some(replaced) = replaced {
            location.remove(&replaced.name())?;
        }
    }
    Ok(Created { written, manifest })
}

/// Returns the manifest of the archive that a run up to block `to` continues, without the files that are not on the best chain.
fn start(chain: &Chain, location: &BlobStore, key: &SigningKey, to: u64) -> Result<Manifest, ArchiveError> {
    location.remove_unfinished(&is_file_name)?;
    let genesis = main_hash(chain, 0)?;
    let (chain_id, publisher) = (chain.spec().chain_id.into(), key.publisher());
    let archive = match OpenArchive::open(location.clone(), Some(publisher)) {
        Ok(archive) => archive,
        Err(ArchiveError::NoManifest { .. }) => {
            return Ok(Manifest { chain_id, genesis, files: Vec::new(), publisher });
        }
        Err(error) => return Err(error),
    };
    archive.check_network(chain_id, genesis)?;
    let mut manifest = archive.manifest().clone();
    check_end(chain, &archive, to)?;
    remove_leftovers(location, &manifest)?;
    while let Some(file) = manifest.files.last()
        && chain.main_hash(file.last)? != Some(file.last_hash)
    {
        manifest.files.pop();
    }
    Ok(manifest)
}

/// Fails if the chain lacks the last block of an archive, unless its block `to` is heavier: a node that is behind or on a lighter
/// branch must not shorten what others read.
fn check_end(chain: &Chain, archive: &OpenArchive, to: u64) -> Result<(), ArchiveError> {
    let Some(end) = archive.manifest().files.last() else { return Ok(()) };
    if chain.main_hash(end.last)? == Some(end.last_hash) {
        return Ok(());
    }
    let own = chain.main_block(to)?.ok_or(ChainError::MissingHeight { number: to })?;
    if own.total_difficulty > end.last_total_difficulty {
        return Ok(());
    }
    let (location, last, last_hash) = (archive.name().to_owned(), end.last, end.last_hash);
    Err(ArchiveError::Lighter { location, last, last_hash, to, hash: own.hash })
}

/// Removes the files of a killed run, which the manifest does not name.
fn remove_leftovers(location: &BlobStore, manifest: &Manifest) -> Result<(), ArchiveError> {
    let named: HashSet<String> = manifest.files.iter().map(FileEntry::name).collect();
    for entry in location.list()?.iter().filter(|entry| is_file_name(&entry.name) && !named.contains(&entry.name)) {
        location.remove(&entry.name)?;
    }
    Ok(())
}

fn main_hash(chain: &Chain, number: u64) -> Result<B256, ArchiveError> {
    Ok(chain.main_hash(number)?.ok_or(ChainError::MissingHeight { number })?)
}

/// Writes one file. `None` if the caller stopped.
fn write_file(
    chain: &Chain,
    location: &BlobStore,
    manifest: &Manifest,
    blocks: std::ops::RangeInclusive<u64>,
    on_blocks: &mut impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<FileEntry>, ArchiveError> {
    let (first, last) = (*blocks.start(), *blocks.end());
    let mut writer = location.writer(&file_name(first, last))?;
    match write_groups(chain, &mut writer, manifest, first, last, on_blocks) {
        Ok(Some(entry)) => {
            writer.finish()?;
            Ok(Some(entry))
        }
        Ok(None) => {
            writer.abort()?;
            Ok(None)
        }
        Err(error) => {
            // The first error counts.
            drop(writer.abort());
            Err(error)
        }
    }
}

fn write_groups(
    chain: &Chain,
    writer: &mut BlobWriter,
    manifest: &Manifest,
    first: u64,
    last: u64,
    on_blocks: &mut impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<FileEntry>, ArchiveError> {
    let (chain_id, genesis) = (manifest.chain_id, manifest.genesis);
    let count = u32::try_from(last - first + 1).unwrap_or(u32::MAX);
    let mut index = FileIndex { chain_id, genesis, first, count, parts: Vec::new() };
    let mut last_block = (B256::ZERO, Default::default());
    writer.write(&FILE_MAGIC)?;
    for start in (first..=last).step_by(BLOCKS_PER_GROUP as usize) {
        let end = last.min(start + BLOCKS_PER_GROUP - 1);
        let mut group = Vec::new();
        for number in start..=end {
            let (hash, block) = archived_block(chain, number)?;
            last_block = (hash, block.total_difficulty);
            group.push(block);
        }
        let too_large = || ArchiveError::TooLarge { first: start };
        let parts: Option<Vec<(Vec<u8>, u32)>> = PartKind::ALL
            .par_iter()
            .map(|kind| {
                let content = content(&group, *kind)?;
                Some((compress(&content).ok()?, u32::try_from(content.len()).ok()?))
            })
            .collect();
        for (bytes, content_length) in parts.ok_or_else(too_large)? {
            index.parts.push(PartEntry {
                offset: writer.length(),
                length: u32::try_from(bytes.len()).map_err(|_too_long| too_large())?,
                content_length,
                hash: sha256(&bytes),
            });
            writer.write(&bytes)?;
        }
        if index.parts.last_chunk::<{ PartKind::ALL.len() }>().is_some_and(|group| is_too_large(group)) {
            return Err(too_large());
        }
        if on_blocks(end).is_break() {
            return Ok(None);
        }
    }
    let encoded = index.encode();
    writer.write(&encoded)?;
    let (last_hash, last_total_difficulty) = last_block;
    let index_hash = sha256(&encoded);
    Ok(Some(FileEntry { first, last, length: writer.length(), index_hash, last_hash, last_total_difficulty }))
}

fn archived_block(chain: &Chain, number: u64) -> Result<(B256, ArchivedBlock), ArchiveError> {
    let hash = main_hash(chain, number)?;
    let missing = || ChainError::MissingBlock { hash };
    let record = chain.block(&hash)?.ok_or_else(missing)?;
    let raw = chain.raw_block(&hash)?.ok_or_else(missing)?;
    let receipts = chain.receipts(&hash)?.ok_or_else(missing)?;
    let block = ArchivedBlock::new(&raw, &receipts, record.total_difficulty);
    Ok((hash, block.ok_or(ArchiveError::TooLarge { first: number })?))
}
