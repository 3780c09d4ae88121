//! `trace_filter`.

use super::write_block;
use crate::block_id::{BlockId, BlockRef};
use crate::error::{Answer, RpcError};
use crate::fork;
use crate::json::JsonWriter;
use crate::node::Node;
use crate::sent::{self, Fault, Location, MAX_SAFE_INTEGER, Sent, shortened};
use crate::tracing::subject::{BlockSubject, NamedBlock};
use crate::tracing::transaction_trace::Window;
use rhizome_chain::PendingBlock;
use rhizome_evm::Deadline;
use rhizome_primitives::Address;
use serde_json::Value;
use std::sync::Arc;

/// Criteria of a search. Addresses are those of the transactions, not of their inner calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFilter {
    from_block: String,
    to_block: String,
    /// Any if empty.
    senders: Vec<Address>,
    /// Any if empty.
    receivers: Vec<Address>,
    after: usize,
    count: Option<usize>,
}

impl TraceFilter {
    /// Reads `{fromBlock?, toBlock?, fromAddress?, toAddress?, after?, count?}`. Null members count as absent.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let Ok(Value::Object(members)) = serde_json::from_str(json) else {
            return Err(refusal("Invalid trace_filter parameters."));
        };
        let mut filter = Self {
            from_block: "earliest".into(),
            to_block: "latest".into(),
            senders: Vec::new(),
            receivers: Vec::new(),
            after: 0,
            count: None,
        };
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            match name.as_str() {
                "fromBlock" => filter.from_block = block(value, name)?,
                "toBlock" => filter.to_block = block(value, name)?,
                "fromAddress" => filter.senders = addresses(value, name)?,
                "toAddress" => filter.receivers = addresses(value, name)?,
                "after" => filter.after = number(value, name)?,
                "count" => filter.count = Some(number(value, name)?),
                _ => {
                    let name = shortened(name);
                    return Err(refusal(format!("Invalid trace_filter parameters: unknown member {name}")));
                }
            }
        }
        Ok(filter)
    }

    fn matches(&self, sender: Address, receiver: Option<Address>) -> bool {
        let is_sent = self.senders.is_empty() || self.senders.contains(&sender);
        let is_received =
            self.receivers.is_empty() || receiver.is_some_and(|receiver| self.receivers.contains(&receiver));
        is_sent && is_received
    }

    /// Writes the traces of the matching transactions of a block.
    fn write(
        &self,
        node: &Node,
        json: &mut JsonWriter,
        subject: &BlockSubject,
        window: &mut Window,
        deadline: &Deadline,
    ) -> Result<(), RpcError> {
        let is_wanted = |index: usize| {
            subject.transaction(index).is_some_and(|(transaction, sender)| self.matches(sender, transaction.to()))
        };
        if !(0..subject.block().transactions.len()).any(is_wanted) {
            return Ok(());
        }
        write_block::write(node, json, subject, is_wanted, window, deadline)
    }
}

fn refusal(message: impl Into<String>) -> RpcError {
    let expected = "an object with fromBlock, toBlock, fromAddress, toAddress, after, count";
    RpcError::invalid_params(message).with_hint(format!("filter: expected {expected}"))
}

fn block(value: &Value, member: &str) -> Result<String, RpcError> {
    let text = Sent::from(value).quoted().into_owned();
    let lower = text.to_ascii_lowercase();
    let is_tag = matches!(lower.as_str(), "latest" | "earliest" | "pending" | "safe" | "finalized");
    Ok(sent::numbered_block(if is_tag { &lower } else { &text }, Location { owner: "filter", member })?)
}

/// Reads one address or a list of them. The error is that of the reference, which measures the whole parameter as text.
fn addresses(value: &Value, member: &str) -> Result<Vec<Address>, RpcError> {
    let at = Location { owner: "filter", member };
    let read = |value: &Value| {
        sent::address(&Sent::from(value), at).map_err(|fault| {
            let message = "invalid argument 0: hex string has length 0, want 40 for RSK address".into();
            RpcError::from(Fault { message, ..fault })
        })
    };
    match value {
        Value::Array(list) => list.iter().map(read).collect(),
        one => Ok(vec![read(one)?]),
    }
}

fn number(value: &Value, name: &str) -> Result<usize, RpcError> {
    let refused = |message: String| {
        RpcError::invalid_params(message).with_hint(format!("filter.{name}: expected a whole number"))
    };
    if let Some(number) = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER) {
        let negative =
            if name == "after" { "After value cannot be negative." } else { "Count value cannot be negative." };
        return if number < 0.0 { Err(refused(negative.into())) } else { Ok(number as usize) };
    }
    let text = Sent::from(value).quoted().into_owned();
    Err(refused(format!("Invalid {name} {}: must be a whole number", shortened(&text))))
}

/// Blocks of the other chain that a search may reach, up to the block that a fork begins at.
const OLDER_BLOCKS: u64 = 100;

/// A block at an end of the range.
enum RangeEnd {
    Mined(u64),
    Pending(Arc<PendingBlock>),
}

/// Blocks of the main chain, then the pending.
#[derive(Default)]
struct Range {
    mined: Option<(u64, u64)>,
    pending: Option<Arc<PendingBlock>>,
}

/// The traces of the transactions that match, in the order of the chain.
pub fn answer(node: &Node, filter: &TraceFilter, deadline: &Deadline) -> Answer {
    let most = node.options().trace_limits.count;
    let too_big =
        |name: &str| RpcError::invalid_params(format!("{name} value too big. Maximum {most} traces allowed."));
    let count = filter.count.unwrap_or(most);
    if count > most {
        return Err(too_big("Count"));
    }
    if filter.after > most {
        return Err(too_big("After"));
    }
    refuse_older(node, filter)?;
    let range = range(node, filter)?;
    let mut window = Window { skip: filter.after, take: count };
    let mut json = JsonWriter::with_capacity(2048);
    json.begin_array();
    if let Some((first, last)) = range.mined {
        for number in first..=last {
            if window.is_closed() {
                break;
            }
            if deadline.has_passed() {
                return Err(RpcError::timed_out());
            }
            match BlockSubject::named(node, &BlockId::of_number(number))? {
                // The chain went back.
                NamedBlock::Unknown => break,
                NamedBlock::Genesis => {}
                NamedBlock::Executed(subject) => filter.write(node, &mut json, &subject, &mut window, deadline)?,
            }
        }
    }
    if let (Some(pending), false) = (range.pending, window.is_closed())
        && let Some(subject) = BlockSubject::at(node, &BlockRef::Pending(pending))?
    {
        filter.write(node, &mut json, &subject, &mut window, deadline)?;
    }
    json.end_array();
    Ok(json.finish())
}

/// Fails with -32000 in a fork for a range that begins too far below it: each block of the other chain is executed again.
fn refuse_older(node: &Node, filter: &TraceFilter) -> Result<(), RpcError> {
    let Some(fork) = node.fork() else { return Ok(()) };
    let served = if fork.remote().is_some() { OLDER_BLOCKS } else { 0 };
    let first = (fork.number() + 1).saturating_sub(served);
    match BlockId::parse(&filter.from_block)?.fork_height(node, fork)? {
        Some(number) if number < first => {
            fork::refuse(node, "trace_filter", &format!("below block {first}; give a later fromBlock"))
        }
        _ => Ok(()),
    }
}

/// The block at an end of the range. In a fork it may be one of the other chain.
fn end(node: &Node, text: &str) -> Result<Option<RangeEnd>, RpcError> {
    let id = BlockId::parse(text)?;
    if let Some(fork) = node.fork().filter(|fork| fork.remote().is_some())
        && let Some(number) = id.fork_height(node, fork)?.filter(|number| *number <= fork.number())
    {
        return Ok(Some(RangeEnd::Mined(number)));
    }
    Ok(id.find_stored(node)?.map(|block| match block {
        BlockRef::Mined(record) => RangeEnd::Mined(record.number()),
        BlockRef::Pending(pending) => RangeEnd::Pending(pending),
    }))
}

/// A first block that does not exist means no blocks, a last one the head.
fn range(node: &Node, filter: &TraceFilter) -> Result<Range, RpcError> {
    let head = node.chain().head().number();
    let (first, last) = (end(node, &filter.from_block)?, end(node, &filter.to_block)?);
    let Some(first) = first else { return Ok(Range::default()) };
    let reversed = || RpcError::invalid_params("fromBlock cannot be greater than toBlock");
    match (first, last) {
        (RangeEnd::Pending(pending), Some(RangeEnd::Pending(_))) => Ok(Range { mined: None, pending: Some(pending) }),
        (RangeEnd::Pending(_), None) => Ok(Range::default()),
        (RangeEnd::Pending(_), Some(RangeEnd::Mined(_))) => Err(reversed()),
        (RangeEnd::Mined(first), Some(RangeEnd::Pending(pending))) => {
            Ok(Range { mined: Some((first, head)), pending: Some(pending) })
        }
        (RangeEnd::Mined(first), None) => Ok(Range { mined: Some((first, head)), pending: None }),
        (RangeEnd::Mined(first), Some(RangeEnd::Mined(last))) if first > last => Err(reversed()),
        (RangeEnd::Mined(first), Some(RangeEnd::Mined(last))) => {
            Ok(Range { mined: Some((first, last)), pending: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::AnswerOptions;
    use rhizome_chain::{Chain, ChainConfig, DataDir};
    use rhizome_primitives::ChainSpec;

    /// Returns a node with blocks that have the REMASC transaction only.
    fn node(blocks: u64) -> Node {
        let config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        let node = Node::new(Chain::open(config).unwrap(), AnswerOptions::document()).unwrap();
        (0..blocks).for_each(|_| drop(node.chain().mine(node.now()).unwrap()));
        node
    }

    fn traces(node: &Node, filter: &str) -> Vec<Value> {
        let answer = answer(node, &TraceFilter::parse(filter).unwrap(), &Deadline::none()).unwrap();
        serde_json::from_slice(&answer).unwrap()
    }

    #[test]
    fn pages_are_parts_of_the_whole() {
        let whole = traces(&node(6), "{}");
        assert!(whole.len() >= 6);
        let node = node(6);
        for _ in 0..2 {
            for (after, count) in [(0, 1), (3, 2), (1, 4), (5, 9), (6, 1), (99, 1)] {
                let page = traces(&node, &format!(r#"{{"after":{after},"count":{count}}}"#));
                let numbers =
                    |traces: &[Value]| -> Vec<Value> { traces.iter().map(|one| one["blockNumber"].clone()).collect() };
                let expected = &whole[after.min(whole.len())..(after + count).min(whole.len())];
                assert_eq!(numbers(&page), numbers(expected), "{after} {count}");
            }
        }
    }

    #[test]
    fn what_was_traced_is_skipped_without_an_execution() {
        let node = node(3);
        let whole = traces(&node, "{}");
        // The number is trusted: block 1 is not executed.
        let first = BlockSubject::of_block(&node, &node.chain().main_block(1).unwrap().unwrap()).unwrap().unwrap();
        let key = first.stored_key().unwrap();
        assert_eq!(*node.caches().trace_counts.of(&key), [Some(1)]);
        node.caches().trace_counts.add(key, 1, 0, 3);
        assert_eq!(traces(&node, r#"{"after":3,"count":1}"#), whole[1..2]);
    }

    #[test]
    fn reads_filters() {
        let filter = TraceFilter::parse("{}").unwrap();
        assert_eq!((filter.from_block.as_str(), filter.to_block.as_str()), ("earliest", "latest"));
        assert!(filter.matches(Address::ZERO, None));
        let filter = TraceFilter::parse(&format!(r#"{{"toAddress":["0x{:040}"],"after":3}}"#, 7)).unwrap();
        assert_eq!((filter.after, filter.count), (3, None));
        assert!(!filter.matches(Address::ZERO, None) && !filter.matches(Address::ZERO, Some(Address::ZERO)));
        assert!(filter.matches(Address::ZERO, Some(Address::with_last_byte(7))));
        for (json, message) in [
            (r#"{"count":-1}"#, "Count value cannot be negative."),
            (r#"{"count":1.5}"#, "Invalid count 1.5: must be a whole number"),
            (r#"{"mode":"union"}"#, "Invalid trace_filter parameters: unknown member mode"),
            (r#"{"toAddress":"0x1"}"#, "invalid argument 0: hex string has length 0, want 40 for RSK address"),
            (r#"{"fromBlock":"4"}"#, "invalid blocknumber 4"),
            ("null", "Invalid trace_filter parameters."),
        ] {
            assert_eq!(TraceFilter::parse(json).unwrap_err().message, message);
        }
    }
}
