//! The logs of a block for many subscriptions at once.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::log_filter::LogQuery;
use crate::node::Node;
use crate::objects::log;
use rhizome_chain::{FoundLog, LogFilter};
use rhizome_primitives::B256;

/// Returns `[{"queries","log"}]`: the logs of a block that match at least one query, each with the indexes of the matching
/// queries. Logs of a removed block are in reverse order. The block ranges of the queries are ignored.
pub fn answer(node: &Node, hash: &B256, queries: &[LogQuery], removed: bool) -> Answer {
    let logs = node.chain().logs_in_block(hash)?;
    let mut found = logs.as_ref().map_or_else(Vec::new, |logs| logs.matching(&LogFilter::default()));
    if removed {
        found.reverse();
    }
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    for FoundLog { log, position } in found {
        let mut takers = (0..).zip(queries).filter(|(_at, query)| query.filter.matches(&log)).peekable();
        if takers.peek().is_none() {
            continue;
        }
        json.begin_object();
        json.key("queries").begin_array();
        takers.for_each(|(at, _query)| json.number(at));
        json.end_array();
        log::write(json.key("log"), log, &position, Some(removed));
        json.end_object();
    }
    json.end_array();
    Ok(json.finish())
}
