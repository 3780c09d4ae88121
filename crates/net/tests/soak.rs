//! A node under peers that connect, lie and leave: its memory grows no more than that of a node without peers which mines the same
//! blocks, and its network threads stay free.
//! `SOAK_MINUTES=30 cargo test --release -p rhizome-net soak -- --nocapture`.

use crate::child_node::ChildNode;
use crate::relay::{mined, send_block};
use crate::scripted_peer::{ScriptedPeer, try_connect};
use crate::support::key;
use crate::sync::{NOW, SyncingNode, open};
use rhizome_net::{NetworkOptions, NodeKey};
use rhizome_primitives::rlp::{list, put_bytes, put_u64};
use rhizome_primitives::{B256, Block, U256, keccak256};
use rhizome_wire::rsk::{BlockIdentifier, RskMessage, StatusMessage, types};
use rhizome_wire::session::{Capability, codes};
use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const LIARS: u64 = 50;
/// Duration in minutes.
const MINUTES: &str = "SOAK_MINUTES";
/// Duration in a usual test run: too short for a statement on memory.
const SHORT: Duration = Duration::from_secs(5);
/// Memory that peers take may grow until then.
const WARM_UP: Duration = Duration::from_secs(300);
/// Growth of memory after that which is noise of the allocator.
const NOISE_KIB: u64 = 8 << 10;
const PING_PAUSE: Duration = Duration::from_millis(200);
/// Longest time for an answer to a ping: a network thread that is blocked longer delays it.
const LONGEST_PONG: Duration = Duration::from_millis(100);

/// The program of the node: mines a block each second; prints its address and its genesis block.
#[test]
#[ignore = "is started by another test"]
fn soaked_node() {
    if std::env::var(MINUTES).is_err() {
        return;
    }
    let node = SyncingNode::start_with(open("soak", None), |options| NetworkOptions {
        // Slots for all liars and the honest peer.
        max_peers: 2 * LIARS as usize,
        ..options
    });
    let genesis = node.chain.main_hash(0).unwrap().unwrap();
    let mut output = std::io::stdout();
    writeln!(output, "\naddress {}\ngenesis {genesis}", node.network.listening().unwrap()).unwrap();
    // Ends without a reader.
    while writeln!(output, "closed {:?}", node.network.closed()).is_ok() {
        node.chain.mine(NOW).unwrap();
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Resident memory of a process in KiB.
#[derive(Debug, Default)]
struct MemoryGrowth {
    /// The most in the warm-up.
    warm: u64,
    last: u64,
}

impl MemoryGrowth {
    fn note(&mut self, node: &ChildNode, begin: Instant) {
        self.last = node.memory("VmRSS");
        if begin.elapsed() < WARM_UP {
            self.warm = self.warm.max(self.last);
        }
    }

    /// Returns the growth since the warm-up.
    fn kib(&self) -> u64 {
        self.last.saturating_sub(self.warm)
    }
}

/// Pseudorandom numbers that a seed reproduces (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn hash(&mut self) -> B256 {
        keccak256(self.next().to_be_bytes())
    }

    fn bytes(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Place of the node, and blocks to lie about.
struct Target {
    address: SocketAddr,
    genesis: B256,
    blocks: Vec<Block>,
}

impl Target {
    fn join(&self, own: &NodeKey) -> Option<ScriptedPeer> {
        let capabilities = [Capability::rsk(), Capability::rhizome()];
        let socket = try_connect(self.address).ok()?;
        ScriptedPeer::try_join(socket, own, key(1).id(), &capabilities, self.genesis.as_slice()).ok()
    }
}

/// Connects, lies and leaves once.
fn lie(target: &Target, random: &mut Random) -> Option<()> {
    if random.below(5) == 0 {
        let mut socket = try_connect(target.address).ok()?;
        let bytes = random.below(2_000);
        let _ = socket.write_all(&random.bytes(bytes));
        std::thread::sleep(Duration::from_millis(random.below(1_000)));
        return Some(());
    }
    let own = NodeKey::from_bytes(random.hash().0).ok()?;
    let mut peer = target.join(&own)?;
    peer.socket.set_read_timeout(Some(Duration::from_millis(1))).ok()?;
    for _ in 0..random.below(40) {
        send_lie(&mut peer, target, random);
        // Reads what the node sends, or lets it wait.
        for _ in 0..random.below(8) {
            match peer.poll() {
                Ok(Some(frame)) if frame.code == codes::PING => peer.send(codes::PONG, &[0xc0]),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
        std::thread::sleep(Duration::from_millis(random.below(100)));
    }
    Some(())
}

fn send_lie(peer: &mut ScriptedPeer, target: &Target, random: &mut Random) {
    let best = BlockIdentifier { hash: random.hash(), number: random.below(1_000_000) };
    let message = match random.below(10) {
        0 => {
            let parent_and_difficulty = Some((random.hash(), U256::from(random.next())));
            RskMessage::Status(StatusMessage { best, parent_and_difficulty }).encode()
        }
        1 => RskMessage::NewBlockHashes(vec![best; 1 + random.below(100) as usize]).encode(),
        2 => {
            let mut block = target.blocks[random.below(target.blocks.len() as u64) as usize].clone();
            block.header.state_root = random.hash().to_vec().into();
            return send_block(peer, &block);
        }
        3 => return send_block(peer, &target.blocks[random.below(target.blocks.len() as u64) as usize]),
        4 => RskMessage::BlockHeadersRequest { id: random.next(), hash: target.genesis, count: 192 }.encode(),
        5 => RskMessage::SkeletonRequest { id: random.next(), start: random.below(100) }.encode(),
        6 => RskMessage::BodyRequest { id: random.next(), hash: target.genesis }.encode(),
        7 => RskMessage::BlockHashRequest { id: random.next(), height: random.below(50) }.encode(),
        8 => return peer.send(codes::PING, &[0xc0]),
        _ => {
            let mut envelope = Vec::new();
            put_u64(&mut envelope, random.below(u64::from(types::BLOCK_HEADERS_RESPONSE) + 4));
            let length = random.below(5_000);
            put_bytes(&mut envelope, &random.bytes(length));
            list(&list(&envelope))
        }
    };
    peer.send(codes::RSK, &message);
}

/// Pings until the time is over. Returns the longest time until an answer.
fn longest_pong(target: &Target, end: Instant) -> Duration {
    let mut peer = target.join(&key(200)).unwrap();
    let mut longest = Duration::ZERO;
    while Instant::now() < end {
        let sent = Instant::now();
        peer.send(codes::PING, &[0xc0]);
        while let Some(frame) = peer.receive() {
            match frame.code {
                codes::PONG => break,
                codes::PING => peer.send(codes::PONG, &[0xc0]),
                code => assert_ne!(code, codes::DISCONNECT, "{:?}", frame.payload()),
            }
        }
        longest = longest.max(sent.elapsed());
        std::thread::sleep(PING_PAUSE);
    }
    longest
}

#[test]
fn fifty_liars_cost_no_memory_and_block_no_thread() {
    let asked = std::env::var(MINUTES).ok().map(|text| Duration::from_secs_f64(60.0 * text.parse::<f64>().unwrap()));
    let seed = u64::from(std::process::id());
    let start = || ChildNode::start("soak::soaked_node", MINUTES, "");
    let (node, alone) = (start(), start());
    let target = Target { address: node.address, genesis: node.value("genesis"), blocks: mined(20) };
    let begin = Instant::now();
    let end = begin + asked.unwrap_or(SHORT);
    let (mut memory, mut memory_alone) = (MemoryGrowth::default(), MemoryGrowth::default());
    let pong = std::thread::scope(|scope| {
        for liar in 0..LIARS {
            let (target, mut random) = (&target, Random(seed << 32 | liar));
            scope.spawn(move || {
                while Instant::now() < end {
                    let _ = lie(target, &mut random);
                    std::thread::sleep(Duration::from_millis(200));
                }
            });
        }
        let honest = scope.spawn(|| longest_pong(&target, end));
        while Instant::now() < end {
            memory.note(&node, begin);
            memory_alone.note(&alone, begin);
            std::thread::sleep(Duration::from_secs(1));
        }
        honest.join().unwrap()
    });
    // Numbers of closed connections by reason.
    let closed: String = node.last_printed("closed").unwrap();
    eprintln!("seed {seed}: {memory:?}, without peers {memory_alone:?}, longest pong {pong:?}, closed {closed}");
    assert!(closed.contains("punished"));
    assert!(memory.kib() <= memory_alone.kib() + NOISE_KIB);
    // The machine of a usual test run may be busy.
    assert!(pong < if asked.is_some() { LONGEST_PONG } else { Duration::from_secs(5) });
}
