//! Logs of named blocks, for installed filters and subscriptions.

use crate::error::Answer;
use crate::log_filter::LogQuery;
use crate::node::Node;
use crate::objects::log_list::LogList;
use rhizome_primitives::B256;

/// Returns the matching logs of the blocks in the given order. Unknown blocks have no logs. Logs of removed blocks are in
/// reverse order. The block range of the query is ignored. Fails with -32012 if the logs take more than `max_bytes`.
pub fn answer(node: &Node, hashes: &[B256], query: &LogQuery, removed: bool, max_bytes: usize) -> Answer {
    let mut list = LogList::new(max_bytes);
    for hash in hashes {
        let Some(logs) = node.chain().logs_in_block(hash)? else { continue };
        let mut found = logs.matching(&query.filter);
        if removed {
            found.reverse();
        }
        for found in found {
            list.push(found, removed)?;
        }
    }
    Ok(list.finish())
}
