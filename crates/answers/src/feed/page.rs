//! The change feed: the way of a client from its cursor to the head.
//!
//! A cursor says which blocks and steps a client has ([`FeedCursor`]). While its block is on the best chain, the next event enacts the
//! next steps; otherwise it retracts the last ones. So the way down to the common ancestor and up to the head follows from the cursor
//! and the chain alone, and needs no memory of the client.

use crate::error::{Answer, Details, ErrorCode, RpcError};
use crate::feed::block_steps::BlockSteps;
use crate::feed::content::FeedContent;
use crate::feed::cursor::{FeedCursor, decimal, steps_of};
use crate::feed::event::{EventPage, EventType, FeedForm};
use crate::feed::sparse_logs::{NextBlock, SparseLogs};
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_chain::BlockRecord;
use rhizome_evm::Deadline;
use std::sync::Arc;

/// Blocks that are read for a page, at most. A sparse filter finds nothing in most of them.
const PAGE_BLOCKS: usize = 1_024;

/// Limits of a page.
pub struct PageLimits<'d> {
    /// Bytes of events from which on it ends. An event is longer by at most one transaction.
    pub bytes: usize,
    /// Time from which on it ends, behind a step.
    pub deadline: &'d Deadline,
    /// Time at which the execution of blocks fails, or cancellation.
    pub execution: &'d Deadline,
}

impl PageLimits<'_> {
    /// Whether the page ends here.
    pub(crate) fn is_over(&self, bytes: usize) -> bool {
        bytes >= self.bytes || self.deadline.has_passed() || self.execution.has_passed()
    }
}

/// Next change for a client.
enum FeedChange {
    /// Steps of a block on the best chain behind the steps of the client.
    Enact { record: Arc<BlockRecord>, from: u64 },
    /// Steps that the client has of a block that left the best chain.
    Retract { record: Arc<BlockRecord>, from: u64, parent: FeedCursor },
    /// The same place by another cursor.
    Move(FeedCursor),
    /// The block was deleted, and the chain went back to this one.
    Rewind(Arc<BlockRecord>),
    /// The best chain changed between two reads.
    Reread,
    /// The client has all.
    None,
}

/// Returns the events behind a place, and a last line `{"cursor","isAtHead"}` with the place of the next page. `from`: a cursor, the
/// number of a block that is the first one, `earliest`, or `latest`: only later changes.
///
/// Fails with -32001 if the block of the cursor, its receipts or its state are not stored; `data` has the oldest cursor that can be
/// served.
pub fn answer(node: &Node, from: &str, content: &FeedContent, form: FeedForm, limits: &PageLimits<'_>) -> Answer {
    let (mut cursor, known) = start(node, from, content)?;
    let mut page = EventPage::new(form, known);
    let mut sparse = content.sparse_logs().map(SparseLogs::new);
    for _block in 0..PAGE_BLOCKS {
        if limits.is_over(page.len()) {
            break;
        }
        let change = next_change(node, content, &cursor)?;
        let (kind, steps, from) = match &change {
            FeedChange::None => return Ok(page.finish(cursor, true)),
            FeedChange::Reread => continue,
            FeedChange::Move(to) => {
                cursor = *to;
                continue;
            }
            FeedChange::Rewind(record) => {
                cursor = FeedCursor::behind(record);
                page.push(EventType::Rewound, cursor, &rewound(record, &cursor));
                continue;
            }
            FeedChange::Enact { record, from } => {
                if let Some(sparse) = sparse.as_mut().filter(|_| record.hash != cursor.hash) {
                    match sparse.next(node, &cursor)? {
                        NextBlock::Following => {}
                        NextBlock::Behind(place) => {
                            cursor = place;
                            continue;
                        }
                        NextBlock::Changed => continue,
                    }
                }
                let before = FeedCursor::before(record);
                (EventType::Enacted, BlockSteps::read(node, content, record, before)?, *from)
            }
            FeedChange::Retract { record, from, parent } => {
                (EventType::Retracted, BlockSteps::read(node, content, record, *parent)?, *from)
            }
        };
        let part = steps.part(kind, from, limits)?;
        cursor = part.place;
        if let Some(json) = part.json {
            page.push(kind, cursor, &json);
        }
    }
    Ok(page.finish(cursor, false))
}

fn rewound(record: &BlockRecord, cursor: &FeedCursor) -> Vec<u8> {
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("type").text(EventType::Rewound.name());
    json.key("cursor").text(&cursor.to_string());
    json.key("number").quantity(record.number());
    json.key("hash").hash(&record.hash);
    json.end_object();
    json.finish()
}

/// Returns the place that a feed begins at, and the place that its client knows.
fn start(node: &Node, from: &str, content: &FeedContent) -> Result<(FeedCursor, Option<FeedCursor>), RpcError> {
    let chain = node.chain();
    let begin = |cursor| Ok((cursor, None));
    match from {
        "latest" => return begin(FeedCursor::behind(&chain.head().record)),
        "earliest" => return begin(oldest(node, content)?),
        _ => {}
    }
    if let Some(number) = decimal(from) {
        let head = chain.head().number();
        let above = || RpcError::invalid_params(format!("Invalid from: the head is block {head}"));
        let oldest = oldest(node, content)?;
        return match chain.main_block(number)? {
            Some(record) if number >= oldest.number => begin(FeedCursor::before(&record)),
            None if number > head => Err(above()),
            _ => Err(gone(&format!("block {number}"), &oldest)),
        };
    }
    let malformed = || {
        RpcError::invalid_params("Invalid from")
            .with_hint("from: expected a cursor (NUMBER-HASH-STEPS), a block number in decimal, earliest or latest")
    };
    let cursor = FeedCursor::parse(from).ok_or_else(malformed)?;
    check(node, content, &cursor)?;
    Ok((cursor, Some(cursor)))
}

/// Checks the cursor of a client against its block.
fn check(node: &Node, content: &FeedContent, cursor: &FeedCursor) -> Result<(), RpcError> {
    let wrong = |what: String| Err(RpcError::invalid_params(format!("Invalid from: {what}")));
    match node.chain().block(&cursor.hash)? {
        Some(record) if record.number() != cursor.number => {
            wrong(format!("block {} has the number {}", record.hash, record.number()))
        }
        Some(record) if cursor.steps > steps_of(&record) => {
            wrong(format!("block {} has {} steps", record.hash, steps_of(&record)))
        }
        Some(_) => Ok(()),
        None if node.deleted().way_back(&cursor.hash).is_some() => Ok(()),
        None => Err(not_stored(node, content, cursor)),
    }
}

fn next_change(node: &Node, content: &FeedContent, cursor: &FeedCursor) -> Result<FeedChange, RpcError> {
    let chain = node.chain();
    let is_main = chain.main_hash(cursor.number)? == Some(cursor.hash);
    let Some(record) = chain.block(&cursor.hash)? else { return rewind(node, content, cursor) };
    let from = cursor.steps;
    if is_main && from < steps_of(&record) {
        return enact(node, content, record, from);
    }
    if is_main {
        let head = chain.head().number();
        return match chain.main_block(cursor.number.saturating_add(1))? {
            _ if cursor.number >= head => Ok(FeedChange::None),
            Some(next) if next.parent() == Some(cursor.hash) => enact(node, content, next, 0),
            Some(_) => Ok(FeedChange::Reread),
            // Blocks above a state from peers are stored before those below.
            None if chain.main_hash(cursor.number)? == Some(cursor.hash) => Err(not_stored(node, content, cursor)),
            None => Ok(FeedChange::Reread),
        };
    }
    let Some(parent) = record.parent().map(|hash| chain.block(&hash)).transpose()?.flatten() else {
        return Err(not_stored(node, content, cursor));
    };
    let parent = FeedCursor::behind(&parent);
    match from {
        0 => Ok(FeedChange::Move(parent)),
        _ if !has_state(node, content, &record) => Err(not_stored(node, content, cursor)),
        _ => Ok(FeedChange::Retract { record, from, parent }),
    }
}

fn enact(node: &Node, content: &FeedContent, record: Arc<BlockRecord>, from: u64) -> Result<FeedChange, RpcError> {
    // Genesis has no receipts.
    let is_bare = content.needs_receipts() && (1..node.chain().first_receipts()).contains(&record.number());
    match is_bare || !has_state(node, content, &record) {
        true => Err(not_stored(node, content, &FeedCursor::before(&record))),
        false => Ok(FeedChange::Enact { record, from }),
    }
}

/// Whether the state that a block executes on is kept, if the content needs it. Genesis executes nothing.
fn has_state(node: &Node, content: &FeedContent, record: &BlockRecord) -> bool {
    !content.needs_execution() || record.number() == 0 || record.number() > node.chain().oldest_state()
}

/// Finds the block that a development network went back to when it deleted that of a cursor.
fn rewind(node: &Node, content: &FeedContent, cursor: &FeedCursor) -> Result<FeedChange, RpcError> {
    let chain = node.chain();
    let Some(height) = node.deleted().way_back(&cursor.hash) else { return Err(not_stored(node, content, cursor)) };
    let record = chain.main_block(height.min(chain.head().number()))?;
    record.map(FeedChange::Rewind).ok_or_else(|| not_stored(node, content, cursor))
}

/// Returns the oldest place from which all of a content is stored.
fn oldest(node: &Node, content: &FeedContent) -> Result<FeedCursor, RpcError> {
    let chain = node.chain();
    let absent = |number| RpcError::internal(format!("block {number} is not stored"));
    let first = chain.first_block();
    if node.fork().is_some() {
        // The blocks of the other chain are not stored here.
        return chain.main_block(first)?.map(|record| FeedCursor::behind(&record)).ok_or_else(|| absent(first));
    }
    let stored = chain.oldest_block()?.map_or(0, |oldest| oldest.number);
    let receipts = if content.needs_receipts() { chain.first_receipts() } else { 0 };
    let state = chain.oldest_state();
    let executed = if content.needs_execution() && state > 0 { state.saturating_add(1) } else { 0 };
    // Genesis is always stored, whole.
    let number = Some(stored.max(receipts).max(executed)).filter(|number| *number > 1).unwrap_or(first);
    chain.main_block(number)?.map(|record| FeedCursor::before(&record)).ok_or_else(|| absent(number))
}

fn not_stored(node: &Node, content: &FeedContent, cursor: &FeedCursor) -> RpcError {
    match oldest(node, content) {
        Ok(oldest) => gone(&format!("block {} ({})", cursor.number, cursor.hash), &oldest),
        Err(error) => error,
    }
}

fn gone(block: &str, oldest: &FeedCursor) -> RpcError {
    let mut data = JsonWriter::new();
    data.begin_object();
    data.key("oldest").text(&oldest.to_string());
    data.end_object();
    let hint = format!("from: expected a cursor of this chain, not older than {oldest}");
    let error =
        RpcError::new(ErrorCode::NotStored, format!("The node does not have all of {block} and the blocks after it"));
    RpcError { details: Some(Box::new(Details { hint, data: Some(data.finish()) })), ..error }
}
