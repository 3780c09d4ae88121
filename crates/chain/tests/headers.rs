//! Headers ahead of their blocks.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rhizome_chain::{Chain, ChainConfig, ChainedHeader, HeaderFault, HeaderRun, ImportOutcome, PreparedBlock};
use rhizome_pow::HeaderRuleError;
use rhizome_primitives::{B256, Block, Bytes, ChainSpec, Header, U256, rlp};

use crate::config;

const NOW: u64 = 1_700_000_000;

fn open(name: &'static str, dir: Option<&Path>) -> Arc<Chain> {
    let extra_data = Bytes::from_static(name.as_bytes());
    Chain::open(ChainConfig { extra_data, ..config(ChainSpec::regtest(), dir) }).unwrap()
}

fn mined(name: &'static str, count: usize) -> Vec<Block> {
    let chain = open(name, None);
    (0..count).map(|_| chain.mine(NOW).unwrap().block.clone()).collect()
}

/// Returns the headers as another node sends them.
fn received(blocks: &[Block]) -> Vec<Header> {
    let spec = ChainSpec::regtest();
    let compressed = blocks.iter().map(|block| block.header.encode_compressed());
    compressed.map(|header| Header::from_compressed_item(&rlp::decode_list(&header).unwrap(), &spec).unwrap()).collect()
}

fn verify(headers: Vec<Header>) -> Result<HeaderRun, HeaderFault> {
    HeaderRun::verify(headers, &ChainSpec::regtest(), NOW)
}

/// Adds headers on top of the best header or of the head.
fn extend(chain: &Chain, blocks: &[Block]) -> Vec<Arc<ChainedHeader>> {
    let parent = blocks[0].header.parent().unwrap();
    let parent = chain.headers().find(blocks[0].header.number - 1, &parent).unwrap().unwrap();
    let headers = chain.headers().attach(&parent, verify(received(blocks)).unwrap()).unwrap();
    chain.headers().adopt(&headers).unwrap();
    headers
}

fn import(chain: &Chain, blocks: &[Block]) -> Vec<&'static str> {
    let mut outcomes = Vec::new();
    let blocks = blocks.iter().map(|block| Some(((), PreparedBlock::new(block.clone()))));
    let on_block = |(), outcome: ImportOutcome| {
        outcomes.push(outcome.name());
        ControlFlow::Continue(())
    };
    chain.import_from_peers(blocks, on_block).unwrap();
    outcomes
}

#[test]
fn headers_are_resumed_after_a_restart_and_end_with_their_blocks() {
    let blocks = mined("a", 30);
    let dir = tempfile::tempdir().unwrap();
    let chain = open("", Some(dir.path()));
    extend(&chain, &blocks[..10]);
    extend(&chain, &blocks[10..]);
    assert_eq!((chain.headers().len(), chain.headers().best_number(), chain.head().number()), (30, 30, 0));
    assert_eq!(import(&chain, &blocks[..12]), ["IMPORTED_BEST"; 12]);
    drop(chain);
    let chain = open("", Some(dir.path()));
    let headers = chain.headers();
    assert_eq!((headers.len(), headers.first().unwrap().header.number), (18, 13));
    let tip = headers.tip().unwrap();
    assert_eq!((tip.hash, tip.header.lacks_extension()), (blocks[29].hash(), received(&blocks)[29].lacks_extension()));
    assert_eq!(headers.at(20).unwrap().hash, blocks[19].hash());
    assert!(headers.at(31).is_none() && headers.at(12).is_none());
    import(&chain, &blocks[12..]);
    chain.headers().advance(30).unwrap();
    assert!(chain.headers().is_empty());
    assert_eq!(chain.headers().best_number(), 30);
    drop(chain);
    assert!(open("", Some(dir.path())).headers().is_empty());
}

#[test]
fn the_difficulty_is_that_of_the_block_below_plus_the_headers() {
    let blocks = mined("a", 5);
    let chain = open("", None);
    let headers = extend(&chain, &blocks);
    let own: U256 = blocks.iter().map(|block| block.header.difficulty_value()).sum();
    assert_eq!(headers[4].difficulty, chain.head().record.total_difficulty + own);
}

#[test]
fn headers_that_break_a_rule_are_refused() {
    let blocks = mined("a", 6);
    let chain = open("", None);
    let genesis = chain.headers().find(0, &chain.head().hash()).unwrap().unwrap();
    let changed = |at: usize, change: fn(&mut Header)| {
        let mut headers = received(&blocks);
        change(&mut headers[at]);
        headers[at] = headers[at].clone();
        headers
    };
    let is_refused = |headers: Vec<Header>| match verify(headers) {
        Ok(run) => chain.headers().attach(&genesis, run).unwrap_err(),
        Err(fault) => fault,
    };
    let link = is_refused(changed(3, |header| header.parent_hash = vec![7; 32].into()));
    assert!(matches!(link, HeaderFault::Link { number: 4 }), "{link}");
    let rule = is_refused(changed(5, |header| header.difficulty = Some(U256::from(77))));
    assert!(matches!(rule, HeaderFault::Rule { number: 6, .. }), "{rule}");
    let work = is_refused(changed(5, |header| header.extra_data = vec![1].into()));
    assert!(matches!(work, HeaderFault::ProofOfWork { number: 6, .. }), "{work}");
    let lowest = is_refused(received(&blocks[1..]));
    assert!(matches!(lowest, HeaderFault::Link { number: 2 }), "{lowest}");
    let rule = HeaderRuleError::InTheFuture { timestamp: 3, now: 1, drift: 1 };
    assert!(HeaderFault::Rule { number: 1, rule }.is_in_the_future() && !lowest.is_in_the_future());
}

#[test]
fn a_checkpoint_refuses_another_chain() {
    let blocks = mined("a", 6);
    let mut spec = ChainSpec::regtest();
    spec.checkpoints.push((4, B256::repeat_byte(4)));
    let chain = Chain::open(config(spec, None)).unwrap();
    let genesis = chain.headers().find(0, &chain.head().hash()).unwrap().unwrap();
    let fault = chain.headers().attach(&genesis, verify(received(&blocks)).unwrap()).unwrap_err();
    assert!(matches!(fault, HeaderFault::Checkpoint { number: 4, .. }), "{fault}");
    assert_eq!(import(&chain, &blocks), ["IMPORTED_BEST", "IMPORTED_BEST", "IMPORTED_BEST", "INVALID_BLOCK"]);
}

#[test]
fn a_branch_of_headers_replaces_a_lighter_one() {
    let (a, b) = (mined("a", 10), mined("b", 12));
    let chain = open("", None);
    import(&chain, &a[..4]);
    extend(&chain, &a[4..]);
    let headers = chain.headers();
    let genesis = chain.main_hash(0).unwrap().unwrap();
    let genesis = headers.find(0, &genesis).unwrap().unwrap();
    let attach = |count: usize| headers.attach(&genesis, verify(received(&b[..count])).unwrap()).unwrap();
    assert!(!headers.is_heavier(&attach(9), true).unwrap());
    assert!(!headers.is_heavier(&attach(10), false).unwrap() && headers.is_heavier(&attach(10), true).unwrap());
    assert!(headers.is_heavier(&attach(11), false).unwrap());
    headers.adopt(&attach(12)).unwrap();
    assert_eq!((headers.len(), headers.tip().unwrap().hash), (12, b[11].hash()));
    assert_eq!(headers.at(4).unwrap().hash, b[3].hash());
    headers.forget_from(9).unwrap();
    assert_eq!(headers.tip().unwrap().hash, b[7].hash());
}

#[test]
fn descendants_of_an_invalid_block_are_refused() {
    let mut blocks = mined("a", 6);
    let chain = open("", None);
    let parent = chain.headers().find(0, &chain.head().hash()).unwrap().unwrap();
    // A wrong state root is found by execution and binds the hash.
    blocks[0].header.state_root = vec![9; 32].into();
    rhizome_pow::solve(&mut blocks[0].header, None, chain.spec(), u32::MAX).unwrap();
    blocks[0].header = blocks[0].header.clone();
    assert_eq!(import(&chain, &blocks[..1]), ["INVALID_BLOCK"]);
    assert!(chain.headers().is_known_invalid(&blocks[0].hash()));
    let fault = chain.headers().attach(&parent, verify(received(&blocks[..1])).unwrap()).unwrap_err();
    assert!(matches!(fault, HeaderFault::KnownInvalid { number: 1, .. }), "{fault}");
}

#[test]
fn nothing_is_imported_behind_a_block_that_is_not() {
    let mut blocks = mined("a", 40);
    let chain = open("", None);
    blocks.remove(20);
    let outcomes = import(&chain, &blocks);
    assert_eq!(outcomes[..20], ["IMPORTED_BEST"; 20]);
    assert_eq!(outcomes[20..], ["NO_PARENT"]);
    assert_eq!(chain.head().number(), 20);
}
