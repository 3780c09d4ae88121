//! Files of blocks: import and export with reports as JSON.

use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::{ImportedLine, LineResult};
use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::ops::ControlFlow;

/// Room for reading ahead and for writing behind, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Imports a file of blocks. `report` receives `{"number","hash","stateRoot","result"}` for each block and returns whether to
/// continue. Returns the counts `{"blocks","best","side","known","head"}`. Errors name file, line, block and rule.
pub fn import(node: &Node, path: &str, mut report: impl FnMut(String) -> ControlFlow<()>) -> Answer {
    let file = File::open(path).map_err(|error| failed(path, &error))?;
    let mut counts = LineCounts::default();
    let imported = node.chain().import_blocks(BufReader::with_capacity(BUFFER_BYTES, file), |line| {
        counts.add(line.result);
        report(line_text(line))
    });
    let blocks = imported.map_err(|error| failed(path, &error))?;
    Ok(counts.json(blocks, node.chain().head().number()))
}

/// Writes the blocks of the main chain from one height to another. `report` receives `{"number"}` for each block and returns
/// whether to continue. Returns `{"blocks","from","to"}`.
pub fn export(
    node: &Node,
    path: &str,
    from: u64,
    to: u64,
    mut report: impl FnMut(String) -> ControlFlow<()>,
) -> Answer {
    let file = File::create(path).map_err(|error| failed(path, &error))?;
    let mut file = BufWriter::with_capacity(BUFFER_BYTES, file);
    let written = node.chain().export_blocks(from, to, &mut file, |number| report(format!("{{\"number\":{number}}}")));
    let blocks = written.map_err(|error| failed(path, &error))?;
    Ok(numbers(&[("blocks", blocks), ("from", from), ("to", to)]))
}

fn failed(path: &str, error: &dyn Display) -> RpcError {
    RpcError::internal(format!("{path}: {error}"))
}

/// Results have the names that the reference uses.
pub(crate) fn line_text(line: &ImportedLine) -> String {
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("number").number(line.number.cast_signed());
    json.key("hash").hash(&line.hash);
    json.key("stateRoot").hash(&line.state_root);
    json.key("result").text(match line.result {
        LineResult::Best => "IMPORTED_BEST",
        LineResult::Side => "IMPORTED_NOT_BEST",
        LineResult::Known => "EXIST",
    });
    json.end_object();
    String::from_utf8_lossy(&json.finish()).into_owned()
}

/// Numbers of imported blocks by outcome.
#[derive(Debug, Default)]
pub(crate) struct LineCounts {
    best: u64,
    side: u64,
    known: u64,
}

impl LineCounts {
    pub(crate) fn add(&mut self, result: LineResult) {
        match result {
            LineResult::Best => self.best += 1,
            LineResult::Side => self.side += 1,
            LineResult::Known => self.known += 1,
        }
    }

    /// Returns `{"blocks","best","side","known","head"}`.
    pub(crate) fn json(&self, blocks: u64, head: u64) -> Vec<u8> {
        let Self { best, side, known } = *self;
        numbers(&[("blocks", blocks), ("best", best), ("side", side), ("known", known), ("head", head)])
    }
}

fn numbers(members: &[(&str, u64)]) -> Vec<u8> {
    let mut json = JsonWriter::new();
    json.begin_object();
    members.iter().for_each(|(name, count)| json.key(name).number(count.cast_signed()));
    json.end_object();
    json.finish()
}
