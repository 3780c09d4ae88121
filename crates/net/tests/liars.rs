//! Peers that hinder a synchronization without a message that is a fault: an honest peer brings the chain nevertheless.

use crate::chunk_server::ChunkServer;
use crate::reference_peer::Behaviour;
use crate::scripted_peer::{ScriptedPeer, connect};
use crate::snap::{new_chain, serving, source};
use crate::support::{key, wait, wait_for};
use crate::sync::{PATIENCE, SyncingNode, mined, open};
use rhizome_chain::Chain;
use rhizome_net::{Limits, NetworkOptions};
use rhizome_primitives::{U256, keccak256};
use rhizome_wire::rsk::{BlockIdentifier, RskMessage, StatusMessage};
use rhizome_wire::session::{Capability, codes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time between two answers to requests that this node has not sent.
const NOISE: Duration = Duration::from_millis(100);
const SHORT: Duration = Duration::from_millis(500);

/// Peers that send only noise and skeletons of invented blocks. They end when this is dropped.
#[derive(Default)]
struct Liars {
    counters: Arc<LiarCounters>,
    /// Their skeletons begin with an invented block, too.
    invents_genesis: bool,
}

#[derive(Default)]
struct LiarCounters {
    is_stopped: AtomicBool,
    skeletons: AtomicU64,
    bodies: AtomicU64,
}

impl Drop for Liars {
    fn drop(&mut self) {
        self.counters.is_stopped.store(true, Ordering::Relaxed);
    }
}

impl Liars {
    fn join(&self, node: &SyncingNode, fill: u8, claim: StatusMessage) {
        let genesis = node.chain.main_hash(0).unwrap().unwrap();
        let (address, id) = (node.network.listening().unwrap(), node.network.id());
        let capabilities = [Capability::rsk(), Capability::rhizome()];
        let mut peer = ScriptedPeer::join_with(connect(address), &key(fill), id, &capabilities, genesis.as_slice());
        peer.socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        peer.send(codes::RSK, &RskMessage::Status(claim).encode());
        let (counters, invents_genesis) = (Arc::clone(&self.counters), self.invents_genesis);
        std::thread::spawn(move || {
            let mut noise = Instant::now();
            while !counters.is_stopped.load(Ordering::Relaxed) {
                if noise.elapsed() >= NOISE {
                    noise = Instant::now();
                    peer.send(codes::RSK, &RskMessage::BlockHashResponse { id: 1 << 40, hash: genesis }.encode());
                }
                let Ok(frame) = peer.poll() else { return };
                let Some(frame) = frame else { continue };
                match frame.code {
                    codes::PING => peer.send(codes::PONG, &[0xc0]),
                    codes::RSK => {
                        let Ok(RskMessage::SkeletonRequest { id, start: 0 }) = RskMessage::decode(frame.payload())
                        else {
                            continue;
                        };
                        let invented = |at: u64| keccak256([&[fill][..], &at.to_be_bytes()].concat());
                        let hash = |at| if at == 0 && !invents_genesis { genesis } else { invented(at) };
                        let skeleton = (0..3).map(|at| BlockIdentifier { hash: hash(at), number: 192 * at }).collect();
                        peer.send(codes::RSK, &RskMessage::SkeletonResponse { id, skeleton }.encode());
                        counters.skeletons.fetch_add(1, Ordering::Relaxed);
                    }
                    code if code >= codes::RHIZOME => _ = counters.bodies.fetch_add(1, Ordering::Relaxed),
                    _ => {}
                }
            }
        });
    }
}

fn start(chain: Arc<Chain>, answer_time: Duration, downloads_state: bool) -> SyncingNode {
    SyncingNode::start_with(chain, |options| NetworkOptions {
        limits: Limits { answer_time, ..options.limits },
        downloads_state,
        ..options
    })
}

#[test]
fn peers_that_claim_much_and_bring_nothing_do_not_stop_the_headers() {
    let (served, node, liars) = (mined("a", 600), start(open("node", None), SHORT, false), Liars::default());
    for fill in 20..24 {
        let best = BlockIdentifier { hash: keccak256([fill]), number: 400 };
        let parent_and_difficulty = Some((best.hash, U256::MAX >> (fill - 18)));
        liars.join(&node, fill, StatusMessage { best, parent_and_difficulty });
    }
    wait("a round of a liar", || liars.counters.skeletons.load(Ordering::Relaxed) > 0);
    let _honest = node.peer(2, &served, Behaviour::default());
    node.reaches(served.best());
}

#[test]
fn a_skeleton_without_a_known_block_does_not_stop_the_headers() {
    let (served, node) = (mined("a", 600), start(open("node", None), SHORT, false));
    let liars = Liars { counters: Arc::default(), invents_genesis: true };
    let best = BlockIdentifier { hash: keccak256("best"), number: 400 };
    liars.join(&node, 20, StatusMessage { best, parent_and_difficulty: Some((best.hash, U256::MAX >> 2)) });
    wait("a skeleton", || liars.counters.skeletons.load(Ordering::Relaxed) > 0);
    let _honest = node.peer(2, &served, Behaviour::default());
    node.reaches(served.best());
}

#[test]
fn peers_that_keep_bodies_back_do_not_stop_the_blocks() {
    // Three of them keep a block for longer than the 30 s after which they might be asked for it again.
    let time = Duration::from_secs(5);
    let (served, node, liars) = (mined("a", 600), start(open("node", None), time, false), Liars::default());
    let RskMessage::Status(claim) = served.status() else { unreachable!() };
    // Slow enough for requests to all.
    let _honest = node.peer(2, &served, Behaviour { is_limited: true, ..Behaviour::default() });
    wait("the headers", || node.status().highest == 600);
    for fill in 20..24 {
        liars.join(&node, fill, claim);
    }
    wait("a request to a liar", || liars.counters.bodies.load(Ordering::Relaxed) > 0);
    node.reaches(served.best());
}

#[test]
fn a_peer_that_claims_much_and_brings_nothing_does_not_stop_a_state() {
    let (chain, served) = source();
    let dir = tempfile::tempdir().unwrap();
    let (node, liars) = (start(new_chain(dir.path()), SHORT, true), Liars::default());
    let best = BlockIdentifier { hash: keccak256("best"), number: 1 << 40 };
    liars.join(&node, 20, StatusMessage { best, parent_and_difficulty: Some((best.hash, U256::MAX >> 2)) });
    wait("a round of the liar", || liars.counters.skeletons.load(Ordering::Relaxed) > 0);
    let states = ChunkServer::new(&chain, false, None);
    let _honest = node.peer(2, &served, serving(&states));
    wait_for("chunks", PATIENCE, || node.network.state_progress().is_some_and(|progress| progress.chunks > 0));
}
