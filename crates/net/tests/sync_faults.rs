//! Faults of peers during a synchronization: each one costs the peer its connection or its claim, and another peer is asked.

use crate::reference_peer::{Behaviour, ServedChain};
use crate::support::wait_for;
use crate::sync::{NOW, PATIENCE, SyncingNode, config, mined, open};
use rhizome_chain::{Chain, ChainConfig, Clock, HeaderRun};
use rhizome_net::{Limits, NetworkOptions};
use rhizome_primitives::{B256, ChainSpec, Header, U256};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Difficulty that no honest peer claims.
const HUGE: U256 = U256::from_limbs([u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1]);

/// Custom network with a limit for times in the future.
pub(crate) fn timed() -> ChainConfig {
    let spec = r#"{"network": "regtest", "constants": {"newBlockMaxSecondsInTheFuture": 20}}"#;
    config("a", ChainSpec::from_json(spec).unwrap(), None)
}

/// The same with a clock that the test sets.
pub(crate) fn timed_by(now: &Arc<AtomicU64>) -> ChainConfig {
    let clock = Arc::clone(now);
    ChainConfig { clock: Clock::new(move || clock.load(Ordering::Relaxed)), ..timed() }
}

/// Returns a chain of 300 blocks, and the same one up to a changed header that ends it.
fn with_changed_header(change: impl Fn(&mut Header)) -> (Arc<ServedChain>, Arc<ServedChain>) {
    let good = mined("a", 300);
    let mut block = good.blocks()[250].clone();
    change(&mut block.header);
    // Without its cached hash.
    block.header = block.header.clone();
    (good.clone(), good.with(block))
}

fn solve(header: &mut Header) {
    rhizome_pow::solve(header, None, &ChainSpec::regtest(), u32::MAX).unwrap();
}

/// Starts a peer with the best claim, waits for its end, and for the synchronization with an honest one.
fn is_punished(node: &SyncingNode, lie: &Arc<ServedChain>, behaviour: Behaviour, honest: &Arc<ServedChain>) {
    let claim = Some((lie.best(), HUGE));
    let liar = node.peer(2, lie, Behaviour { claim, ..behaviour });
    wait_for("the end of the liar", PATIENCE, || liar.is_closed());
    // Counted after the connection is closed.
    wait_for("the punishment", PATIENCE, || node.network.closed().get("punished") == Some(&1));
    let _honest = node.peer(3, honest, Behaviour::default());
    node.reaches(honest.best());
    assert!(node.status().failure.is_none());
}

#[test]
fn headers_without_work_are_punished() {
    let (good, lie) = with_changed_header(|header| header.extra_data = vec![1, 2, 3].into());
    is_punished(&SyncingNode::start(Chain::open(timed()).unwrap()), &lie, Behaviour::default(), &good);
}

#[test]
fn headers_with_a_wrong_difficulty_are_punished() {
    let (good, lie) = with_changed_header(|header| {
        header.difficulty = Some(U256::from(7));
        solve(header);
    });
    is_punished(&SyncingNode::start(Chain::open(timed()).unwrap()), &lie, Behaviour::default(), &good);
}

#[test]
fn headers_without_a_link_are_punished() {
    let (good, lie) = with_changed_header(|header| {
        header.parent_hash = vec![7; 32].into();
        solve(header);
    });
    is_punished(&SyncingNode::start(Chain::open(timed()).unwrap()), &lie, Behaviour::default(), &good);
}

#[test]
fn fewer_headers_than_asked_for_are_punished() {
    let good = mined("a", 300);
    is_punished(
        &SyncingNode::start(open("", None)),
        &good,
        Behaviour { shortens_headers: true, ..Behaviour::default() },
        &good,
    );
}

#[test]
fn headers_of_the_future_cost_the_claim_only() {
    let later = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 3_600;
    let (good, lie) = with_changed_header(|header| {
        header.timestamp = later;
        solve(header);
    });
    let node = SyncingNode::start(Chain::open(timed()).unwrap());
    let liar = node.peer(2, &lie, Behaviour { claim: Some((lie.best(), HUGE)), ..Behaviour::default() });
    let _honest = node.peer(3, &good, Behaviour::default());
    node.reaches(good.best());
    assert!(!liar.is_closed(), "the clock of this node may be wrong");
}

#[test]
fn a_clock_that_is_ten_minutes_slow_is_named_and_ends_no_connection() {
    let good = mined("a", 300);
    let now = Arc::new(AtomicU64::new(good.blocks()[300].header.timestamp - 600));
    let node = SyncingNode::start_with(Chain::open(timed_by(&now)).unwrap(), |options| NetworkOptions {
        limits: Limits { claim_pause: Duration::from_secs(1), ..options.limits },
        ..options
    });
    let peers = [2, 3].map(|fill| node.peer(fill, &good, Behaviour::default()));
    let has_failure = || node.status().failure.is_some_and(|failure| failure.contains("clock"));
    wait_for("the failure", PATIENCE, has_failure);
    now.fetch_add(600, Ordering::Relaxed);
    node.reaches(good.best());
    wait_for("the end of the failure", PATIENCE, || node.status().failure.is_none());
    assert!(peers.iter().all(|peer| !peer.is_closed()));
}

#[test]
fn a_wrong_extension_is_punished() {
    let good = mined("a", 400);
    let node = SyncingNode::start(open("", None));
    is_punished(&node, &good, Behaviour { wrong_extensions_from: Some(50), ..Behaviour::default() }, &good);
}

#[test]
fn whole_blocks_with_other_uncles_are_punished() {
    let good = mined("a", 400);
    let node = SyncingNode::start(open("", None));
    let behaviour = Behaviour { serves_snap: true, wrong_bodies_from: Some(50), ..Behaviour::default() };
    is_punished(&node, &good, behaviour, &good);
}

#[test]
fn an_invalid_block_is_executed_once() {
    let (good, lie) = with_changed_header(|header| {
        header.state_root = vec![7; 32].into();
        solve(header);
    });
    let node = SyncingNode::start(Chain::open(timed()).unwrap());
    let claim = Some((lie.best(), HUGE));
    let first = node.peer(2, &lie, Behaviour { claim, ..Behaviour::default() });
    wait_for("the end of the liar", PATIENCE, || first.is_closed());
    assert_eq!(node.chain.head().number(), 249);
    assert!(node.chain.headers().is_known_invalid(&lie.best().hash));
    let bodies = node.status().bodies;
    let second = node.peer(4, &lie, Behaviour { claim, ..Behaviour::default() });
    let _honest = node.peer(3, &good, Behaviour::default());
    node.reaches(good.best());
    assert_eq!(node.status().bodies, bodies + 51, "the invalid block is not asked for again");
    drop(second);
}

/// Returns a chain with another state root in a block, and with links from there on.
fn with_invalid_block(good: &Arc<ServedChain>, invalid: usize) -> Arc<ServedChain> {
    let mut lie = Arc::clone(good);
    for number in invalid..good.blocks().len() {
        let mut block = good.blocks()[number].clone();
        block.header.parent_hash = lie.blocks()[number - 1].hash().to_vec().into();
        if number == invalid {
            block.header.state_root = vec![7; 32].into();
        }
        solve(&mut block.header);
        block.header.forget_hash();
        lie = lie.with(block);
    }
    lie
}

#[test]
fn an_invalid_block_is_not_the_fault_of_a_peer_with_a_lighter_branch() {
    let lie = with_invalid_block(&mined("a", 300), 150);
    let node = SyncingNode::start(Chain::open(timed()).unwrap());
    let claim = Some((lie.best(), HUGE));
    let first = node.peer(2, &lie, Behaviour { claim, silent_from: Some(1), ..Behaviour::default() });
    wait_for("the headers", PATIENCE, || node.status().headers == 300);
    let light = mined("b", 200);
    let claim = Some((light.best(), HUGE));
    let honest = node.peer(3, &light, Behaviour { claim, ..Behaviour::default() });
    wait_for("the headers of the lighter branch", PATIENCE, || node.status().headers == 500);
    let _bodies = node.peer(4, &lie, Behaviour::default());
    wait_for("the punishment", PATIENCE, || first.is_closed() || honest.is_closed());
    assert!(first.is_closed() && !honest.is_closed());
}

#[test]
fn an_invalid_block_is_not_the_fault_of_a_peer_whose_branch_was_left() {
    let (left, lie) = (mined("a", 300), with_invalid_block(&mined("b", 440), 250));
    let node = SyncingNode::start(Chain::open(timed()).unwrap());
    let honest = node.peer(2, &left, Behaviour { silent_from: Some(1), ..Behaviour::default() });
    wait_for("the headers", PATIENCE, || node.status().headers == 300);
    let liar = node.peer(3, &lie, Behaviour::default());
    wait_for("the punishment", PATIENCE, || liar.is_closed() || honest.is_closed());
    assert!(liar.is_closed() && !honest.is_closed());
}

/// Returns a chain with more blocks after the first ones of another chain.
fn branch_of(trunk: &ServedChain, fork: usize, length: usize) -> Arc<ServedChain> {
    let chain = Chain::open(config("branch", ChainSpec::regtest(), None)).unwrap();
    for block in &trunk.blocks()[1..=fork] {
        chain.import_block(block.clone()).unwrap();
    }
    for _ in 0..length {
        chain.mine(NOW).unwrap();
    }
    ServedChain::of(&chain)
}

#[test]
fn a_search_for_the_fork_ends_while_the_budget_of_its_peer_is_used_up() {
    const FORK: usize = 1_300;
    let left = mined("a", 1_800);
    let taken = branch_of(&left, FORK, 700);
    let node = SyncingNode::start_with(open("", None), |options| NetworkOptions {
        limits: Limits { answer_time: Duration::from_secs(1), rest_time: Duration::from_secs(1), ..options.limits },
        ..options
    });
    let next_chain = Some(Arc::clone(&taken));
    // After a silence the requests are spread over each minute. Those for bodies wait for each that becomes free.
    let _peer = node.peer(2, &left, Behaviour { loses_first: true, next_chain, ..Behaviour::default() });
    let best = taken.best();
    wait_for("the headers of the other branch", 2 * PATIENCE, || {
        node.chain.headers().has(best.number, &best.hash).unwrap()
    });
    assert!(node.chain.head().number() < FORK as u64, "{}", node.chain.head().number());
}

#[test]
fn headers_whose_blocks_no_peer_delivers_do_not_stop_the_sync() {
    let (heavy, light) = (mined("a", 600), mined("b", 500));
    let node = SyncingNode::start_with(open("", None), |options| NetworkOptions {
        limits: Limits { state_time: Duration::from_secs(2), ..options.limits },
        ..options
    });
    let _headers = node.peer(2, &heavy, Behaviour { silent_from: Some(1), ..Behaviour::default() });
    wait_for("the headers", PATIENCE, || node.status().headers == 600);
    let _blocks = node.peer(3, &light, Behaviour::default());
    node.reaches(light.best());
}

#[test]
fn a_long_light_branch_is_neither_kept_nor_executed() {
    let chain = open("a", None);
    for _ in 0..3_100 {
        chain.mine(NOW).unwrap();
    }
    let head = chain.head().hash();
    let light = mined("b", 3_000);
    let node = SyncingNode::start(chain);
    let claim = Some((light.best(), HUGE));
    let liar = node.peer(2, &light, Behaviour { claim, ..Behaviour::default() });
    wait_for("the headers of the branch", PATIENCE, || node.status().headers >= 3_000);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!((node.status().bodies, node.chain.headers().len()), (0, 0));
    assert_eq!(node.chain.head().hash(), head);
    // Its claim does not count any more.
    let answers = liar.answers();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(liar.answers(), answers);
}

#[test]
fn a_checkpoint_refuses_the_heavier_chain() {
    let (a, b) = (mined("a", 300), mined("b", 320));
    let mut spec = ChainSpec::regtest();
    spec.checkpoints.push((100, a.blocks()[100].hash()));
    let node = SyncingNode::start(Chain::open(config("", spec, None)).unwrap());
    let other = node.peer(2, &b, Behaviour::default());
    wait_for("the end of the other chain", PATIENCE, || other.is_closed());
    assert_eq!(node.chain.head().number(), 0);
    let _peer = node.peer(3, &a, Behaviour::default());
    node.reaches(a.best());
}

#[test]
fn a_claim_below_the_minimum_of_the_network_is_not_followed() {
    let (low, high) = (mined("a", 200), mined("b", 320));
    let mut spec = ChainSpec::regtest();
    spec.minimum_chain_difficulty = high.total_difficulty();
    let node = SyncingNode::start(Chain::open(config("", spec, None)).unwrap());
    let _behind = node.peer(2, &low, Behaviour::default());
    wait_for("the peer", PATIENCE, || node.status().load.peers == 1);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!((node.status().headers, node.chain.head().number()), (0, 0));
    let _peer = node.peer(3, &high, Behaviour::default());
    node.reaches(high.best());
}

#[test]
fn below_a_checkpoint_some_proofs_of_work_are_checked() {
    let good = mined("a", 400);
    let mut headers: Vec<Header> = good.blocks().iter().skip(1).map(|block| block.header.clone()).collect();
    let mut spec = ChainSpec::regtest();
    spec.checkpoints.push((1_000, B256::ZERO));
    // A chain without any work.
    for at in 0..headers.len() {
        headers[at].extra_data = vec![1, 2, 3].into();
        if let Some(parent) = at.checked_sub(1) {
            headers[at].parent_hash = headers[parent].hash().to_vec().into();
        }
        headers[at] = headers[at].clone();
    }
    let faults = (0..20).filter(|_| HeaderRun::verify(headers.clone(), &spec, NOW).is_err()).count();
    // Each run of 400 passes with a probability of 0.2 %.
    assert!(faults >= 15, "{faults}");
}

#[test]
fn a_server_that_closes_on_a_request_for_whole_blocks_is_asked_for_bodies() {
    let served = mined("a", 300);
    let node = SyncingNode::start(open("", None));
    let behaviour = Behaviour { serves_snap: true, ends_at_blocks: true, ..Behaviour::default() };
    let first = node.peer(2, &served, behaviour.clone());
    wait_for("the end of the connection", PATIENCE, || first.is_closed());
    drop(first);
    let _second = node.peer(2, &served, behaviour);
    node.reaches(served.best());
}

#[test]
fn a_peer_at_a_chunk_s_end_that_is_asked_from_there_is_not_punished() {
    let (own, other) = (open("a", None), mined("b", 193));
    for _ in 0..192 {
        own.mine(NOW).unwrap();
    }
    let node = SyncingNode::start(own);
    // Uncles can make a chain of the same height heavier.
    let same = other.first(192);
    let heavier = same.total_difficulty() + U256::from(1);
    let peer = node.peer(2, &same, Behaviour { claim: Some((same.best(), heavier)), ..Behaviour::default() });
    wait_for("a skeleton", PATIENCE, || peer.answers() > 0);
    let _longer = node.peer(3, &other, Behaviour::default());
    node.reaches(other.best());
    assert_eq!(node.network.closed().get("punished"), None);
}

#[test]
fn a_skeleton_of_two_chains_is_not_the_fault_of_the_peer_that_brings_the_headers() {
    let good = mined("a", 600);
    let mut sibling = good.blocks()[192].clone();
    sibling.header.extra_data = vec![7].into();
    solve(&mut sibling.header);
    sibling.header.forget_hash();
    let lie = Behaviour { branch: Some(good.with(sibling)), claim: Some((good.best(), HUGE)), ..Behaviour::default() };
    let node = SyncingNode::start(open("", None));
    // They help, but do not lead.
    let modest = Behaviour { claim: Some((good.best(), U256::ZERO)), ..Behaviour::default() };
    let helpers = [3, 4].map(|fill| node.peer(fill, &good, modest.clone()));
    wait_for("the helpers", PATIENCE, || node.status().load.peers == 2);
    let liar = node.peer(2, &good, lie);
    wait_for("the headers of the liar", PATIENCE, || liar.answers() >= 2 && node.status().headers >= 192);
    let _honest = node.peer(5, &good, Behaviour::default());
    node.reaches(good.best());
    assert!(helpers.iter().all(|peer| !peer.is_closed()), "{:?}", node.network.closed());
}
