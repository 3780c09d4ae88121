//! Block archives: creation, verification, lists and imports with reports as JSON.

use crate::block_files::line_text;
use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_archives::{ArchiveError, CreateOptions, Manifest, OpenArchive};
use rhizome_blobs::{BlobLimits, BlobStore, PublisherKey, SigningKey};
use rhizome_chain::LineResult;
use rhizome_primitives::ChainSpec;
use std::ops::ControlFlow;
use std::path::Path;

/// Imports the blocks above the head from archives. `trust`: the public key that must have signed each, empty for any. `report`
/// receives `{"number","hash","stateRoot","result"}` for each block and returns whether to continue; `is_stopped` is asked while
/// no block arrives. Returns `{"blocks","best","side","known","head","refused"}`: counts, the number of the head, and the failures
/// of archives that another archive replaced.
pub fn import(
    node: &Node,
    locations: &[String],
    trust: &str,
    is_stopped: &dyn Fn() -> bool,
    mut report: impl FnMut(String) -> ControlFlow<()>,
) -> Answer {
    let mut archives = Vec::new();
    let mut refused = Vec::new();
    for location in locations {
        match open(location, trust) {
            Ok(archive) => archives.push(archive),
            Err(error @ (ArchiveError::Blob(_) | ArchiveError::Damaged { .. } | ArchiveError::NoManifest { .. })) => {
                refused.push(error)
            }
            Err(error) => return Err(RpcError::internal(error)),
        }
    }
    if archives.is_empty() {
        return Err(RpcError::internal(refused.pop().unwrap_or(ArchiveError::NoArchive)));
    }
    let (mut best, mut side, mut known) = (0, 0, 0);
    let imported = rhizome_archives::import(node.chain(), &archives, is_stopped, |line| {
        match line.result {
            LineResult::Best => best += 1,
            LineResult::Side => side += 1,
            LineResult::Known => known += 1,
        }
        report(line_text(line))
    });
    let imported = imported.map_err(RpcError::internal)?;
    refused.extend(imported.refused);
    let head = node.chain().head().number();
    let counts = [("blocks", imported.blocks), ("best", best), ("side", side), ("known", known), ("head", head)];
    let mut json = JsonWriter::new();
    json.begin_object();
    counts.iter().for_each(|(name, count)| json.key(name).number(count.cast_signed()));
    json.key("refused").begin_array();
    refused.iter().for_each(|error| json.text(&error.to_string()));
    json.end_array();
    json.end_object();
    Ok(json.finish())
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
    let trusted = if trust.is_empty() { None } else { Some(trust.parse::<PublisherKey>()?) };
    OpenArchive::open(BlobStore::open(location, BlobLimits::default())?, trusted)
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
