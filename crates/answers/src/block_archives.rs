//! Block archives: creation, verification, lists and imports with reports as JSON.

use crate::block_files::line_text;
use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_archives::{ArchiveError, CreateOptions, Manifest, OpenArchive};
use rhizome_blobs::{BlobLimits, BlobStore, PublisherKey, SigningKey};
use rhizome_chain::{ImportedLine, LineResult};
use rhizome_primitives::ChainSpec;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Interval between two questions whether to stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Imports the blocks above the head from archives. `trust`: the public key that must have signed each, empty for any. `report`
/// receives `{"number","hash","stateRoot","result"}` for each block and returns whether to continue; `is_stopped` is asked at all
/// times. Returns `{"blocks","best","side","known","head","refused"}`: counts, the number of the head, and the failures of archives
/// that another archive replaced; after a stop also `last`, the last block of the archives or null if it is unknown.
pub fn import(
    node: &Node,
    locations: &[String],
    trust: &str,
    is_stopped: &(dyn Fn() -> bool + Sync),
    mut report: impl FnMut(String) -> ControlFlow<()>,
) -> Answer {
    let trusted = trusted(trust).map_err(RpcError::internal)?;
    let (mut stores, mut refused) = (Vec::new(), Vec::new());
    for location in locations {
        match BlobStore::open(location, BlobLimits::default()) {
            Ok(store) => stores.push(store),
            Err(error) => refused.push(error.into()),
        }
    }
    let (mut best, mut side, mut known, mut last) = (0, 0, 0, None);
    let on_line = |line: &ImportedLine| {
        match line.result {
            LineResult::Best => best += 1,
            LineResult::Side => side += 1,
            LineResult::Known => known += 1,
        }
        report(line_text(line))
    };
    let imported = thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        let stores = &stores;
        // A server that does not answer ends no call for minutes. Cancelled again and again: an import resumes its archives.
        scope.spawn(move || {
            while ended.recv_timeout(STOP_CHECK) == Err(RecvTimeoutError::Timeout) {
                if is_stopped() {
                    stores.iter().for_each(BlobStore::cancel);
                }
            }
        });
        let imported = import_from(node, stores, trusted, &mut refused, &mut last, is_stopped, on_line);
        drop(running);
        imported
    });
    let is_partial = is_stopped() && last.is_none_or(|last| node.chain().head().number() < last);
    let blocks = match imported {
        Ok(blocks) => blocks,
        Err(_cancelled) if is_partial => best + side + known,
        Err(error) => return Err(RpcError::internal(error)),
    };
    node.set_archive_import(None);
    let head = node.chain().head().number();
    let counts = [("blocks", blocks), ("best", best), ("side", side), ("known", known), ("head", head)];
    let mut json = JsonWriter::new();
    json.begin_object();
    counts.iter().for_each(|(name, count)| json.key(name).number(count.cast_signed()));
    if is_partial {
        match last {
            Some(last) => json.key("last").number(last.cast_signed()),
            None => json.key("last").null(),
        };
    }
    json.key("refused").begin_array();
    refused.iter().for_each(|error| json.text(&error.to_string()));
    json.end_array();
    json.end_object();
    Ok(json.finish())
}

/// Opens the archives and imports them. Returns the number of blocks; `last` is then the last block of the archives.
fn import_from(
    node: &Node,
    stores: &[BlobStore],
    trusted: Option<PublisherKey>,
    refused: &mut Vec<ArchiveError>,
    last: &mut Option<u64>,
    is_stopped: &dyn Fn() -> bool,
    on_line: impl FnMut(&ImportedLine) -> ControlFlow<()>,
) -> Result<u64, ArchiveError> {
    let mut archives = Vec::new();
    for store in stores {
        match OpenArchive::open(store.clone(), trusted) {
            Ok(archive) => archives.push(archive),
            Err(error @ (ArchiveError::Blob(_) | ArchiveError::Damaged { .. } | ArchiveError::NoManifest { .. })) => {
                refused.push(error)
            }
            Err(error) => return Err(error),
        }
    }
    if archives.is_empty() {
        return Err(refused.pop().unwrap_or(ArchiveError::NoArchive));
    }
    *last = archives.iter().filter_map(|archive| archive.manifest().last()).max();
    node.set_archive_import(last.map(|last| (node.chain().head().number(), last)));
    let imported = rhizome_archives::import(node.chain(), &archives, is_stopped, on_line)?;
    refused.extend(imported.refused);
    Ok(imported.blocks)
}

/// Writes the best chain up to block `to` into an archive, or continues one. `report` receives `{"number"}` for each group of
/// blocks and returns whether to continue. Returns `{"written","files","last","publisher"}`.
pub fn create(
    node: &Node,
    location: &str,
    key_file: &str,
    to: u64,
    mut report: impl FnMut(String) -> ControlFlow<()>,
) -> Answer {
    let mut create = || -> Result<_, ArchiveError> {
        let options = CreateOptions { key: SigningKey::read_or_create(Path::new(key_file))?, to };
        let location = BlobStore::create(location, BlobLimits::default())?;
        let report = |number| report(format!("{{\"number\":{number}}}"));
        rhizome_archives::create(node.chain(), &location, &options, report)
    };
    let created = create().map_err(RpcError::internal)?;
    Ok(summary("written", created.written, &created.manifest))
}

/// Verifies everything in an archive that needs no execution. `report` receives `{"number","last"}` for each group of blocks.
/// Returns `{"blocks","files","last","publisher"}`.
pub fn verify(spec: &ChainSpec, location: &str, trust: &str, report: impl Fn(String)) -> Answer {
    let archive = open(location, trust).map_err(RpcError::internal)?;
    let last = archive.manifest().last().unwrap_or_default();
    let verified = rhizome_archives::verify(&archive, spec, |number| {
        report(format!("{{\"number\":{number},\"last\":{last}}}"));
        ControlFlow::Continue(())
    });
    let verified = verified.map_err(RpcError::internal)?;
    Ok(summary("blocks", verified.blocks, archive.manifest()))
}

/// Reads the manifest of an archive: `{"chainId","genesis","publisher","files":[{"name","first","last","length","lastHash"}]}`.
pub fn list(location: &str, trust: &str) -> Answer {
    let archive = open(location, trust).map_err(RpcError::internal)?;
    let manifest = archive.manifest();
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("chainId").number(manifest.chain_id.cast_signed());
    json.key("genesis").hash(&manifest.genesis);
    json.key("publisher").text(&manifest.publisher.to_string());
    json.key("files").begin_array();
    for file in &manifest.files {
        json.begin_object();
        json.key("name").text(&file.name());
        json.key("first").number(file.first.cast_signed());
        json.key("last").number(file.last.cast_signed());
        json.key("length").number(file.length.cast_signed());
        json.key("lastHash").hash(&file.last_hash);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    Ok(json.finish())
}

fn open(location: &str, trust: &str) -> Result<OpenArchive, ArchiveError> {
    OpenArchive::open(BlobStore::open(location, BlobLimits::default())?, trusted(trust)?)
}

fn trusted(key: &str) -> Result<Option<PublisherKey>, ArchiveError> {
    Ok(if key.is_empty() { None } else { Some(key.parse()?) })
}

fn summary(name: &str, count: u64, manifest: &Manifest) -> Vec<u8> {
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key(name).number(count.cast_signed());
    json.key("files").number((manifest.files.len() as u64).cast_signed());
    json.key("last").number(manifest.last().unwrap_or_default().cast_signed());
    json.key("publisher").text(&manifest.publisher.to_string());
    json.end_object();
    json.finish()
}
