//! A node whose state came from a peer: it has blocks without receipts, and may lack older blocks.

use rhizome_answers::block_id::BlockId;
use rhizome_answers::feed::page::{self, PageLimits};
use rhizome_answers::feed::{FeedContent, FeedForm};
use rhizome_answers::log_filter::LogQuery;
use rhizome_answers::options::AnswerOptions;
use rhizome_answers::trace::filter::TraceFilter;
use rhizome_answers::tracing::options::TraceOptions;
use rhizome_answers::{Answer, ErrorCode, Node, RpcError, debug, eth, rsk, trace};
use rhizome_chain::{Chain, ChainConfig, DataDir, HeaderRun, PreparedBlock, ProvenBlocks, STATE_CHUNK_BYTES};
use rhizome_evm::Deadline;
use rhizome_primitives::{B256, ChainSpec, Header, rlp};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

const NOW: u64 = 1_700_000_000;
const PIVOT: u64 = 4;
const HEAD: u64 = 6;

fn open(dir: Option<&Path>, proven_blocks: ProvenBlocks) -> Arc<Chain> {
    let data_dir = dir.map_or(DataDir::Temporary, |dir| DataDir::Path(dir.to_owned()));
    let defaults = ChainConfig::new(Arc::new(ChainSpec::regtest()), data_dir);
    Chain::open(ChainConfig { cache_bytes: 8 << 20, write_buffer_bytes: 8 << 20, proven_blocks, ..defaults }).unwrap()
}

/// Returns a chain of 6 blocks that has executed those above the pivot.
fn downloaded(dir: &Path) -> Arc<Chain> {
    let (source, chain) = (open(None, ProvenBlocks::All), open(Some(dir), ProvenBlocks::Last(2)));
    for _ in 0..HEAD {
        source.mine(NOW).unwrap();
    }
    let spec = ChainSpec::regtest();
    let block = |number| PreparedBlock::new(source.main_block(number).unwrap().unwrap().block.clone());
    let header = |number| {
        let encoding = source.main_block(number).unwrap().unwrap().block.header.encode_compressed();
        Header::from_compressed_item(&rlp::decode_list(&encoding).unwrap(), &spec).unwrap()
    };
    let run = HeaderRun::verify((1..=HEAD).map(header).collect(), &spec, NOW).unwrap();
    let genesis = chain.headers().find(0, &chain.main_hash(0).unwrap().unwrap()).unwrap().unwrap();
    chain.headers().adopt(&chain.headers().attach(&genesis, run).unwrap()).unwrap();
    let download = Arc::new(chain.begin_state_download(chain.state_pivot(PIVOT).unwrap()).unwrap());
    let snapshot = source.state_snapshot(PIVOT).unwrap().unwrap();
    while let Some(index) = download.missing(1, |_| false).first().copied() {
        let chunk = snapshot.chunk(index * STATE_CHUNK_BYTES).unwrap().unwrap();
        download.add_chunk(index, &chunk.bytes, chunk.is_complete).unwrap();
    }
    download.add_blocks(&(1..=PIVOT).rev().map(block).collect::<Vec<_>>()).unwrap();
    let difficulty = source.main_block(PIVOT).unwrap().unwrap().total_difficulty;
    chain.take_over_state(&download, difficulty).unwrap();
    let above = (PIVOT + 1..=HEAD).map(|number| Some(((), block(number))));
    chain.import_from_peers(above, |(), _| ControlFlow::Continue(())).unwrap();
    assert_eq!(chain.head().hash(), source.head().hash());
    chain
}

fn number(text: &str) -> BlockId<'_> {
    BlockId::parse(text).unwrap()
}

/// Returns the text of an error -32000.
fn refused(answer: Answer) -> String {
    let error = answer.unwrap_err();
    assert_eq!(error.code, ErrorCode::ServerError, "{error}");
    error.message
}

fn logs(node: &Node, filter: &Value) -> Answer {
    let none = Deadline::none();
    eth::get_logs::answer(node, &LogQuery::parse(&filter.to_string()).unwrap(), usize::MAX, &none, &none)
}

#[test]
fn blocks_without_receipts_and_states_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::new(downloaded(dir.path()), AnswerOptions::document()).unwrap();
    let capabilities: Value = serde_json::from_slice(&eth::capabilities::answer(&node).unwrap()).unwrap();
    let oldest = ["blocks", "tx", "receipts", "logs", "state"].map(|name| capabilities[name]["oldestBlock"].clone());
    assert_eq!(oldest, ["0x0", "0x0", "0x5", "0x5", "0x4"].map(Value::from));

    let last = node.chain().main_block(PIVOT).unwrap().unwrap();
    let (hash, transaction): (B256, B256) = (last.hash, last.block.transactions[0].hash());
    let none = Deadline::none();
    let traced = |text: &str| trace::block::answer(&node, &number(text), &none);
    let filtered = |json: Value| trace::filter::answer(&node, &TraceFilter::parse(&json.to_string()).unwrap(), &none);
    let no_receipts = [
        eth::get_block_receipts::answer(&node, &number("0x4")),
        eth::get_transaction_receipt::answer(&node, &transaction),
        logs(&node, &json!({"fromBlock": "0x4", "toBlock": "latest"})),
        logs(&node, &json!({"blockHash": hash.to_string()})),
        debug::get_raw_receipts::answer(&node, &number("0x4")),
        rsk::get_raw_transaction_receipt_by_hash::answer(&node, &transaction),
        rsk::get_transaction_receipt_nodes_by_hash::answer(&node, &hash, &transaction),
    ];
    for answer in no_receipts {
        let expected = "receipts of block 4 are not stored: the state of this node came from peers, and the first block with receipts is 5";
        assert_eq!(refused(answer), expected);
    }
    let options = TraceOptions::parse("{}").unwrap();
    let no_state = [
        traced("0x4"),
        filtered(json!({"fromBlock": "0x4"})),
        filtered(json!({})),
        debug::trace_block::answer(&node, &number("0x4"), &options, &none),
        trace::transaction::answer(&node, &transaction, &none),
    ];
    for answer in no_state {
        let message = refused(answer);
        assert!(message.contains("is not kept") && message.ends_with("that of block 4"), "{message}");
    }
    for answer in [
        eth::get_block_receipts::answer(&node, &number("0x5")),
        logs(&node, &json!({"fromBlock": "0x5", "toBlock": "latest"})),
        logs(&node, &json!({"fromBlock": "0x0", "toBlock": "0x0"})),
        traced("0x5"),
        filtered(json!({"fromBlock": "0x5"})),
    ] {
        assert!(answer.is_ok(), "{answer:?}");
    }
}

#[test]
fn a_feed_with_receipts_begins_behind_the_state_from_peers() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::new(downloaded(dir.path()), AnswerOptions::document()).unwrap();
    let first = |what: &str, from: &str| -> Result<Value, RpcError> {
        let content = FeedContent::parse(&format!(r#"{{"what":["{what}"]}}"#)).unwrap();
        let none = Deadline::none();
        let limits = PageLimits { bytes: 1, deadline: &none, execution: &none };
        let text = page::answer(&node, from, &content, FeedForm::Lines, &limits)?;
        Ok(serde_json::from_slice(text.split(|byte| *byte == b'\n').next().unwrap()).unwrap())
    };
    assert_eq!(first("blocks", "earliest").unwrap()["number"], "0x0");
    assert_eq!(first("receipts", "earliest").unwrap()["number"], "0x5");
    let hash = |number| node.chain().main_hash(number).unwrap().unwrap();
    let oldest = format!("5-{}-0", hash(5));
    for from in ["3".to_owned(), format!("3-{}-2", hash(3))] {
        let gone = first("receipts", &from).unwrap_err();
        assert_eq!(gone.code, ErrorCode::NotStored, "{gone}");
        let data: Value = serde_json::from_slice(gone.details.unwrap().data.as_ref().unwrap()).unwrap();
        assert_eq!(data["oldest"], oldest);
    }
    assert_eq!(first("receipts", &oldest).unwrap()["number"], "0x5");
}
