//! The steps of a block in the change feed: the block itself, then its transactions.

use crate::block_id::BlockRef;
use crate::error::RpcError;
use crate::feed::content::FeedContent;
use crate::feed::cursor::{FeedCursor, steps_of};
use crate::feed::event::EventType;
use crate::feed::page::PageLimits;
use crate::feed::step_execution::StepExecution;
use crate::json::JsonWriter;
use crate::lookup;
use crate::node::Node;
use crate::objects::block::TransactionList;
use crate::objects::{log, receipt, transaction};
use crate::tracing::subject::BlockSubject;
use rhizome_chain::{BlockLogs, BlockReceipts, BlockRecord, FoundLog};
use std::sync::Arc;

/// Some steps of a block, as an event.
pub(crate) struct StepsPart {
    /// Place of the client after it.
    pub(crate) place: FeedCursor,
    /// The JSON object; `None` if the steps have nothing of the content.
    pub(crate) json: Option<Vec<u8>>,
}

/// The stored data of a block that a content needs.
pub(crate) struct BlockSteps<'a> {
    node: &'a Node,
    content: &'a FeedContent,
    record: &'a Arc<BlockRecord>,
    /// Place of a client that has no step of the block.
    before: FeedCursor,
    receipts: Option<BlockReceipts>,
    logs: Option<BlockLogs>,
    /// `None` if the block is not executed.
    subject: Option<BlockSubject>,
}

/// Lists of an event, in the order of the steps.
#[derive(Default)]
struct Lists {
    block: Option<Vec<u8>>,
    transactions: JsonWriter,
    receipts: JsonWriter,
    logs: JsonWriter,
    traces: JsonWriter,
    state: JsonWriter,
}

impl Lists {
    fn len(&self) -> usize {
        let lists = [&self.transactions, &self.receipts, &self.logs, &self.traces, &self.state].map(JsonWriter::len);
        self.block.as_ref().map_or(0, Vec::len) + lists.iter().sum::<usize>()
    }
}

impl<'a> BlockSteps<'a> {
    pub(crate) fn read(
        node: &'a Node,
        content: &'a FeedContent,
        record: &'a Arc<BlockRecord>,
        before: FeedCursor,
    ) -> Result<Self, RpcError> {
        let chain = node.chain();
        let receipts = if content.has_receipts { chain.receipts(&record.hash)? } else { None };
        let logs = if content.logs.is_some() { chain.logs_in_block(&record.hash)? } else { None };
        let subject = if content.needs_execution() { BlockSubject::of_block(node, record)? } else { None };
        Ok(Self { node, content, record, before, receipts, logs, subject })
    }

    /// Writes the steps behind the first `from` steps, or with [`EventType::Retracted`] these, the last one first, until the event has
    /// the size of a page, or the time of the page is over; at least one.
    pub(crate) fn part(&self, kind: EventType, from: u64, limits: &PageLimits<'_>) -> Result<StepsPart, RpcError> {
        let is_retracted = kind == EventType::Retracted;
        let filter = self.content.logs.clone().unwrap_or_default();
        let found = self.logs.as_ref().map_or_else(Vec::new, |logs| logs.matching(&filter));
        let total = steps_of(self.record);
        let mut lists = Lists::default();
        let execute = |subject| StepExecution::new(self.node, self.content, subject, limits.execution);
        let mut execution = self.subject.as_ref().map(execute);
        let mut at = from;
        while if is_retracted { at > 0 } else { at < total } {
            if at != from && limits.is_over(lists.len()) {
                break;
            }
            let step = if is_retracted { at - 1 } else { at };
            match step.checked_sub(1) {
                None => lists.block = self.block()?,
                Some(index) => {
                    self.write_transaction(&mut lists, index, &found, is_retracted);
                    if let Some(execution) = &mut execution {
                        let index = usize::try_from(index).map_err(RpcError::internal)?;
                        execution.write(index, &mut lists.traces, &mut lists.state)?;
                    }
                }
            }
            at = if is_retracted { step } else { step + 1 };
        }
        let is_shown = self.content.has_blocks || lists.len() > 0;
        let json = is_shown.then(|| self.event(kind, (from, at, total), lists));
        Ok(StepsPart { place: self.place(at), json })
    }

    fn block(&self) -> Result<Option<Vec<u8>>, RpcError> {
        let block = BlockRef::Mined(Arc::clone(self.record));
        let text = || lookup::block_text(self.node, &block, TransactionList::Hashes);
        self.content.has_blocks.then(text).transpose()
    }

    fn write_transaction(&self, lists: &mut Lists, index: u64, found: &[FoundLog<'_>], is_retracted: bool) {
        let form = self.node.options().transaction_form;
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let (mined, sender) = (self.record.block.transactions.get(place), self.record.senders().get(place));
        if let Some((mined, sender)) = mined.zip(sender).filter(|(mined, _)| form.counts(mined)) {
            let position = lookup::mined_position(self.record, place);
            if self.content.has_transactions {
                transaction::write(&mut lists.transactions, mined, sender, Some(&position), form);
            }
            if let Some((receipts, one)) = self.receipts.as_ref().and_then(|all| Some((all, all.get(place)?))) {
                let first_log = receipts.logs_before(place) as u64;
                receipt::write(&mut lists.receipts, mined, sender, one, &position, first_log);
            }
        }
        let start = found.partition_point(|log| log.position.transaction_index < index);
        let end = found.partition_point(|log| log.position.transaction_index <= index);
        let mut logs: Vec<&FoundLog<'_>> = found.get(start..end).unwrap_or_default().iter().collect();
        if is_retracted {
            logs.reverse();
        }
        logs.iter().for_each(|one| log::write(&mut lists.logs, one.log.clone(), &one.position, Some(is_retracted)));
    }

    fn event(&self, kind: EventType, (from, to, total): (u64, u64, u64), lists: Lists) -> Vec<u8> {
        let mut json = JsonWriter::with_capacity(lists.len() + 512);
        let record = self.record;
        json.begin_object();
        json.key("type").text(kind.name());
        json.key("cursor").text(&self.place(to).to_string());
        json.key("number").quantity(record.number());
        json.key("hash").hash(&record.hash);
        json.key("parentHash").data(&record.block.header.parent_hash);
        json.key("timestamp").quantity(record.block.header.timestamp);
        for (name, steps) in [("from", from), ("to", to), ("steps", total)] {
            json.key(name).number(steps.cast_signed());
        }
        if let Some(block) = &lists.block {
            json.key("block").raw(block);
        }
        for (name, is_wanted, list) in [
            ("transactions", self.content.has_transactions, lists.transactions),
            ("receipts", self.content.has_receipts, lists.receipts),
            ("logs", self.content.logs.is_some(), lists.logs),
            ("traces", self.content.has_traces, lists.traces),
            ("state", self.content.has_state, lists.state),
        ] {
            if is_wanted {
                json.key(name).begin_array();
                json.append(&list.finish());
                json.end_array();
            }
        }
        json.end_object();
        json.finish()
    }

    /// Returns the place of a client that has some steps of the block.
    fn place(&self, steps: u64) -> FeedCursor {
        if steps == 0 { self.before } else { FeedCursor { steps, ..FeedCursor::before(self.record) } }
    }
}
