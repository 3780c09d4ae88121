//! Checkpoints of a chain that is mined here: created, restored, continued, and with every kind of damage.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod damage;
mod round_trip;
mod running_node;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rhizome_blobs::{BlobLimits, BlobStore, PublisherKey, SigningKey};
use rhizome_chain::{Chain, ChainConfig, Clock, DataDir, ProvenBlocks};
use rhizome_checkpoints::{
    CheckpointError, CreatedCheckpoint, DataCopy, OpenCheckpoint, Transferred, create, restore_new,
};
use rhizome_primitives::ChainSpec;
use tempfile::TempDir;

const NOW: u64 = 1_700_000_000;
/// Time for a copy.
const LIMIT: Duration = Duration::from_secs(60);

/// A data directory, a location and a key in a new folder.
struct Scene {
    folder: TempDir,
    proven_blocks: ProvenBlocks,
}

impl Scene {
    fn new(proven_blocks: ProvenBlocks) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), proven_blocks }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, dir: &Path) -> ChainConfig {
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Path(dir.to_owned()));
        config.clock = Clock::new(|| NOW);
        config.proven_blocks = self.proven_blocks;
        config
    }

    fn open(&self, name: &str) -> Arc<Chain> {
        Chain::open(self.config(&self.path(name))).unwrap()
    }

    /// Mines blocks in a data directory and closes it.
    fn mine(&self, name: &str, blocks: usize) {
        let chain = self.open(name);
        (0..blocks).for_each(|_| drop(chain.mine(NOW).unwrap()));
    }

    fn key(&self) -> SigningKey {
        SigningKey::read_or_create(&self.path("key")).unwrap()
    }

    fn location(&self) -> BlobStore {
        BlobStore::create(self.path("store").to_str().unwrap(), BlobLimits::default()).unwrap()
    }

    /// Creates a checkpoint of the directory `data`.
    fn create(&self) -> Result<CreatedCheckpoint, CheckpointError> {
        self.create_until(&go_on)
    }

    fn create_until(
        &self,
        report: &(dyn Fn(Transferred) -> ControlFlow<()> + Sync),
    ) -> Result<CreatedCheckpoint, CheckpointError> {
        let copy = DataCopy::make(&self.path("data"), LIMIT)?;
        create(&copy, &self.location(), &self.key(), report)
    }

    fn latest(&self) -> Result<OpenCheckpoint, CheckpointError> {
        OpenCheckpoint::open(&self.location(), None, Some(self.key().publisher()))
    }

    /// Restores the latest checkpoint into a directory.
    fn restore(&self, name: &str) -> Result<Transferred, CheckpointError> {
        self.restore_until(name, &go_on)
    }

    fn restore_until(
        &self,
        name: &str,
        report: &(dyn Fn(Transferred) -> ControlFlow<()> + Sync),
    ) -> Result<Transferred, CheckpointError> {
        let dir = self.path(name);
        restore_new(&self.latest()?, &dir, &self.config(&dir), report)
    }

    /// Returns the pieces of the location, the largest first.
    fn pieces(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("store")).unwrap().map(|entry| entry.unwrap().path());
        let mut pieces: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|kind| kind == "piece")).collect();
        pieces.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).unwrap().len()));
        pieces
    }

    fn other_key(&self) -> PublisherKey {
        SigningKey::read_or_create(&self.path("other-key")).unwrap().publisher()
    }
}

fn go_on(_progress: Transferred) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
