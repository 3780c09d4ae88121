//! Logs of named blocks, for installed filters and subscriptions.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::log_filter::LogQuery;
use crate::node::Node;
use crate::objects::log;
use rhizome_primitives::B256;

/// The matching logs of the blocks in the given order; unknown blocks bring none. Logs of removed blocks stand in
/// reverse. The query's own place is not looked at.
pub fn answer(node: &Node, hashes: &[B256], query: &LogQuery, removed: bool) -> Answer {
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    for hash in hashes {
        let mut found = node.chain().logs_in_block(&query.filter, hash)?;
        if removed {
            found.reverse();
        }
        found.iter().for_each(|log| log::write_found(&mut json, log, removed));
    }
    json.end_array();
    Ok(json.finish())
}
