//! Synchronization with scripted peers that play the reference node.

use crate::reference_peer::{Behaviour, ReferencePeer, ServedChain};
use crate::support::{key, options, standing, wait_for};
use rhizome_chain::{Chain, ChainConfig, DataDir};
use rhizome_net::{Limits, NetworkOptions, PeerNetwork, SyncStatus};
use rhizome_primitives::{Bytes, ChainSpec, U256};
use rhizome_wire::rsk::BlockIdentifier;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) const NOW: u64 = 1_700_000_000;
/// Longest time for a synchronization of some hundred blocks.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Returns settings with small caches. `name`: extra data of mined blocks.
pub(crate) fn config(name: &'static str, spec: ChainSpec, dir: Option<&Path>) -> ChainConfig {
    let data_dir = dir.map_or(DataDir::Temporary, |dir| DataDir::Path(dir.to_owned()));
    let extra_data = Bytes::from_static(name.as_bytes());
    let defaults = ChainConfig::new(Arc::new(spec), data_dir);
    ChainConfig { cache_bytes: 8 << 20, trie_bytes: 8 << 20, write_buffer_bytes: 8 << 20, extra_data, ..defaults }
}

pub(crate) fn open(name: &'static str, dir: Option<&Path>) -> Arc<Chain> {
    Chain::open(config(name, ChainSpec::regtest(), dir)).unwrap()
}

/// Returns the first blocks of the chain with a name. All tests share it: each block is mined once.
pub(crate) fn mined(name: &'static str, count: u64) -> Arc<ServedChain> {
    static CHAINS: Mutex<BTreeMap<&str, Arc<Chain>>> = Mutex::new(BTreeMap::new());
    let mut chains = CHAINS.lock().unwrap_or_else(PoisonError::into_inner);
    let chain = chains.entry(name).or_insert_with(|| open(name, None));
    while chain.head().number() < count {
        chain.mine(NOW).unwrap();
    }
    ServedChain::up_to(chain, count)
}

/// A node that synchronizes.
pub(crate) struct SyncingNode {
    pub(crate) network: PeerNetwork,
    pub(crate) chain: Arc<Chain>,
}

impl SyncingNode {
    pub(crate) fn start(chain: Arc<Chain>) -> SyncingNode {
        SyncingNode::start_with(chain, |options| options)
    }

    pub(crate) fn start_with(chain: Arc<Chain>, change: impl FnOnce(NetworkOptions) -> NetworkOptions) -> SyncingNode {
        let genesis = chain.main_hash(0).unwrap().unwrap();
        let options = change(NetworkOptions { genesis, ..options(1) });
        let network = PeerNetwork::join(options, Arc::clone(&chain), standing()).unwrap();
        SyncingNode { network, chain }
    }

    pub(crate) fn peer(&self, fill: u8, chain: &Arc<ServedChain>, behaviour: Behaviour) -> ReferencePeer {
        let address = self.network.listening().unwrap();
        ReferencePeer::start(address, key(fill), self.network.id(), Arc::clone(chain), behaviour)
    }

    pub(crate) fn status(&self) -> SyncStatus {
        self.network.sync_status().unwrap()
    }

    /// Waits until a block is the head. Returns the time.
    pub(crate) fn reaches(&self, best: BlockIdentifier) -> Duration {
        let start = Instant::now();
        wait_for(&format!("block {} with {:?}", best.number, self.network.closed()), PATIENCE, || {
            self.chain.head().hash() == best.hash
        });
        start.elapsed()
    }
}

#[test]
fn a_node_follows_one_peer_block_by_block() {
    let served = mined("a", 600);
    let node = SyncingNode::start(open("", None));
    let peer = node.peer(2, &served, Behaviour::default());
    let time = node.reaches(served.best());
    eprintln!("600 blocks in {time:?}");
    let status = node.status();
    assert_eq!((status.current, status.highest), (600, 600));
    wait_for("the end", PATIENCE, || !node.status().is_syncing);
    assert_eq!((status.bodies, status.headers), (600, 600));
    assert!(status.failure.is_none() && !peer.is_closed());
    // 600 bodies, 4 chunks of headers, a skeleton.
    assert!(peer.answers() <= 610, "{}", peer.answers());
}

#[test]
fn whole_blocks_come_by_the_hundred_from_a_snap_server() {
    let served = mined("a", 1_500);
    let node = SyncingNode::start(open("", None));
    let peer = node.peer(2, &served, Behaviour { serves_snap: true, is_limited: true, ..Behaviour::default() });
    let time = node.reaches(served.best());
    eprintln!("1,500 blocks in {time:?}");
    assert!(peer.answers() < 40, "{}", peer.answers());
}

#[test]
fn bodies_come_from_all_peers_and_no_message_is_lost() {
    let served = mined("a", 1_500);
    let node = SyncingNode::start(open("", None));
    let limited = Behaviour { is_limited: true, ..Behaviour::default() };
    let peers: Vec<ReferencePeer> = (2..7).map(|fill| node.peer(fill, &served, limited.clone())).collect();
    let time = node.reaches(served.best());
    eprintln!("1,500 blocks from 5 peers in {time:?}");
    assert!(peers.iter().all(|peer| peer.lost() == 0 && peer.answers() > 200 && !peer.is_closed()));
}

#[test]
fn a_heavier_branch_replaces_the_head_and_a_lighter_one_does_not() {
    let chain = open("a", None);
    for _ in 0..500 {
        chain.mine(NOW).unwrap();
    }
    let own = chain.head().hash();
    let (lighter, heavier) = (mined("b", 450), mined("c", 520));
    let node = SyncingNode::start(chain);
    // It claims more than it has.
    let claim = Some((lighter.best(), U256::MAX >> 1));
    let _liar = node.peer(2, &lighter, Behaviour { claim, ..Behaviour::default() });
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!((node.chain.head().hash(), node.chain.headers().len()), (own, 0));
    let _peer = node.peer(3, &heavier, Behaviour::default());
    node.reaches(heavier.best());
}

#[test]
fn a_body_of_another_block_is_punished_and_the_sync_goes_on() {
    let served = mined("a", 400);
    let node = SyncingNode::start(open("", None));
    let liar = node.peer(2, &served, Behaviour { wrong_bodies_from: Some(50), ..Behaviour::default() });
    wait_for("the end of the liar", PATIENCE, || liar.is_closed());
    // Counted after the connection is closed.
    wait_for("the punishment", PATIENCE, || node.network.closed().get("punished") == Some(&1));
    let _honest = node.peer(3, &served, Behaviour::default());
    node.reaches(served.best());
}

#[test]
fn a_silent_peer_is_replaced() {
    let served = mined("a", 400);
    let node = SyncingNode::start_with(open("", None), |options| NetworkOptions {
        limits: Limits { answer_time: Duration::from_secs(3), ..options.limits },
        ..options
    });
    let _silent = node.peer(2, &served, Behaviour { silent_from: Some(100), ..Behaviour::default() });
    wait_for("the first blocks", PATIENCE, || node.chain.head().number() >= 99);
    let _other = node.peer(3, &served, Behaviour::default());
    node.reaches(served.best());
}

#[test]
fn an_invalid_block_ends_its_chain_and_the_next_best_is_taken() {
    let chain = open("a", None);
    for _ in 0..300 {
        chain.mine(NOW).unwrap();
    }
    let good = ServedChain::of(&chain);
    let mut block = chain.main_block(250).unwrap().unwrap().block.clone();
    block.header.state_root = vec![7; 32].into();
    rhizome_pow::solve(&mut block.header, None, chain.spec(), u32::MAX).unwrap();
    block.header = block.header.clone();
    let bad = good.with(block);
    let node = SyncingNode::start(open("", None));
    let claim = Some((bad.best(), U256::MAX >> 1));
    let liar = node.peer(2, &bad, Behaviour { claim, ..Behaviour::default() });
    wait_for("the end of the liar", PATIENCE, || liar.is_closed());
    assert_eq!(node.chain.head().number(), 249);
    let _honest = node.peer(3, &good, Behaviour::default());
    node.reaches(good.best());
}

#[test]
fn a_claim_that_nothing_proves_does_not_stop_the_sync() {
    let served = mined("a", 300);
    let node = SyncingNode::start(open("", None));
    let unknown = BlockIdentifier { hash: [9; 32].into(), number: 100_000 };
    let liar = Behaviour { claim: Some((unknown, U256::MAX >> 1)), ..Behaviour::default() };
    let _liar = node.peer(2, &mined("b", 20), liar);
    std::thread::sleep(Duration::from_millis(300));
    let _honest = node.peer(3, &served, Behaviour::default());
    node.reaches(served.best());
}

#[test]
fn a_sync_goes_on_after_a_restart() {
    let served = mined("a", 900);
    let dir = tempfile::tempdir().unwrap();
    let node = SyncingNode::start(open("", Some(dir.path())));
    let peer = node.peer(2, &served, Behaviour { is_limited: true, ..Behaviour::default() });
    wait_for("the first blocks", PATIENCE, || node.chain.head().number() >= 100);
    let chain = Arc::downgrade(&node.chain);
    drop(node);
    drop(peer);
    // On a busy machine threads of the network end later, and hold the data directory until then.
    wait_for("the end of the threads", PATIENCE, || chain.strong_count() == 0);
    let node = SyncingNode::start(open("", Some(dir.path())));
    let head = node.chain.head().number();
    assert!((100..900).contains(&head));
    assert_eq!(node.chain.headers().tip().map(|tip| tip.hash), Some(served.best().hash));
    let _peer = node.peer(2, &served, Behaviour::default());
    node.reaches(served.best());
    assert_eq!((node.status().headers, node.status().bodies), (0, 900 - head));
}
