//! The chain as a whole, on golden data and on blocks in disorder.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

// One runner for golden data: the conformance program runs the same code over any folder.
#[path = "../../conformance/src/chains/mod.rs"]
mod chains;
#[path = "../../primitives/tests/corpus.rs"]
mod corpus;
#[path = "../../conformance/src/known_failures.rs"]
mod known_failures;
#[path = "../../primitives/tests/mutation.rs"]
mod mutation;
#[path = "../../conformance/src/report.rs"]
mod report;
#[path = "../../conformance/src/vectors.rs"]
mod vectors;

mod address_index;
mod block_files;
mod development;
mod directory;
mod golden;
mod headers;
mod importer;
mod kept_states;
mod logs;
mod long_branches;
mod node_versions;
mod old_state_roots;
mod pipeline;
mod races;
mod readers;
mod real_headers;
mod snapshots;
mod state_change;
mod state_download;
mod verification;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::GzDecoder;
use rhizome_chain::{Chain, ChainConfig, DataDir, ImportOutcome, PreparedBlock, StreamedBlock, VerificationScope};
use rhizome_primitives::{Block, ChainSpec, hex};

fn vectors_folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors")).to_owned()
}

fn lines(file: &str) -> Vec<String> {
    let file = File::open(vectors_folder().join("chains").join(file)).unwrap();
    BufReader::new(GzDecoder::new(file)).lines().map(Result::unwrap).collect()
}

fn raw(line: &str) -> Vec<u8> {
    hex::decode(line.rsplit(',').next().unwrap()).unwrap()
}

fn spec(chain: &str) -> ChainSpec {
    let file = File::open(vectors_folder().join("chains").join(format!("{chain}.json.gz"))).unwrap();
    let json: serde_json::Value = serde_json::from_reader(GzDecoder::new(file)).unwrap();
    ChainSpec::from_json(&json["spec"].to_string()).unwrap()
}

fn config(spec: ChainSpec, dir: Option<&Path>) -> ChainConfig {
    let data_dir = dir.map_or(DataDir::Temporary, |dir| DataDir::Path(dir.to_owned()));
    ChainConfig {
        cache_bytes: 8 << 20,
        trie_bytes: 8 << 20,
        write_buffer_bytes: 8 << 20,
        ..ChainConfig::new(Arc::new(spec), data_dir)
    }
}

fn temporary(chain: &str) -> Arc<Chain> {
    Chain::open(config(spec(chain), None)).unwrap()
}

/// A verification of blocks and of the state of the head.
fn with_state(from: u64, to: u64) -> VerificationScope {
    VerificationScope { blocks: Some((from, to)), has_state: true }
}

fn import(chain: &Chain, line: &str) -> ImportOutcome {
    chain.import_prepared(PreparedBlock::decode(&raw(line), chain.spec()).unwrap()).unwrap()
}

/// Imports as a stream; returns the outcomes.
fn outcomes(chain: &Chain, blocks: &[Block]) -> Vec<&'static str> {
    let mut outcomes = Vec::new();
    let on_block = |block: StreamedBlock| {
        outcomes.push(block.result.as_ref().map_or("", ImportOutcome::name));
        ControlFlow::Continue(())
    };
    chain.import_stream(blocks.iter().map(Block::encode), on_block).unwrap();
    outcomes
}
