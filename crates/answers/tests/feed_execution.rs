//! Contents of the change feed that are executed again, and blocks that it passes over.

use crate::feed::{NOW, import, mine, node, read, read_all};
use crate::node::{chain_a, regtest};
use rhizome_answers::block_id::BlockId;
use rhizome_answers::options::AnswerOptions;
use rhizome_answers::tracing::options::TraceOptions;
use rhizome_answers::{ErrorCode, Node, debug, trace};
use rhizome_chain::{Clock, StateHistory};
use rhizome_evm::Deadline;
use serde_json::{Value, json};
use std::ops::ControlFlow;

const EXECUTED: &str = r#"{"what":["traces","state"]}"#;

/// Returns the traces and the changes of all blocks by the methods.
fn traced(node: &Node) -> (Vec<Value>, Vec<Value>) {
    let diff = TraceOptions::parse(r#"{"tracer":"prestateTracer","diffMode":true}"#).unwrap();
    let (mut traces, mut changes) = (Vec::new(), Vec::new());
    for number in 0..=node.chain().head().number() {
        let text = format!("{number:#x}");
        let at = BlockId::parse(&text).unwrap();
        let parsed = |text: Vec<u8>| serde_json::from_slice::<Vec<Value>>(&text).unwrap();
        traces.extend(parsed(trace::block::answer(node, &at, &Deadline::none()).unwrap()));
        let states = parsed(debug::trace_block::answer(node, &at, &diff, &Deadline::none()).unwrap());
        changes.extend(states.into_iter().enumerate().map(|(index, one)| {
            json!({ "transactionHash": one["txHash"], "transactionIndex": format!("{index:#x}"), "diff": one["result"] })
        }));
    }
    (traces, changes)
}

fn all(events: &[Value], kind: &str, name: &str) -> Vec<Value> {
    let events = events.iter().filter(|one| one["type"] == kind);
    events.flat_map(|one| one[name].as_array().unwrap().clone()).collect()
}

#[test]
fn traces_and_changes_equal_those_of_the_methods() {
    let node = chain_a(AnswerOptions::document());
    let (traces, changes) = traced(&node);
    assert!(traces.len() > 20 && changes.iter().any(|one| !one["diff"]["post"].as_object().unwrap().is_empty()));
    // In pages of all blocks, and of one transaction each.
    for max_bytes in [1 << 20, 1] {
        let events = read_all(&node, "earliest", EXECUTED, max_bytes);
        assert_eq!(all(&events, "enacted", "traces"), traces);
        assert_eq!(all(&events, "enacted", "state"), changes);
    }
    let events = read_all(&node, "earliest", r#"{"what":["state"]}"#, 1 << 20);
    assert_eq!((all(&events, "enacted", "state"), &events[0]["traces"]), (changes, &Value::Null));
}

#[test]
fn those_of_retracted_blocks_come_again_the_last_transaction_first() {
    for max_bytes in [1 << 20, 1] {
        let (node, other) = (node(), node());
        for transactions in [2, 0, 3] {
            mine(&node, transactions, NOW);
        }
        let before = read_all(&node, "earliest", EXECUTED, 1 << 20);
        for transactions in [1, 1, 1, 1] {
            mine(&other, transactions, NOW + 1);
        }
        import(&node, &other, 1);
        let cursor = before.last().unwrap()["cursor"].as_str().unwrap();
        let after = read_all(&node, cursor, EXECUTED, max_bytes);
        for name in ["traces", "state"] {
            let mut expected = all(&before, "enacted", name);
            expected.reverse();
            assert_eq!(all(&after, "retracted", name), expected);
        }
        let (traces, changes) = traced(&other);
        assert_eq!((all(&after, "enacted", "traces"), all(&after, "enacted", "state")), (traces, changes));
    }
}

#[test]
fn blocks_whose_state_is_pruned_are_refused_with_the_oldest_cursor() {
    let node = node();
    (0..40).for_each(|_| mine(&node, 1, NOW));
    node.chain().prune(StateHistory::Last(10), |_| ControlFlow::Continue(())).unwrap();
    let oldest_state = node.chain().oldest_state();
    assert!(oldest_state > 0);
    let first = node.chain().main_hash(oldest_state + 1).unwrap().unwrap();
    let oldest = format!("{}-{first}-0", oldest_state + 1);
    for from in ["1".into(), format!("{oldest_state}"), format!("1-{}-1", node.chain().main_hash(1).unwrap().unwrap())]
    {
        let refused = read(&node, &from, EXECUTED, 1 << 20).err().unwrap();
        assert_eq!(refused.code, ErrorCode::NotStored);
        let data: Value = serde_json::from_slice(refused.details.unwrap().data.as_ref().unwrap()).unwrap();
        assert_eq!(data, json!({ "oldest": oldest }));
    }
    let kept = read_all(&node, &oldest, EXECUTED, 1 << 20);
    assert_eq!(kept.len() as u64, 40 - oldest_state);
    assert_eq!(read_all(&node, "earliest", EXECUTED, 1 << 20), kept);
    assert_eq!(read_all(&node, "1", r#"{"what":["blocks"]}"#, 1 << 20).len(), 40);
}

#[test]
fn a_sparse_filter_passes_over_blocks_without_logs() {
    let node = chain_a(AnswerOptions::document());
    let logs = read_all(&node, "earliest", r#"{"what":["logs"]}"#, 1 << 24);
    let found = all(&logs, "enacted", "logs");
    (0..2_500).for_each(|_| drop(node.chain().mine(NOW).unwrap()));
    let filter = format!(r#"{{"what":["logs"],"address":{}}}"#, found[0]["address"]);
    let page = read(&node, "earliest", &filter, 1 << 24).unwrap();
    let expected: Vec<Value> = found.iter().filter(|one| one["address"] == found[0]["address"]).cloned().collect();
    assert_eq!(all(&page.events, "enacted", "logs"), expected);
    let head = node.chain().head().hash();
    assert_eq!((page.is_at_head, page.cursor.contains(&head.to_string())), (true, true));
    assert_eq!(page.events.last().unwrap()["type"], "progress");
    // Another branch: the client has the blocks without logs, too.
    let other = regtest(AnswerOptions::document(), Clock::new(|| NOW));
    while other.chain().head().record.total_difficulty <= node.chain().head().record.total_difficulty {
        other.chain().mine(NOW + 7).unwrap();
    }
    import(&node, &other, 1);
    let after = read_all(&node, &page.cursor, &filter, 1 << 24);
    let mut taken: Vec<Value> = all(&after, "retracted", "logs");
    taken.reverse();
    taken.iter_mut().for_each(|log| log["removed"] = json!(false));
    assert_eq!(taken, expected);
    assert!(after.last().unwrap()["cursor"].as_str().unwrap().contains(&other.chain().head().hash().to_string()));
}
