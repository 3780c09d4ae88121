//! The head as a place to continue from.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::BlockRecord;

/// `{"number","hash"}` of the head.
pub fn answer(node: &Node) -> Answer {
    let mut json = JsonWriter::new();
    write_cursor(&mut json, &node.chain().head().record);
    Ok(json.finish())
}

/// Writes a cursor at a block.
pub(crate) fn write_cursor(json: &mut JsonWriter, record: &BlockRecord) {
    json.begin_object();
    // Heights stay far below 2^53, so every reader keeps them exact.
    json.key("number").number(record.number().cast_signed());
    json.key("hash").hash(&record.hash);
    json.end_object();
}
