//! Import of the chain of another database, with reports as JSON.

use crate::block_files::{LineCounts, line_text};
use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::{BlockSource, SourceImportError};
use rhizome_rskj::RskjDirectory;
use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::Path;

/// Imports the blocks of a data directory of rskj that the chain does not have. `report` receives `{"rows"}` while the directory is
/// searched for its heaviest chain, `{"last"}` when it is known, and `{"number","hash","stateRoot","result"}` for each block; it
/// returns whether to continue. Returns the counts `{"blocks","best","side","known","head"}`.
pub fn import_rskj(node: &Node, dir: &str, mut report: impl FnMut(String) -> ControlFlow<()>) -> Answer {
    let genesis = node.chain().main_hash(0).map_err(RpcError::internal)?.unwrap_or_default();
    let on_rows = |rows| report(format!("{{\"rows\":{rows}}}"));
    match RskjDirectory::open(Path::new(dir), genesis, on_rows).map_err(RpcError::internal)? {
        Some(directory) => import(node, dir, &directory, report),
        None => Ok(LineCounts::default().json(0, node.chain().head().number())),
    }
}

/// Imports the blocks of another data directory, of this or an earlier layout, that the chain does not have. `report` receives
/// `{"warning"}` if the directory has lost its last blocks, `{"last"}`, then `{"number","hash","stateRoot","result"}` for each block,
/// and returns whether to continue. Returns the counts `{"blocks","best","side","known","head"}`.
pub fn migrate(node: &Node, dir: &str, mut report: impl FnMut(String) -> ControlFlow<()>) -> Answer {
    let directory = node.chain().open_blocks(Path::new(dir)).map_err(RpcError::internal)?;
    // If the caller cancels here, the import does not begin.
    if directory.has_lost_writes() {
        let _ = report(lost_blocks(dir, directory.last()));
    }
    import(node, dir, &directory, report)
}

fn lost_blocks(dir: &str, last: u64) -> String {
    let mut json = JsonWriter::new();
    json.begin_object();
    let text =
        format!("{dir}: the write-ahead log of the database is damaged: what was written after block {last} is lost");
    json.key("warning").text(&text);
    json.end_object();
    String::from_utf8_lossy(&json.finish()).into_owned()
}

fn import<S: BlockSource<Error: Display>>(
    node: &Node,
    dir: &str,
    source: &S,
    mut report: impl FnMut(String) -> ControlFlow<()>,
) -> Answer {
    let mut counts = LineCounts::default();
    let mut blocks = 0;
    if report(format!("{{\"last\":{}}}", source.last())).is_continue() {
        let imported = node.chain().import_source(source, |line| {
            counts.add(line.result);
            report(line_text(line))
        });
        blocks = imported.map_err(|error| match error {
            SourceImportError::Block { .. } => RpcError::internal(format!("{dir}: {error}")),
            // These name the directory.
            error => RpcError::internal(error),
        })?;
    }
    Ok(counts.json(blocks, node.chain().head().number()))
}
