//! The change feed: the way from any cursor to the head, whatever happened to the chain meanwhile.

use crate::node::{chain_a, regtest};
use rhizome_answers::feed::page::{self, PageLimits};
use rhizome_answers::feed::{FeedContent, FeedForm};
use rhizome_answers::hardhat::rollback;
use rhizome_answers::log_filter::LogQuery;
use rhizome_answers::objects::block::TransactionList;
use rhizome_answers::options::MiningMode;
use rhizome_answers::{AnswerOptions, ErrorCode, Node, RpcError, eth};
use rhizome_chain::Clock;
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, Bytes, Transaction, U256, UnsignedTransaction, keccak256};
use serde_json::{Value, json};

pub(crate) const NOW: u64 = 1_700_000_000;
const BLOCKS: &str = r#"{"what":["blocks","transactions"]}"#;

pub(crate) fn node() -> Node {
    let options = AnswerOptions { mining: MiningMode::Off, has_wallet: true, ..AnswerOptions::document() };
    regtest(options, Clock::new(|| NOW))
}

/// Mines a block with a number of transactions and the one of REMASC.
pub(crate) fn mine(node: &Node, transactions: u64, time: u64) {
    let sender = "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826".parse::<Address>().unwrap();
    let used = node.chain().pool().next_nonce(&sender).unwrap();
    for index in 0..transactions {
        let unsigned = UnsignedTransaction {
            nonce: U256::from(used + index),
            gas_price: U256::from(100_000_000),
            gas_limit: 21_000,
            to: Some(Address::repeat_byte(7)),
            value: U256::from(time),
            data: Bytes::new(),
        };
        node.chain().submit(Transaction::sign(unsigned, 33, &keccak256("cow")).unwrap()).unwrap();
    }
    node.chain().mine(time).unwrap();
}

/// Gives a node the blocks of another node from a height on.
pub(crate) fn import(node: &Node, other: &Node, from: u64) {
    for number in from..=other.chain().head().number() {
        node.chain().import_block(other.chain().main_block(number).unwrap().unwrap().block.clone()).unwrap();
    }
}

pub(crate) struct Page {
    pub(crate) events: Vec<Value>,
    pub(crate) cursor: String,
    pub(crate) is_at_head: bool,
}

pub(crate) fn read(node: &Node, from: &str, content: &str, max_bytes: usize) -> Result<Page, RpcError> {
    let content = FeedContent::parse(content)?;
    let none = Deadline::none();
    let limits = PageLimits { bytes: max_bytes, deadline: &none, execution: &none };
    let text = page::answer(node, from, &content, FeedForm::Lines, &limits)?;
    let mut lines: Vec<Value> =
        text.split(|byte| *byte == b'\n').map(|line| serde_json::from_slice(line).unwrap()).collect();
    let end = lines.pop().unwrap();
    let cursor = end["cursor"].as_str().unwrap().to_owned();
    Ok(Page { events: lines, cursor, is_at_head: end["isAtHead"].as_bool().unwrap() })
}

/// Reads all events up to the head, in pages.
pub(crate) fn read_all(node: &Node, from: &str, content: &str, max_bytes: usize) -> Vec<Value> {
    let (mut events, mut from) = (Vec::new(), from.to_owned());
    loop {
        let page = read(node, &from, content, max_bytes).unwrap();
        events.extend(page.events);
        if page.is_at_head {
            return events;
        }
        assert_ne!(page.cursor, from, "a page makes progress");
        from = page.cursor;
    }
}

/// A client that applies events and checks that each continues its chain.
#[derive(Clone, Default, Debug)]
struct Client {
    /// Hash, parent, steps that it has, all steps.
    blocks: Vec<(String, String, u64, u64)>,
    /// Hashes of transactions in order.
    transactions: Vec<Value>,
    cursor: String,
}

impl Client {
    fn apply(&mut self, event: &Value) {
        let text = |name: &str| event[name].as_str().unwrap().to_owned();
        let count = |name: &str| event[name].as_u64().unwrap();
        self.cursor = text("cursor");
        let listed = || event["transactions"].as_array().unwrap().iter().map(|one| one["hash"].clone());
        match event["type"].as_str().unwrap() {
            "enacted" => {
                if count("from") == 0 {
                    if let Some((hash, _, has, all)) = self.blocks.last() {
                        assert_eq!((hash, has), (&text("parentHash"), all), "a child of the last whole block");
                    }
                    self.blocks.push((text("hash"), text("parentHash"), 0, count("steps")));
                    assert_eq!(event["block"]["hash"], event["hash"]);
                }
                let (hash, _, has, _) = self.blocks.last_mut().unwrap();
                assert_eq!((&*hash, *has), (&text("hash"), count("from")));
                *has = count("to");
                self.transactions.extend(listed());
            }
            "retracted" => {
                let (hash, _, has, _) = self.blocks.last_mut().unwrap();
                assert_eq!((&*hash, *has), (&text("hash"), count("from")));
                *has = count("to");
                for hash in listed() {
                    assert_eq!(self.transactions.pop(), Some(hash), "the last one first");
                }
                if count("to") == 0 {
                    self.blocks.pop();
                }
            }
            "progress" => {}
            other => panic!("{other}"),
        }
    }

    fn apply_all(&mut self, events: &[Value]) {
        events.iter().for_each(|event| self.apply(event));
    }
}

/// Asserts that a client has the best chain.
fn assert_has_chain(client: &Client, node: &Node) {
    let head = node.chain().head().number();
    let records: Vec<_> = (0..=head).map(|number| node.chain().main_block(number).unwrap().unwrap()).collect();
    let hashes: Vec<String> = records.iter().map(|record| record.hash.to_string()).collect();
    assert_eq!(client.blocks.iter().map(|(hash, ..)| hash.clone()).collect::<Vec<_>>(), hashes);
    assert!(client.blocks.iter().all(|(_, _, has, all)| has == all), "whole blocks: {:?}", client.blocks);
    let transactions = records.iter().flat_map(|record| record.block.transactions.iter());
    let expected: Vec<Value> = transactions.map(|one| json!(one.hash().to_string())).collect();
    assert_eq!(client.transactions, expected);
}

#[test]
fn a_client_that_resumes_after_any_event_has_the_best_chain() {
    // Pages of one step each, of some blocks, and of all.
    for max_bytes in [1, 4_000, 1 << 20] {
        let (node, other) = (node(), node());
        mine(&node, 2, NOW);
        import(&other, &node, 1);
        for transactions in [3, 0, 1] {
            mine(&node, transactions, NOW + 1);
        }
        let before = read_all(&node, "earliest", BLOCKS, max_bytes);
        // Another branch from block 1 on wins.
        for transactions in [1, 2, 0, 4, 1] {
            mine(&other, transactions, NOW + 2);
        }
        import(&node, &other, 2);
        assert_eq!(node.chain().head().hash(), other.chain().head().hash());
        let mut client = Client::default();
        let mut resumed = vec![Client { cursor: "earliest".into(), ..Client::default() }];
        for event in &before {
            client.apply(event);
            resumed.push(client.clone());
        }
        let retractions = resumed.iter_mut().map(|client| {
            let events = read_all(&node, &client.cursor.clone(), BLOCKS, max_bytes);
            client.apply_all(&events);
            assert_has_chain(client, &node);
            events.iter().filter(|event| event["type"] == "retracted").count()
        });
        assert!(retractions.max().unwrap() >= 3, "blocks 2 to 4");
        // A resume in the middle of the retractions, and on a node that never had the branch.
        let mut part = client.clone();
        let page = read(&node, &client.cursor, BLOCKS, 1).unwrap();
        part.apply_all(&page.events);
        part.apply_all(&read_all(&node, &page.cursor, BLOCKS, max_bytes));
        assert_has_chain(&part, &node);
        let elsewhere = read(&other, &client.cursor, BLOCKS, max_bytes).err().unwrap();
        assert_eq!(elsewhere.code, ErrorCode::NotStored);
    }
}

#[test]
fn contents_equal_those_of_the_methods() {
    let node = chain_a(AnswerOptions::document());
    let what = r#"{"what":["blocks","transactions","receipts","logs"]}"#;
    let events = read_all(&node, "earliest", what, 1 << 20);
    let all = |name: &str| events.iter().flat_map(|one| one[name].as_array().unwrap().clone()).collect::<Vec<_>>();
    let parsed = |text: Vec<u8>| serde_json::from_slice::<Value>(&text).unwrap();
    let query = LogQuery::parse(r#"{"fromBlock":"0x0"}"#).unwrap();
    let logs = parsed(eth::get_logs::answer(&node, &query, 1 << 24, &Deadline::none(), &Deadline::none()).unwrap());
    assert!(logs.as_array().unwrap().len() > 2);
    assert_eq!(json!(all("logs")), logs);
    let (mut receipts, mut transactions) = (Vec::new(), Vec::new());
    for (number, event) in events.iter().enumerate() {
        let record = node.chain().main_block(number as u64).unwrap().unwrap();
        let block = |list| parsed(eth::get_block_by_hash::answer(&node, &record.hash, list).unwrap());
        assert_eq!(event["block"], block(TransactionList::Hashes));
        transactions.extend(block(TransactionList::Objects)["transactions"].as_array().unwrap().clone());
        for one in &record.block.transactions {
            receipts.push(parsed(eth::get_transaction_receipt::answer(&node, &one.hash()).unwrap()));
        }
    }
    assert_eq!((json!(all("transactions")), json!(all("receipts"))), (json!(transactions), json!(receipts)));
    // A filter, one step a page: the same logs.
    let address = logs[0]["address"].as_str().unwrap();
    let filtered = format!(r#"{{"what":["logs"],"address":"{address}"}}"#);
    let some = read_all(&node, "earliest", &filtered, 1);
    let found: Vec<Value> = some.iter().flat_map(|one| one["logs"].as_array().cloned().unwrap_or_default()).collect();
    let expected: Vec<&Value> = logs.as_array().unwrap().iter().filter(|log| log["address"] == address).collect();
    assert_eq!(found.iter().collect::<Vec<_>>(), expected);
    let nobody = format!(r#"{{"what":["logs"],"address":"0x{}"}}"#, "01".repeat(20));
    let none = read_all(&node, "earliest", &nobody, 1 << 20);
    assert_eq!((none.len(), &none[0]["type"]), (1, &json!("progress")), "only the place");
    assert_eq!(none[0]["cursor"], events.last().unwrap()["cursor"]);
}

fn logs_of(events: &[Value], kind: &str) -> Vec<Value> {
    let events = events.iter().filter(|one| one["type"] == kind);
    events.flat_map(|one| one["logs"].as_array().unwrap().clone()).collect()
}

/// Returns the logs by which all of these blocks are retracted.
fn retraction_of(events: &[Value]) -> Vec<Value> {
    let mut logs = logs_of(events, "enacted");
    logs.reverse();
    logs.iter_mut().for_each(|log| log["removed"] = json!(true));
    logs
}

#[test]
fn logs_of_retracted_blocks_are_marked_and_reversed() {
    let node = chain_a(AnswerOptions::document());
    let logs = r#"{"what":["logs"]}"#;
    let before = read_all(&node, "earliest", logs, 1 << 20);
    // A longer chain without any of these blocks.
    let other = regtest(AnswerOptions::document(), Clock::new(|| 0x6553_f484));
    while other.chain().head().record.total_difficulty <= node.chain().head().record.total_difficulty {
        other.chain().mine(0x6553_f484).unwrap();
    }
    let cursor = before.last().unwrap()["cursor"].as_str().unwrap();
    import(&node, &other, 1);
    let after = read_all(&node, cursor, logs, 1 << 20);
    assert_eq!(logs_of(&after, "retracted"), retraction_of(&before));
    assert_eq!(logs_of(&after, "enacted"), logs_of(&read_all(&other, "1", logs, 1 << 20), "enacted"));
}

#[test]
fn logs_of_a_retracted_block_that_was_never_the_head_are_complete() {
    let logs = r#"{"what":["logs"]}"#;
    let first = chain_a(AnswerOptions::document());
    let before = read_all(&first, "earliest", logs, 1 << 20);
    let cursor = before.last().unwrap()["cursor"].as_str().unwrap();
    let clock = || Clock::new(|| 0x6553_f484);
    let (node, other) = (regtest(AnswerOptions::document(), clock()), regtest(AnswerOptions::document(), clock()));
    while other.chain().head().record.total_difficulty <= first.chain().head().record.total_difficulty {
        other.chain().mine(0x6553_f484).unwrap();
    }
    import(&node, &other, 1);
    import(&node, &first, 1);
    assert_eq!(node.chain().head().hash(), other.chain().head().hash());
    let after = read_all(&node, cursor, logs, 1 << 20);
    assert_eq!(logs_of(&after, "retracted"), retraction_of(&before));
}

#[test]
fn a_feed_begins_at_the_head_or_at_a_block() {
    let node = node();
    (0..3).for_each(|_| mine(&node, 0, NOW));
    let latest = read(&node, "latest", BLOCKS, 1 << 20).unwrap();
    let head = node.chain().head().hash();
    assert_eq!((latest.is_at_head, latest.cursor.clone()), (true, format!("3-{head}-2")));
    assert_eq!(latest.events, [json!({ "type": "progress", "cursor": latest.cursor })]);
    let numbers = |from| -> Vec<Value> {
        read_all(&node, from, BLOCKS, 1 << 20).iter().map(|event| event["number"].clone()).collect()
    };
    assert_eq!(numbers("2"), ["0x2", "0x3"]);
    assert_eq!(numbers("0").len(), 4);
    assert!(read(&node, &latest.cursor, BLOCKS, 1 << 20).unwrap().events.is_empty(), "nothing new");
}

#[test]
fn cursors_that_fit_no_block_are_refused() {
    let node = node();
    (0..3).for_each(|_| mine(&node, 0, NOW));
    let refusal = |from: &str| read(&node, from, BLOCKS, 1 << 20).err().unwrap();
    let (genesis, hash) = (node.chain().main_hash(0).unwrap().unwrap(), node.chain().head().hash());
    let other = format!("3-0x{}-1", "ab".repeat(32));
    let gone = refusal(&other);
    assert_eq!(gone.code, ErrorCode::NotStored);
    let data: Value = serde_json::from_slice(gone.details.unwrap().data.as_ref().unwrap()).unwrap();
    assert_eq!(data, json!({ "oldest": format!("0-{genesis}-0") }));
    for (from, message) in [
        (format!("2-{hash}-1"), format!("Invalid from: block {hash} has the number 3")),
        (format!("3-{hash}-3"), format!("Invalid from: block {hash} has 2 steps")),
        (format!("3-{hash}"), "Invalid from".into()),
        ("head".into(), "Invalid from".into()),
        (String::new(), "Invalid from".into()),
        ("4".into(), "Invalid from: the head is block 3".into()),
        ("99999999999999999999".into(), "Invalid from".into()),
    ] {
        let refused = refusal(&from);
        assert_eq!((refused.code, refused.message), (ErrorCode::InvalidParams, message), "{from}");
    }
}

#[test]
fn a_development_network_that_goes_back_says_so() {
    let node = node();
    (0..4).for_each(|_| mine(&node, 0, NOW));
    let cursor = read(&node, "latest", BLOCKS, 1 << 20).unwrap().cursor;
    rollback::answer(&node, 3).unwrap();
    mine(&node, 0, NOW + 60);
    let events = read_all(&node, &cursor, BLOCKS, 1 << 20);
    let first = node.chain().main_hash(1).unwrap().unwrap();
    let rewound =
        json!({ "type": "rewound", "cursor": format!("1-{first}-2"), "number": "0x1", "hash": first.to_string() });
    assert_eq!((events.len(), &events[0]), (2, &rewound));
    assert_eq!((&events[1]["type"], &events[1]["number"]), (&json!("enacted"), &json!("0x2")));
}

#[test]
fn server_sent_events_have_the_cursor_as_id() {
    let node = node();
    mine(&node, 0, NOW);
    let content = FeedContent::parse(BLOCKS).unwrap();
    let none = Deadline::none();
    let limits = PageLimits { bytes: 1 << 20, deadline: &none, execution: &none };
    let text = page::answer(&node, "1", &content, FeedForm::EventStream, &limits).unwrap();
    let text = String::from_utf8(text).unwrap();
    let cursor = format!("1-{}-2", node.chain().head().hash());
    let head = format!("event: enacted\nid: {cursor}\ndata: {{\"type\":\"enacted\",\"cursor\":\"{cursor}\"");
    assert!(text.starts_with(&head), "{text}");
    assert!(text.ends_with(&format!("}}\n\n{{\"cursor\":\"{cursor}\",\"isAtHead\":true}}")), "{text}");
}
