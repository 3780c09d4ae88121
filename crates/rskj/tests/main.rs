//! Directories of rskj 9.0.3, copied while it ran, with rows in tables and logs: imported, and with every kind of damage.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod damage;
mod lock;

use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use rhizome_chain::{BlockSource, Chain, ChainConfig, DataDir, ImportedLine};
use rhizome_primitives::{B256, ChainSpec, b256};
use rhizome_rskj::{RskjDirectory, RskjError};
use rocksdb::{DB, Options};
use tempfile::TempDir;

/// The recorded directories and the hashes of their last block.
const RECORDED: [(&str, B256); 2] = [
    ("rocksdb", b256!("3651d47fa9c52b54a505bb2bdf8da4e562cb9900a42a59ef9979914343c22b05")),
    ("leveldb", b256!("e7255af32d43b85ec94e95e98d16e7fcb848ba1e4a46a441b819719a2cd958bf")),
];
const LAST: u64 = 163;

/// Unpacks a recorded directory.
fn recorded(kind: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let blocks = dir.path().join("blocks");
    fs::create_dir(&blocks).unwrap();
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(kind);
    for entry in fs::read_dir(packed).unwrap() {
        let path = entry.unwrap().path();
        let mut content = Vec::new();
        GzDecoder::new(File::open(&path).unwrap()).read_to_end(&mut content).unwrap();
        fs::write(blocks.join(path.file_stem().unwrap()), content).unwrap();
    }
    dir
}

fn empty_chain(spec: ChainSpec) -> Arc<Chain> {
    let config = ChainConfig::new(Arc::new(spec), DataDir::Temporary);
    Chain::open(ChainConfig { cache_bytes: 8 << 20, write_buffer_bytes: 8 << 20, ..config }).unwrap()
}

fn open(chain: &Chain, dir: &Path) -> Result<RskjDirectory, RskjError> {
    let genesis = chain.main_hash(0).unwrap().unwrap();
    Ok(RskjDirectory::open(dir, genesis, |_rows| ControlFlow::Continue(()))?.unwrap())
}

/// Returns the number of imported blocks.
fn import_all(chain: &Chain, dir: &Path) -> Result<u64, RskjError> {
    Ok(chain.import_source(&open(chain, dir)?, |_line| ControlFlow::Continue(())).unwrap())
}

/// Names and contents of the files in a folder.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
    let mut files: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn the_heaviest_chain_is_imported_and_the_directory_stays_as_it_is() {
    for (kind, head) in RECORDED {
        let dir = recorded(kind);
        let before = files(&dir.path().join("blocks"));
        let chain = empty_chain(ChainSpec::regtest());
        assert_eq!(import_all(&chain, dir.path()).unwrap(), LAST, "{kind}");
        assert_eq!((chain.head().number(), chain.head().hash()), (LAST, head), "{kind}");
        assert_eq!(files(&dir.path().join("blocks")), before, "{kind}");
        assert_eq!(import_all(&chain, dir.path()).unwrap(), 0, "{kind}");
    }
}

#[test]
fn a_stopped_import_continues() {
    for (kind, head) in RECORDED {
        let dir = recorded(kind);
        let chain = empty_chain(ChainSpec::regtest());
        let directory = open(&chain, dir.path()).unwrap();
        let until_50 = |line: &ImportedLine| match line.number {
            50 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        chain.import_source(&directory, until_50).unwrap();
        let reached = chain.head().number();
        assert!((50..=LAST).contains(&reached), "{kind}: {reached}");
        drop(directory);
        assert_eq!(import_all(&chain, dir.path()).unwrap(), LAST - reached, "{kind}");
        assert_eq!(chain.head().hash(), head, "{kind}");
    }
}

#[test]
fn blocks_have_the_hashes_of_the_heaviest_chain() {
    for (kind, head) in RECORDED {
        let dir = recorded(kind);
        let chain = empty_chain(ChainSpec::regtest());
        let directory = open(&chain, dir.path()).unwrap();
        let hash = |number| directory.hash(number).unwrap();
        let genesis = chain.main_hash(0).unwrap();
        assert_eq!((directory.last(), hash(0), hash(LAST), hash(LAST + 1)), (LAST, genesis, Some(head), None));
    }
}

#[test]
fn a_search_that_is_ended_has_no_directory() {
    let genesis = empty_chain(ChainSpec::regtest()).main_hash(0).unwrap().unwrap();
    let recorded = recorded("rocksdb");
    let table = DB::open_for_read_only(&Options::default(), recorded.path().join("blocks"), false).unwrap();
    let block = table.get(genesis).unwrap().unwrap();
    let dir = TempDir::new().unwrap();
    let many = DB::open_default(dir.path().join("blocks")).unwrap();
    for number in 0..3_000_u64 {
        many.put(B256::left_padding_from(&number.to_be_bytes()), &block).unwrap();
    }
    drop(many);
    let mut reports = Vec::new();
    let opened = RskjDirectory::open(dir.path(), genesis, |rows| {
        reports.push(rows);
        if rows < 2_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(opened.unwrap().is_none());
    assert_eq!(reports, [1_024, 2_048]);
}
