//! Checkpoints of data directories: created, listed, verified and restored with reports as JSON.

use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use rhizome_blobs::{BlobLimits, BlobStore, PublisherKey, SigningKey};
use rhizome_chain::{ChainConfig, DataDir};
use rhizome_checkpoints::{CheckpointError, DataCopy, OpenCheckpoint, Transferred};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// Time in which a running node must have copied its database.
const COPY_TIME: Duration = Duration::from_secs(120);

/// Location of a checkpoint, and the key that must have signed it.
pub struct CheckpointSource<'a> {
    /// A folder, an http, https or s3 URL.
    pub location: &'a str,
    /// Name of the checkpoint; empty for the latest.
    pub name: &'a str,
    /// Public key; empty for any.
    pub trust: &'a str,
}

impl CheckpointSource<'_> {
    /// Reads the manifest.
    fn open(&self) -> Result<OpenCheckpoint, CheckpointError> {
        self.open_in(&BlobStore::open(self.location, BlobLimits::default())?)
    }

    /// Reads the manifest in the opened location.
    pub(crate) fn open_in(&self, location: &BlobStore) -> Result<OpenCheckpoint, CheckpointError> {
        let name = (!self.name.is_empty()).then_some(self.name);
        OpenCheckpoint::open(location, name, self.trusted()?)
    }

    fn trusted(&self) -> Result<Option<PublisherKey>, CheckpointError> {
        if self.trust.is_empty() { Ok(None) } else { Ok(Some(self.trust.parse::<PublisherKey>()?)) }
    }
}

/// Copies the database of a data directory, also of a running node, and writes it as a checkpoint. `report` receives
/// `{"done","total"}` in bytes. Returns the checkpoint as [`list`] does, with the member `written`: new bytes in the location.
pub fn create(dir: &str, location: &str, key_file: &str, report: impl Fn(String) + Sync) -> Answer {
    let create = || {
        let key = SigningKey::read_or_create(Path::new(key_file))?;
        let location = BlobStore::create(location, BlobLimits::default())?;
        let copy = DataCopy::make(Path::new(dir), COPY_TIME)?;
        let created = rhizome_checkpoints::create(&copy, &location, &key, &reporter(&report))?;
        let opened = OpenCheckpoint::open(&location, Some(&created.manifest.name()), Some(key.publisher()))?;
        Ok::<_, CheckpointError>((opened, created.transferred.moved))
    };
    let (opened, written) = create().map_err(RpcError::internal)?;
    Ok(summary(&opened, Some(("written", written))))
}

/// Lists the checkpoints of a folder or bucket, lowest block first:
/// `[{"name","chainId","genesis","number","hash","stateRoot","sequence","layout","hasAllTries","oldestState","created","files",
/// "bytes","publisher"}]`. `sequence`: that of the last message of the block log, or null.
pub fn list(location: &str, trust: &str) -> Answer {
    let list = || {
        let trusted = CheckpointSource { location, name: "", trust }.trusted()?;
        rhizome_checkpoints::list(&BlobStore::open(location, BlobLimits::default())?, trusted)
    };
    let found = list().map_err(RpcError::internal)?;
    let mut json = JsonWriter::new();
    json.begin_array();
    found.iter().for_each(|checkpoint| write_checkpoint(&mut json, checkpoint, None));
    json.end_array();
    Ok(json.finish())
}

/// Reads all pieces of a checkpoint and compares them with their hashes. `report` receives `{"done","total"}` in bytes. Returns the
/// checkpoint as [`list`] does.
pub fn verify(source: &CheckpointSource<'_>, report: impl Fn(String) + Sync) -> Answer {
    let verify = || {
        let opened = source.open()?;
        opened.verify(&reporter(&report))?;
        Ok::<_, CheckpointError>(opened)
    };
    Ok(summary(&verify().map_err(RpcError::internal)?, None))
}

/// Makes a checkpoint the database of the data directory of the settings. `report` receives `{"done","total"}` in bytes. Returns the
/// checkpoint as [`list`] does, with the member `read`: bytes that were downloaded. Returns null, and reads nothing, if the directory
/// has a chain.
pub fn restore(config: &ChainConfig, source: &CheckpointSource<'_>, report: impl Fn(String) + Sync) -> Answer {
    let DataDir::Path(dir) = &config.data_dir else {
        return Err(RpcError::internal("an ephemeral node has no data directory to restore"));
    };
    if dir.join("chain").join("CURRENT").is_file() {
        return Ok(b"null".to_vec());
    }
    let restore = || {
        let opened = source.open()?;
        let transferred = rhizome_checkpoints::restore_new(&opened, dir, config, &reporter(&report))?;
        Ok::<_, CheckpointError>((opened, transferred.moved))
    };
    match restore() {
        Ok((opened, read)) => Ok(summary(&opened, Some(("read", read)))),
        Err(error) if error.is_existing_chain() => Ok(b"null".to_vec()),
        Err(error) => Err(RpcError::internal(error)),
    }
}

fn reporter(report: &(impl Fn(String) + Sync)) -> impl Fn(Transferred) -> ControlFlow<()> + Sync {
    move |Transferred { done, total, .. }| {
        report(format!("{{\"done\":{done},\"total\":{total}}}"));
        ControlFlow::Continue(())
    }
}

fn summary(checkpoint: &OpenCheckpoint, moved: Option<(&str, u64)>) -> Vec<u8> {
    let mut json = JsonWriter::new();
    write_checkpoint(&mut json, checkpoint, moved);
    json.finish()
}

fn write_checkpoint(json: &mut JsonWriter, checkpoint: &OpenCheckpoint, moved: Option<(&str, u64)>) {
    let manifest = checkpoint.manifest();
    json.begin_object();
    json.key("name").text(&manifest.name());
    json.key("chainId").number(manifest.chain_id.into());
    json.key("genesis").hash(&manifest.genesis);
    json.key("number").number(manifest.number.cast_signed());
    json.key("hash").hash(&manifest.hash);
    json.key("stateRoot").hash(&manifest.state_root);
    match manifest.place {
        Some(place) => json.key("sequence").number(place.sequence.cast_signed()),
        None => json.key("sequence").null(),
    };
    json.key("layout").number(manifest.layout.into());
    json.key("hasAllTries").boolean(manifest.has_all_tries);
    json.key("oldestState").number(manifest.oldest_state.cast_signed());
    json.key("created").number(manifest.created.cast_signed());
    json.key("files").number((manifest.files.len() as u64).cast_signed());
    json.key("bytes").number(manifest.bytes().cast_signed());
    json.key("publisher").text(&checkpoint.publisher().to_string());
    if let Some((name, bytes)) = moved {
        json.key(name).number(bytes.cast_signed());
    }
    json.end_object();
}
