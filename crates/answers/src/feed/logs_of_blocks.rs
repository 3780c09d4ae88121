//! Logs of named blocks, for installed filters and subscriptions.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::log_filter::LogQuery;
use crate::node::Node;
use crate::objects::log;
use rhizome_primitives::B256;

/// Returns the matching logs of the blocks in the given order. Unknown blocks have no logs. Logs of removed blocks are in
/// reverse order. The block range of the query is ignored.
pub fn answer(node: &Node, hashes: &[B256], query: &LogQuery, removed: bool) -> Answer {
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    for hash in hashes {
        let Some(logs) = node.chain().logs_in_block(hash)? else { continue };
        let mut found = logs.matching(&query.filter);
        if removed {
            found.reverse();
        }
        found.into_iter().for_each(|found| log::write(&mut json, found.log, &found.position, Some(removed)));
    }
    json.end_array();
    Ok(json.finish())
}
