//! The part of a node in a fleet: transactions of other nodes, the block of the tag `latest`, and the changes for the fleet.

use crate::delivery::MOST_BLOCKS;
use crate::error::RpcError;
use crate::feed::page::{self, PageLimits};
use crate::feed::{FeedContent, FeedForm};
use crate::node::Node;
use rhizome_evm::Deadline;
use rhizome_fleet::{ChangeEvent, ChangePage};
use rhizome_primitives::Transaction;
use serde::Deserialize;

/// Size of a page of changes from which on it ends.
const PAGE_BYTES: usize = 256 * 1024;

/// Place of an event, or of the last line of a page.
#[derive(Deserialize)]
struct LinePlace {
    cursor: String,
    #[serde(default, rename = "isAtHead")]
    is_at_head: bool,
}

/// Takes a transaction of another node into the pool; with instant mining, a block is mined for it. Returns whether the pool took it.
pub fn take_transaction(node: &Node, transaction: Transaction) -> bool {
    let chain = node.chain();
    if !node.mines_on_submission() {
        return chain.submit_from_fleet(transaction).is_ok();
    }
    let submit =
        move |chain: &rhizome_chain::Chain| -> Result<_, RpcError> { Ok(chain.submit_from_fleet(transaction)?) };
    chain.submit_and_mine(node.now(), MOST_BLOCKS, submit).is_ok()
}

/// Returns number and hash of the block of the tag `latest`, separated by a space; `None` if they are known. `start`: the first six
/// bytes of the known hash.
pub fn latest_text(node: &Node, number: u64, start: u64) -> Result<Option<String>, RpcError> {
    let record = node.latest()?;
    let first = record.hash.iter().take(6).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let is_known = (record.number(), first) == (number, start);
    Ok((!is_known).then(|| format!("{} {}", record.number(), record.hash)))
}

/// Returns the events of the change feed behind a cursor; `None`: the place of the head.
pub fn changes(node: &Node, content: &FeedContent, from: Option<&str>) -> Result<ChangePage, RpcError> {
    let from = from.unwrap_or("latest");
    let none = Deadline::none();
    let limits = PageLimits { bytes: PAGE_BYTES, deadline: &none, execution: &none };
    let page = page::answer(node, from, content, FeedForm::Lines, &limits)?;
    let (mut events, mut is_at_head) = (Vec::new(), false);
    let mut lines = page.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let place: LinePlace = serde_json::from_slice(line).map_err(RpcError::internal)?;
        match lines.peek() {
            Some(_) => events.push(ChangeEvent { cursor: place.cursor, json: line.to_vec() }),
            None => is_at_head = place.is_at_head,
        }
    }
    Ok(ChangePage { events, is_at_head })
}
