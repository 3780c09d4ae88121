//! Nodes for tests and their input files.

use flate2::read::GzDecoder;
use rhizome_answers::Node;
use rhizome_answers::options::{AnswerOptions, MiningMode};
use rhizome_chain::{Chain, ChainConfig, Clock, DataDir};
use rhizome_primitives::{Bytes, ChainSpec, address, hex};
use serde_json::Value;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads a file of `tests/vectors/rpc`, compressed or not.
pub(crate) fn vector(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/rpc"));
    let plain = folder.join(name);
    if plain.exists() {
        return std::fs::read(plain).unwrap();
    }
    let mut text = Vec::new();
    let packed = std::fs::File::open(folder.join(format!("{name}.gz"))).unwrap();
    GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    text
}

/// Returns the steps of a transcript.
pub(crate) fn steps(file: &str) -> Vec<Value> {
    serde_json::from_slice(&vector(file)).unwrap()
}

/// Returns the settings of the recorded transcripts.
pub(crate) fn reference_options(mining: MiningMode) -> AnswerOptions {
    AnswerOptions { mining, has_wallet: true, ..AnswerOptions::reference() }
}

/// Returns a node with a new regtest chain in a temporary folder.
pub(crate) fn regtest(options: AnswerOptions, clock: Clock) -> Node {
    fresh(ChainSpec::regtest(), options, clock)
}

/// Returns a node with a new chain in a temporary folder.
pub(crate) fn fresh(spec: ChainSpec, options: AnswerOptions, clock: Clock) -> Node {
    let mut config = ChainConfig::new(Arc::new(spec), DataDir::Temporary);
    config.coinbase = address!("ec4ddeb4380ad69b3e509baad9f158cdf4e4681d");
    config.extra_data = Bytes::from(hex!("d20190564554495645522d3031303130313031"));
    config.clock = clock;
    config.pool.has_rate_limiter = false;
    config.pool.fits_next_block = false;
    let chain = Chain::open(config).unwrap();
    chain.set_automine(true);
    Node::new(chain, options).unwrap()
}

/// Returns the node of the `reads` transcripts: chain A with its side blocks.
pub(crate) fn chain_a(options: AnswerOptions) -> Node {
    // The clock of the recording is the time of the last block.
    let node = regtest(options, Clock::new(|| 0x6553_f484));
    for file in ["chain-a.blocks", "chain-a.side.blocks"] {
        import(&node, file);
    }
    node
}

/// Imports a file of blocks.
pub(crate) fn import(node: &Node, file: &str) {
    let imported = node.chain().import_blocks(vector(file).as_slice(), |_line| ControlFlow::Continue(()));
    imported.unwrap_or_else(|error| panic!("{file}: {error}"));
}
