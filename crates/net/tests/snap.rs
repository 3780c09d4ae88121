//! New nodes that get a state from peers.

use crate::chunk_server::ChunkServer;
use crate::reference_peer::{Behaviour, ServedChain};
use crate::server::join;
use crate::support::{key, wait_for};
use crate::sync::{NOW, SyncingNode, config, open};
use rhizome_chain::{Chain, ChainConfig, ProvenBlocks, SnapshotHeights, StateHistory, VerificationScope};
use rhizome_net::{Enode, HostPort, Limits, NetworkOptions, ScoreEvent, ScoredPeer, SyncStatus};
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, I256, U256};
use rhizome_wire::rsk::{BlockIdentifier, EncodedBlock, EncodedList, RskMessage, WeighedBlocks, block_strings};
use rhizome_wire::session::{Capability, codes};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub(crate) const PIVOT: u64 = 1_160;
const BLOCKS: u64 = 5_100;
/// Longest time for a synchronization.
const PATIENCE: Duration = Duration::from_secs(90);

/// A chain with all states; that of block 1,160 has about 5 MB.
pub(crate) fn source() -> (Arc<Chain>, Arc<ServedChain>) {
    static SOURCE: OnceLock<(Arc<Chain>, Arc<ServedChain>)> = OnceLock::new();
    let make = || {
        let chain = open("source", None);
        chain.mine(NOW).unwrap();
        let filled = chain.change_state(|state| {
            for number in 0..2_000_u64 {
                let account = Address::from_word(B256::left_padding_from(&(number + (1 << 40)).to_be_bytes()));
                state.set_balance(account, I256::try_from(number + 1).unwrap())?;
                if number % 10 == 0 {
                    state.setup_contract(account)?;
                    state.save_code(account, Bytes::from(number.to_be_bytes().repeat(3_000)))?;
                }
            }
            Ok(())
        });
        filled.unwrap();
        while chain.head().number() < BLOCKS {
            chain.mine(NOW).unwrap();
        }
        let served = ServedChain::of(&chain);
        (chain, served)
    };
    let (chain, served) = SOURCE.get_or_init(make);
    (Arc::clone(chain), Arc::clone(served))
}

pub(crate) fn new_chain(dir: &Path) -> Arc<Chain> {
    open_new(dir, ChainSpec::regtest())
}

fn open_new(dir: &Path, spec: ChainSpec) -> Arc<Chain> {
    let (proven_blocks, history) = (ProvenBlocks::Last(10), StateHistory::Last(10_000));
    Chain::open(ChainConfig { proven_blocks, history, ..config("", spec, Some(dir)) }).unwrap()
}

pub(crate) fn start(dir: &Path) -> SyncingNode {
    start_chain(new_chain(dir))
}

fn start_chain(chain: Arc<Chain>) -> SyncingNode {
    SyncingNode::start_with(chain, |options| NetworkOptions {
        downloads_state: true,
        // Some servers do not answer.
        limits: Limits { bulk_answer_time: Duration::from_secs(4), ..options.limits },
        ..options
    })
}

pub(crate) fn serving(states: &Arc<ChunkServer>) -> Behaviour {
    Behaviour { serves_snap: true, states: Some(Arc::clone(states)), ..Behaviour::default() }
}

fn reaches(node: &SyncingNode, best: BlockIdentifier) {
    let text = || format!("block {}; {:?}, {:?}", best.number, node.network.state_progress(), node.status().failure);
    wait_for(&text(), PATIENCE, || node.chain.head().hash() == best.hash);
}

/// Compares the state of the head with its trie, and executes the last blocks again.
pub(crate) fn verify(chain: &Chain, pivot: u64) {
    let scope = VerificationScope { blocks: Some((chain.head().number() - 5, chain.head().number())), has_state: true };
    let verified = chain.verify(scope, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((verified.difference, verified.blocks), (None, 6));
    assert!(verified.keys > 2_000);
    // Blocks were executed above the pivot only.
    assert_eq!(chain.oldest_state(), pivot);
}

#[test]
fn a_new_node_gets_the_state_of_two_servers_of_which_one_lies() {
    let (chain, served) = source();
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    let (honest, liar) = (ChunkServer::new(&chain, false, None), ChunkServer::new(&chain, true, None));
    let _liar = node.peer(2, &served, serving(&liar));
    let _honest = node.peer(3, &served, serving(&honest));
    reaches(&node, served.best());
    verify(&node.chain, PIVOT);
    assert_eq!(node.chain.head().record.total_difficulty, chain.head().record.total_difficulty);
    let mut counts = honest.served();
    liar.served().into_iter().for_each(|(index, count)| *counts.entry(index).or_default() += count);
    assert!(counts.len() > 90 && counts.values().all(|count| *count == 1), "{counts:?}");
    assert!(node.network.state_progress().is_none() && node.status().failure.is_none());
    assert_eq!(node.network.closed().get("punished"), None);
}

#[test]
fn a_server_that_stops_is_replaced() {
    let (chain, served) = source();
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    let stopping = ChunkServer::new(&chain, false, Some(30));
    let _stopping = node.peer(2, &served, serving(&stopping));
    let progress = || node.network.state_progress().map_or(0, |progress| progress.chunks);
    wait_for("the first chunks", PATIENCE, || progress() >= 30);
    assert_eq!(node.chain.head().number(), 0);
    let status = node.status();
    let stage = status.download.unwrap();
    assert!(status.is_syncing && stage.progress.pivot == PIVOT && stage.bytes_per_second > 0.0, "{stage:?}");
    assert!((1..stage.progress.total_bytes).contains(&stage.progress.bytes), "{stage:?}");
    let other = ChunkServer::new(&chain, false, None);
    let _other = node.peer(3, &served, serving(&other));
    reaches(&node, served.best());
    verify(&node.chain, PIVOT);
    assert!(other.served().keys().all(|index| *index >= 30));
}

#[test]
fn servers_that_keep_the_last_chunks_back_are_not_waited_for() {
    let (chain, served) = source();
    let dir = tempfile::tempdir().unwrap();
    let node = SyncingNode::start_with(new_chain(dir.path()), |options| NetworkOptions {
        downloads_state: true,
        limits: Limits { bulk_answer_time: Duration::from_secs(600), ..options.limits },
        ..options
    });
    let stopping = [2, 3, 4].map(|fill| (fill, ChunkServer::new(&chain, false, Some(5))));
    let _liars = stopping.map(|(fill, states)| node.peer(fill, &served, serving(&states)));
    let honest = ChunkServer::new(&chain, false, None);
    let _honest = node.peer(5, &served, serving(&honest));
    reaches(&node, served.best());
    verify(&node.chain, PIVOT);
}

#[test]
fn a_server_of_wrong_chunks_is_banned_and_without_chunks_blocks_are_downloaded() {
    let (chain, served) = source();
    let dir = tempfile::tempdir().unwrap();
    let node = SyncingNode::start_with(new_chain(dir.path()), |options| NetworkOptions {
        downloads_state: true,
        limits: Limits {
            bulk_answer_time: Duration::from_secs(2),
            state_time: Duration::from_secs(6),
            ..options.limits
        },
        ..options
    });
    let (honest, liar) = (ChunkServer::new(&chain, false, Some(1)), ChunkServer::new(&chain, false, None));
    let _honest = node.peer(2, &served, serving(&honest));
    wait_for("the first chunk", PATIENCE, || node.network.state_progress().is_some_and(|now| now.chunks == 1));
    let liar = node.peer(3, &served, Behaviour { wrong_chunks: true, ..serving(&liar) });
    wait_for("the ban", PATIENCE, || node.network.closed().get("punished") == Some(&1));
    wait_for("the end of the connection", PATIENCE, || liar.is_closed());
    assert!(!node.status().has_given_up_state);
    wait_for("the end of the download", PATIENCE, || node.status().has_given_up_state);
    assert!(node.network.state_progress().is_none());
    // Blocks are asked for. The state of this chain was changed by hand, so that they cannot be executed.
    wait_for("blocks", PATIENCE, || node.status().bodies > 0);
}

/// Returns how often a peer has sent an answer that was not asked for.
fn unexpected(node: &SyncingNode, fill: u8) -> u64 {
    let id = ScoredPeer::Node(key(fill).id());
    let scores = node.network.standing().scores();
    let score = scores.into_iter().find(|(peer, _)| *peer == id);
    score.map_or(0, |(_, score)| score.count(ScoreEvent::UnexpectedMessage))
}

#[test]
fn answers_that_were_not_asked_for_count_against_the_peer() {
    let (chain, served) = source();
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    let mut stranger = join(&node, &[Capability::rsk(), Capability::snap()]);
    let strings = block_strings(std::iter::empty());
    let blocks = || WeighedBlocks::new(EncodedList::decode(&strings, "blocks").unwrap(), Vec::new()).unwrap();
    for id in [7, 1 << 48, (1 << 48) + 1, 1 << 49] {
        for message in [
            RskMessage::StateChunkResponse { id, chunk: &[], number: PIVOT, from: 0, to: 1, is_complete: false },
            RskMessage::SnapBlocksResponse { id, blocks: blocks() },
            RskMessage::SnapStatusResponse { id, blocks: blocks(), trie_size: 9 },
        ] {
            stranger.send(codes::RSK, &message.encode());
        }
    }
    wait_for("the counts", PATIENCE, || unexpected(&node, 9) == 12);
    // Each answer of this one comes twice.
    let states = ChunkServer::new(&chain, false, None);
    let peer = node.peer(2, &served, Behaviour { repeats_answers: true, ..serving(&states) });
    reaches(&node, served.best());
    let repeated = states.served().len() as u64;
    assert!(unexpected(&node, 2) > repeated && repeated > 90, "{} of {repeated}", unexpected(&node, 2));
    assert!(!peer.is_closed());
    verify(&node.chain, PIVOT);
}

#[test]
fn a_block_that_is_sent_before_the_headers_does_not_end_the_download() {
    let (chain, served) = source();
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    let mut stranger = join(&node, &[Capability::rsk()]);
    let first = served.blocks()[1].encode();
    stranger.send(codes::RSK, &RskMessage::Block(EncodedBlock::split(&first).unwrap()).encode());
    stranger.send(codes::PING, &[0xc0]);
    while stranger.receive().unwrap().code != codes::PONG {}
    let states = ChunkServer::new(&chain, false, None);
    let _peer = node.peer(2, &served, serving(&states));
    reaches(&node, served.best());
    verify(&node.chain, PIVOT);
}

/// Connects a peer with 300 blocks and a false claim first, and an honest server later: the state comes from that.
fn gets_the_state_after(claim: BlockIdentifier, least: U256, has_failed: impl Fn(&SyncStatus) -> bool) {
    let (chain, served) = source();
    let dir = tempfile::tempdir().unwrap();
    let mut spec = ChainSpec::regtest();
    spec.minimum_chain_difficulty = least;
    let node = start_chain(open_new(dir.path(), spec));
    let liar = Behaviour { claim: Some((claim, U256::MAX >> 1)), ..Behaviour::default() };
    let _liar = node.peer(2, &served.first(300), liar);
    wait_for("the end of the claim", PATIENCE, || has_failed(&node.status()));
    // Some looks at the headers.
    std::thread::sleep(Duration::from_millis(300));
    let states = ChunkServer::new(&chain, false, None);
    let _honest = node.peer(3, &served, serving(&states));
    reaches(&node, served.best());
    verify(&node.chain, PIVOT);
}

#[test]
fn a_claim_that_nothing_proves_does_not_end_the_download() {
    let unknown = BlockIdentifier { hash: [9; 32].into(), number: 100_000 };
    gets_the_state_after(unknown, U256::ZERO, |status| (status.load.peers, status.load.claimed) == (1, 0));
}

#[test]
fn a_chain_below_the_minimum_of_the_network_does_not_end_the_download() {
    let (_, served) = source();
    let low = served.first(300).best();
    gets_the_state_after(low, served.total_difficulty(), |status| (status.headers, status.load.claimed) == (300, 300));
}

#[test]
fn states_come_from_a_node_of_this_project() {
    let (chain, served) = source();
    let server = SyncingNode::start_with(chain, |options| NetworkOptions { serves_snap: true, key: key(4), ..options });
    let address = server.network.listening().unwrap();
    let address = HostPort { host: address.ip().to_string(), port: address.port() };
    let peer = Enode { id: server.network.id(), address };
    let dir = tempfile::tempdir().unwrap();
    let node = SyncingNode::start_with(new_chain(dir.path()), |options| NetworkOptions {
        downloads_state: true,
        static_peers: vec![peer.clone()],
        ..options
    });
    reaches(&node, served.best());
    verify(&node.chain, PIVOT);
    assert_eq!(node.chain.main_block(PIVOT).unwrap().unwrap().total_difficulty, U256::from(PIVOT + 1));
}

#[test]
fn short_chains_and_chains_with_blocks_are_executed() {
    let short = crate::sync::mined("a", 300);
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    let _peer = node.peer(2, &short, Behaviour { serves_snap: true, ..Behaviour::default() });
    reaches(&node, short.best());
    assert_eq!(
        (node.chain.oldest_state(), node.chain.receipts(&short.blocks()[1].hash()).unwrap().is_some()),
        (0, true)
    );
}

/// `-- --ignored --nocapture speed_of_a_state`; the variable ENTRIES sets the number of accounts.
#[test]
#[ignore = "measures"]
fn speed_of_a_state() {
    let entries: u64 = std::env::var("ENTRIES").map_or(1_000_000, |text| text.parse().unwrap());
    let (source, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = |dir: &Path| ChainConfig {
        proven_blocks: ProvenBlocks::Last(10),
        history: StateHistory::Last(10_000),
        cache_bytes: 256 << 20,
        write_buffer_bytes: 64 << 20,
        ..config("", ChainSpec::regtest(), Some(dir))
    };
    let chain = Chain::open(ChainConfig { snapshots: Some(SnapshotHeights::default()), ..settings(source.path()) });
    let chain = chain.unwrap();
    for first in (0..entries).step_by(50_000) {
        let filled = chain.change_state(move |state| {
            for number in first..(first + 50_000).min(entries) {
                let hash = rhizome_primitives::keccak256(number.to_be_bytes());
                state.set_balance(Address::from_word(hash), I256::try_from(number + (1 << 40)).unwrap())?;
            }
            Ok(())
        });
        filled.unwrap();
        chain.mine(NOW).unwrap();
    }
    while chain.head().number() < BLOCKS {
        chain.mine(NOW).unwrap();
    }
    wait_for("the snapshot", Duration::from_secs(600), || chain.state_snapshot(PIVOT).unwrap().is_some());
    let size = chain.state_snapshot(PIVOT).unwrap().unwrap().trie().size().unwrap();
    let server = SyncingNode::start_with(Arc::clone(&chain), |options| NetworkOptions {
        serves_snap: true,
        key: key(4),
        ..options
    });
    let address = server.network.listening().unwrap();
    let address = HostPort { host: address.ip().to_string(), port: address.port() };
    let peer = Enode { id: server.network.id(), address };
    let begin = Instant::now();
    let node = SyncingNode::start_with(Chain::open(settings(target.path())).unwrap(), |options| NetworkOptions {
        downloads_state: true,
        static_peers: vec![peer],
        ..options
    });
    let mut times = [None; 3];
    wait_for("the head", Duration::from_secs(1_200), || {
        let progress = node.network.state_progress();
        let steps = [
            progress.is_some(),
            progress.is_some_and(|now| now.chunks > 0 && now.chunks == now.total_chunks),
            node.chain.head().number() >= PIVOT,
        ];
        for (time, is_reached) in times.iter_mut().zip(steps) {
            if is_reached {
                time.get_or_insert_with(|| begin.elapsed());
            }
        }
        node.chain.head().hash() == chain.head().hash()
    });
    eprintln!("{entries} accounts, {size} bytes: [headers, chunks, taken over] {times:?}, head {:?}", begin.elapsed());
    let head = node.chain.head().number();
    let scope = VerificationScope { blocks: Some((head, head)), has_state: true };
    let verified = node.chain.verify(scope, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verified.difference, None);
    assert!(verified.keys > entries);
}
