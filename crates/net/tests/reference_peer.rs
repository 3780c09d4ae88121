//! A peer that plays the reference node for a synchronization, with its limits, and with lies if asked to.

use crate::chunk_server::ChunkServer;
use crate::scripted_peer::{ScriptedPeer, connect};
use crate::support::{key, wait};
use crate::sync::mined;
use rhizome_chain::Chain;
use rhizome_net::{NodeId, NodeKey};
use rhizome_primitives::rlp::list;
use rhizome_primitives::{B256, Block, U256};
use rhizome_wire::rsk::{
    BlockIdentifier, EncodedBlock, EncodedBody, EncodedList, RskMessage, StatusMessage, WeighedBlocks, block_strings,
    encode_body,
};
use rhizome_wire::session::{Capability, codes};
use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Behaviour of a peer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Behaviour {
    /// Whether it has the limits of the reference: 1,001 messages a minute, an answer every 10 ms.
    pub(crate) is_limited: bool,
    /// Whether it serves whole blocks.
    pub(crate) serves_snap: bool,
    /// Requests for bodies that are not answered, by number of the block.
    pub(crate) silent_from: Option<u64>,
    /// Bodies from a height on are those of another block.
    pub(crate) wrong_bodies_from: Option<u64>,
    /// Closes the connection when it is asked for whole blocks.
    pub(crate) ends_at_blocks: bool,
    /// Extensions of bodies from a height on have another bloom.
    pub(crate) wrong_extensions_from: Option<u64>,
    /// Answers with headers lack the lowest one.
    pub(crate) shortens_headers: bool,
    /// A branch whose last block is part of skeletons, and whose headers alone are served.
    pub(crate) branch: Option<Arc<ServedChain>>,
    /// Claimed number and difficulty in place of the true ones.
    pub(crate) claim: Option<(BlockIdentifier, U256)>,
    /// Bodies and whole blocks below a height are missing.
    pub(crate) lowest: u64,
    /// The first request is lost.
    pub(crate) loses_first: bool,
    /// Chain that the peer changes to after more than 20 requests, at the first pause of 40 ms.
    pub(crate) next_chain: Option<Arc<ServedChain>>,
    /// Each answer is sent twice.
    pub(crate) repeats_answers: bool,
    /// One byte of each chunk is changed.
    pub(crate) wrong_chunks: bool,
    /// Serves states.
    pub(crate) states: Option<Arc<ChunkServer>>,
}

/// Blocks of a chain, lowest first, from genesis on.
#[derive(Debug)]
pub(crate) struct ServedChain {
    blocks: Vec<Block>,
    by_hash: HashMap<B256, usize>,
    total_difficulties: Vec<U256>,
}

impl ServedChain {
    pub(crate) fn of(chain: &Chain) -> Arc<ServedChain> {
        ServedChain::up_to(chain, chain.head().number())
    }

    /// Returns the first blocks of a chain, up to a number.
    pub(crate) fn up_to(chain: &Chain, number: u64) -> Arc<ServedChain> {
        let records: Vec<_> = (0..=number).map(|number| chain.main_block(number).unwrap().unwrap()).collect();
        let blocks: Vec<Block> = records.iter().map(|record| record.block.clone()).collect();
        let by_hash = records.iter().enumerate().map(|(at, record)| (record.hash, at)).collect();
        let total_difficulties = records.iter().map(|record| record.total_difficulty).collect();
        Arc::new(ServedChain { blocks, by_hash, total_difficulties })
    }

    /// Replaces a block by one with a header that was changed.
    pub(crate) fn with(&self, block: Block) -> Arc<ServedChain> {
        let number = block.header.number as usize;
        let mut blocks = self.blocks[..number].to_vec();
        blocks.push(block);
        let by_hash = blocks.iter().enumerate().map(|(at, block)| (block.hash(), at)).collect();
        let mut total_difficulties = self.total_difficulties[..number].to_vec();
        total_difficulties.push(total_difficulties[number - 1] + blocks[number].header.difficulty_value());
        Arc::new(ServedChain { blocks, by_hash, total_difficulties })
    }

    /// Returns the chain up to a block.
    pub(crate) fn first(&self, number: u64) -> Arc<ServedChain> {
        let end = number as usize + 1;
        let by_hash = self.by_hash.iter().filter(|(_, at)| **at < end).map(|(hash, at)| (*hash, *at)).collect();
        let (blocks, total_difficulties) = (self.blocks[..end].to_vec(), self.total_difficulties[..end].to_vec());
        Arc::new(ServedChain { blocks, by_hash, total_difficulties })
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(crate) fn best(&self) -> BlockIdentifier {
        self.identifier(self.blocks.len() - 1)
    }

    pub(crate) fn total_difficulty(&self) -> U256 {
        self.total_difficulties[self.blocks.len() - 1]
    }

    fn identifier(&self, at: usize) -> BlockIdentifier {
        BlockIdentifier { hash: self.blocks[at].hash(), number: at as u64 }
    }

    pub(crate) fn status(&self) -> RskMessage<'static> {
        let (best, at) = (self.best(), self.blocks.len() - 1);
        let parent = self.blocks[at].header.parent().unwrap_or_default();
        RskMessage::Status(StatusMessage { best, parent_and_difficulty: Some((parent, self.total_difficulties[at])) })
    }

    /// Returns the answer of the reference.
    pub(crate) fn answer(&self, request: &RskMessage<'_>, behaviour: &Behaviour) -> Option<Vec<u8>> {
        let best = self.blocks.len() - 1;
        if let (RskMessage::BlockHeadersRequest { hash, .. }, Some(branch)) = (request, &behaviour.branch) {
            return branch.answer(request, &Behaviour::default()).filter(|_| branch.best().hash == *hash);
        }
        Some(match *request {
            RskMessage::BlockHashRequest { id, height } if height > 0 && height <= best as u64 => {
                RskMessage::BlockHashResponse { id, hash: self.blocks[height as usize].hash() }.encode()
            }
            RskMessage::SkeletonRequest { id, start } if start <= best as u64 => {
                let first = start as usize / 192 * 192;
                let end = best.min(first + 192 * 20);
                let mut skeleton: Vec<_> = (first..end).step_by(192).map(|at| self.identifier(at)).collect();
                let next = skeleton.last().map_or(first, |last| last.number as usize + 192);
                skeleton.push(self.identifier(best.min(next)));
                for other in behaviour.branch.iter().map(|branch| branch.best()) {
                    // Other peers have named their blocks by then.
                    std::thread::sleep(Duration::from_millis(200));
                    skeleton.iter_mut().filter(|own| own.number == other.number).for_each(|own| *own = other);
                }
                RskMessage::SkeletonResponse { id, skeleton }.encode()
            }
            RskMessage::BlockHeadersRequest { id, hash, count } if count <= 192 => {
                let top = *self.by_hash.get(&hash)?;
                let lowest = (top + 1).saturating_sub(count as usize) + usize::from(behaviour.shortens_headers);
                let headers: Vec<u8> =
                    (lowest..=top).rev().flat_map(|at| self.blocks[at].header.encode_compressed()).collect();
                let headers = list(&headers);
                let headers = EncodedList::decode(&headers, "headers").unwrap();
                RskMessage::BlockHeadersResponse { id, headers }.encode()
            }
            RskMessage::BodyRequest { id, hash } => {
                let mut at = *self.by_hash.get(&hash).filter(|at| **at as u64 >= behaviour.lowest)?;
                if behaviour.silent_from.is_some_and(|from| at as u64 >= from) {
                    return None;
                }
                if behaviour.wrong_bodies_from.is_some_and(|from| at as u64 >= from) {
                    at = 1;
                }
                let mut block = self.blocks[at].clone();
                if behaviour.wrong_extensions_from.is_some_and(|from| at as u64 >= from) {
                    block.header.logs_bloom = vec![1; 256].into();
                }
                let body = encode_body(&block);
                RskMessage::BodyResponse { id, body: EncodedBody::split(&body).unwrap() }.encode()
            }
            RskMessage::SnapBlocksRequest { id, number } if behaviour.serves_snap => {
                let number = number as usize;
                let lowest = behaviour.lowest.max(1) as usize;
                if number <= lowest || number > best {
                    return None;
                }
                let range = number.saturating_sub(400).max(lowest)..number;
                let mut whole = self.blocks[range.clone()].to_vec();
                for block in &mut whole {
                    if behaviour.wrong_bodies_from.is_some_and(|from| block.header.number >= from) {
                        block.uncles.push(self.blocks[1].header.clone());
                    }
                }
                let encodings: Vec<Vec<u8>> = whole.iter().map(Block::encode).collect();
                let strings = block_strings(encodings.iter().map(Vec::as_slice));
                let strings = EncodedList::decode(&strings, "blocks").unwrap();
                let blocks = WeighedBlocks::new(strings, self.total_difficulties[range].to_vec()).unwrap();
                RskMessage::SnapBlocksResponse { id, blocks }.encode()
            }
            RskMessage::StateChunkRequest { id, number, from, .. } => {
                let mut answer = behaviour.states.as_ref()?.answer(id, number, from)?;
                if behaviour.wrong_chunks {
                    let middle = answer.len() / 2;
                    answer[middle] ^= 1;
                }
                return Some(answer);
            }
            RskMessage::BlockRequest { id, hash } => {
                let block = self.blocks[*self.by_hash.get(&hash)?].encode();
                RskMessage::BlockResponse { id, block: EncodedBlock::split(&block).unwrap() }.encode()
            }
            _ => return None,
        })
    }
}

/// A running peer.
pub(crate) struct ReferencePeer {
    thread: Option<JoinHandle<()>>,
    shared: Arc<PeerCounters>,
}

#[derive(Default)]
struct PeerCounters {
    is_stopped: AtomicBool,
    is_closed: AtomicBool,
    answers: AtomicU64,
    lost: AtomicU64,
}

impl ReferencePeer {
    /// Connects to a node and serves it until it is dropped or the node closes the connection.
    pub(crate) fn start(
        address: SocketAddr,
        key: NodeKey,
        remote: NodeId,
        chain: Arc<ServedChain>,
        behaviour: Behaviour,
    ) -> ReferencePeer {
        let shared = Arc::new(PeerCounters::default());
        let counters = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let _closed = ClosedOnDrop(Arc::clone(&counters));
            serve(address, &key, remote, &chain, &behaviour, &counters);
        });
        ReferencePeer { thread: Some(thread), shared }
    }

    /// Number of requests that were dropped because of the limit.
    pub(crate) fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn answers(&self) -> u64 {
        self.shared.answers.load(Ordering::Relaxed)
    }

    /// Whether the node has closed the connection, or has not accepted it.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.is_closed.load(Ordering::Relaxed)
    }
}

/// Notes the end of a connection, also that of a handshake that failed: then the thread panics.
struct ClosedOnDrop(Arc<PeerCounters>);

impl Drop for ClosedOnDrop {
    fn drop(&mut self) {
        self.0.is_closed.store(true, Ordering::Relaxed);
    }
}

impl Drop for ReferencePeer {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn minute() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 60
}

fn serve(
    address: SocketAddr,
    key: &NodeKey,
    remote: NodeId,
    chain: &ServedChain,
    behaviour: &Behaviour,
    counters: &PeerCounters,
) {
    let mut capabilities = vec![Capability::rsk()];
    if behaviour.serves_snap {
        capabilities.push(Capability { name: "snap".to_owned(), version: 1 });
    }
    let genesis = chain.identifier(0).hash;
    let mut peer = ScriptedPeer::join_with(connect(address), key, remote, &capabilities, genesis.as_slice());
    peer.socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    let status = match (behaviour.claim, chain.status()) {
        (Some((best, difficulty)), RskMessage::Status(own)) => {
            let parent_and_difficulty = own.parent_and_difficulty.map(|(parent, _)| (parent, difficulty));
            RskMessage::Status(StatusMessage { best, parent_and_difficulty })
        }
        (_, own) => own,
    };
    peer.send(codes::RSK, &status.encode());
    let (mut waiting, mut next) = (VecDeque::new(), Instant::now());
    let (mut current, mut received) = (minute(), 0);
    let (mut chain, mut next_chain) = (chain, behaviour.next_chain.as_deref());
    let (mut requests, mut last_request) = (0, Instant::now());
    while !counters.is_stopped.load(Ordering::Relaxed) {
        if requests > 20
            && last_request.elapsed() > Duration::from_millis(40)
            && let Some(changed) = next_chain.take()
        {
            chain = changed;
            peer.send(codes::RSK, &chain.status().encode());
        }
        match peer.poll() {
            Err(_) => break,
            Ok(None) => {}
            Ok(Some(frame)) if frame.code == codes::PING => peer.send(codes::PONG, &[0xc0]),
            Ok(Some(frame)) if frame.code == codes::DISCONNECT => break,
            Ok(Some(frame)) if frame.code == codes::RSK => {
                if minute() != current {
                    (current, received) = (minute(), 0);
                }
                received += 1;
                requests += 1;
                last_request = Instant::now();
                if behaviour.loses_first && requests == 1 {
                    continue;
                }
                if behaviour.is_limited && received > 1_001 {
                    counters.lost.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                let request = RskMessage::decode(frame.payload()).unwrap();
                if behaviour.ends_at_blocks && matches!(request, RskMessage::SnapBlocksRequest { .. }) {
                    break;
                }
                let answer = chain.answer(&request, behaviour);
                if behaviour.repeats_answers {
                    waiting.extend(answer.clone());
                }
                waiting.extend(answer);
            }
            Ok(Some(_)) => {}
        }
        while Instant::now() >= next
            && let Some(answer) = waiting.pop_front()
        {
            peer.send(codes::RSK, &answer);
            counters.answers.fetch_add(1, Ordering::Relaxed);
            if behaviour.is_limited {
                next = Instant::now() + Duration::from_millis(10);
            }
        }
    }
}

#[test]
fn a_connection_that_ends_in_the_handshake_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = ReferencePeer::start(address, key(2), key(1).id(), mined("a", 1), Behaviour::default());
    drop(listener.accept().unwrap());
    wait("the end", || peer.is_closed());
    assert_eq!(peer.answers(), 0);
}
