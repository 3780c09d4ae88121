//! Archives of golden chains: written, verified, imported, and with every kind of damage.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

#[path = "../../blobs/tests/web_server.rs"]
mod web_server;

mod damage;
mod faulty_servers;
mod round_trip;
mod several_files;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flate2::read::GzDecoder;
use rhizome_archives::{ArchiveError, CreateOptions, Created, ImportedBlocks, OpenArchive, create};
use rhizome_blobs::{BlobLimits, BlobStore, SigningKey};
use rhizome_chain::{Chain, ChainConfig, DataDir};
use rhizome_primitives::ChainSpec;
use tempfile::TempDir;

/// A golden chain of 290 blocks: two groups.
const CHAIN: &str = "testnet-rules";

fn vectors() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/chains")).to_owned()
}

fn spec(chain: &str) -> ChainSpec {
    let file = File::open(vectors().join(format!("{chain}.json.gz"))).unwrap();
    let json: serde_json::Value = serde_json::from_reader(GzDecoder::new(file)).unwrap();
    ChainSpec::from_json(&json["spec"].to_string()).unwrap()
}

fn empty_chain(chain: &str) -> Arc<Chain> {
    let config = ChainConfig::new(Arc::new(spec(chain)), DataDir::Temporary);
    Chain::open(ChainConfig { cache_bytes: 8 << 20, write_buffer_bytes: 8 << 20, ..config }).unwrap()
}

/// Opens a golden chain up to a height.
fn golden_chain(chain: &str, to: u64) -> Arc<Chain> {
    let opened = empty_chain(chain);
    let file = File::open(vectors().join(format!("{chain}.blocks.txt.gz"))).unwrap();
    let lines = BufReader::new(GzDecoder::new(file)).lines().map(Result::unwrap);
    let lines: Vec<String> = lines.take_while(|line| number(line) <= to).collect();
    opened.import_blocks(lines.join("\n").as_bytes(), |_| ControlFlow::Continue(())).unwrap();
    opened
}

fn number(line: &str) -> u64 {
    line.split(',').next().unwrap().parse().unwrap()
}

fn limits() -> BlobLimits {
    BlobLimits {
        connect: Duration::from_secs(1),
        request: Duration::from_secs(1),
        retries: 1,
        retry_time: Duration::from_secs(2),
    }
}

fn write(chain: &Chain, folder: &Path, to: u64) -> Result<Created, ArchiveError> {
    let key = SigningKey::read_or_create(&folder.with_extension("key"))?;
    let location = BlobStore::create(folder.to_str().unwrap(), limits())?;
    create(chain, &location, &CreateOptions { key, to }, |_| ControlFlow::Continue(()))
}

fn open(location: &str) -> Result<OpenArchive, ArchiveError> {
    OpenArchive::open(BlobStore::open(location, limits())?, None)
}

fn import(chain: &Chain, locations: &[&str]) -> Result<ImportedBlocks, ArchiveError> {
    let archives: Result<Vec<_>, _> = locations.iter().map(|location| open(location)).collect();
    rhizome_archives::import(chain, &archives?, &|| false, |_| ControlFlow::Continue(()))
}

/// An archive of a golden chain in a new folder.
struct Written {
    folder: TempDir,
    chain: Arc<Chain>,
}

impl Written {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let chain = golden_chain(CHAIN, u64::MAX);
        write(&chain, &folder.path().join("archive"), u64::MAX).unwrap();
        Self { folder, chain }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    fn name(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }

    /// Returns the path of the only file of blocks.
    fn file(&self) -> PathBuf {
        let mut entries = std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.find(|path| path.extension().is_some()).unwrap()
    }
}
