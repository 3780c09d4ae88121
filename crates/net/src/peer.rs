//! A connected peer.

pub(crate) mod byte_source;
pub(crate) mod connection;
pub(crate) mod events;
mod frame_clock;
pub(crate) mod frame_writer;
pub(crate) mod handshake;
pub(crate) mod inbox;
mod keep_alive;
pub(crate) mod message_budget;
pub(crate) mod outbox;
mod reader;

use crate::close_reason::CloseReason;
use crate::local_chain::RemoteStatus;
use crate::options::Limits;
use crate::traffic::PeerTraffic;
use inbox::Inbox;
pub(crate) use keep_alive::OWN_PAUSE;
use message_budget::MessageBudget;
use outbox::{Outbox, SendError};
use parking_lot::Mutex;
use rhizome_primitives::{B256, U256};
use rhizome_wire::rhz::RhzMessage;
use rhizome_wire::rsk::StatusMessage;
use rhizome_wire::session::{Hello, NodeId, SharedCapabilities, codes};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Side that opened the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerDirection {
    /// The other side dialled.
    Inbound,
    /// This node dialled.
    Outbound,
}

/// Identifies a connection. No later one has the same: blocks of a peer can outlast its connection.
pub(crate) type PeerKey = usize;

pub(crate) fn key_of(peer: &Peer) -> PeerKey {
    peer.key
}

/// Key of the next connection.
static NEXT_KEY: AtomicUsize = AtomicUsize::new(0);

/// A peer from Hello on. NetworkState by its task and by all that send to it.
pub struct Peer {
    key: PeerKey,
    /// Authenticated node id.
    pub id: NodeId,
    /// Address of the connection.
    pub address: SocketAddr,
    /// Side that opened the connection.
    pub direction: PeerDirection,
    /// Whether the operator named the peer.
    pub is_static: bool,
    /// Name and version of its program.
    pub client: String,
    /// Port of its listener, by its own account.
    pub listen_port: u16,
    /// Common subprotocols.
    pub shared: SharedCapabilities,
    /// Time of its Hello.
    pub connected: Instant,
    /// Bytes and messages in both directions.
    pub traffic: PeerTraffic,
    pub(crate) outbox: Outbox,
    pub(crate) inbox: Inbox,
    /// Messages of rsk/62 that the peer takes.
    pub(crate) budget: MessageBudget,
    best: Mutex<Option<StatusMessage>>,
    /// Best block of this node in its first STATUS to the peer.
    told: Mutex<Option<B256>>,
    status: Mutex<Option<RemoteStatus>>,
    close_reason: Mutex<Option<CloseReason>>,
    closing: Notify,
}

impl Peer {
    pub(crate) fn new(
        hello: &Hello,
        shared: SharedCapabilities,
        address: SocketAddr,
        direction: PeerDirection,
        is_static: bool,
        limits: &Limits,
    ) -> Peer {
        Peer {
            key: NEXT_KEY.fetch_add(1, Ordering::Relaxed),
            id: hello.id,
            address,
            direction,
            is_static,
            client: hello.client.chars().filter(|char| !char.is_control()).take(128).collect(),
            listen_port: hello.port,
            shared,
            connected: Instant::now(),
            traffic: PeerTraffic::default(),
            outbox: Outbox::new(limits.outbox_bytes, limits.outbox_messages),
            inbox: Inbox::new(limits),
            budget: MessageBudget::new(shared.has_rhizome),
            best: Mutex::new(None),
            told: Mutex::new(None),
            status: Mutex::new(None),
            close_reason: Mutex::new(None),
            closing: Notify::new(),
        }
    }

    /// Queues a message. Fails without an effect if the queue is full or the connection ends.
    pub fn try_send(&self, code: u8, payload: Vec<u8>) -> Result<(), SendError> {
        self.outbox.try_push(code, payload)
    }

    /// Queues a message as soon as the queue has room. Fails if the connection ends.
    pub async fn send(&self, code: u8, payload: Vec<u8>) -> Result<(), SendError> {
        self.outbox.push(code, payload).await
    }

    /// Queues a message of rsk/62 within the budget of the peer. `reserve`: messages of this minute that are left to others. Fails
    /// without an effect.
    pub(crate) fn try_send_rsk(&self, payload: Vec<u8>, reserve: u32) -> Result<(), SendError> {
        if !self.budget.take(reserve) {
            return Err(SendError::OverBudget);
        }
        self.try_send(codes::RSK, payload)
    }

    /// Queues a message of rhz/1. Fails without an effect.
    pub(crate) fn try_send_rhz(&self, message: &RhzMessage<'_>) -> Result<(), SendError> {
        self.try_send(codes::RHIZOME + message.number(), message.encode())
    }

    /// Notes the best block of this node in the first STATUS to the peer.
    pub(crate) fn note_told(&self, hash: B256) {
        *self.told.lock() = Some(hash);
    }

    /// Returns the best block of this node in the first STATUS to the peer.
    pub(crate) fn told(&self) -> Option<B256> {
        *self.told.lock()
    }

    /// Returns the last STATUS of the peer.
    pub fn best(&self) -> Option<StatusMessage> {
        *self.best.lock()
    }

    pub(crate) fn note_best(&self, status: StatusMessage) {
        *self.best.lock() = Some(status);
    }

    /// Adds time of a processor that messages of this peer have cost. Above the budget its socket is not read for a while.
    pub fn charge_work(&self, work: Duration) {
        self.inbox.charge_work(work);
    }

    /// Returns bytes of an answer that this node asked for to the budget of the peer.
    pub fn refund_requested(&self, bytes: usize) {
        self.inbox.refund(bytes);
    }

    /// Returns bytes and number of received messages that are not handled, and of messages that wait to be sent.
    pub fn waiting(&self) -> [(usize, usize); 2] {
        [self.inbox.waiting(), self.outbox.waiting()]
    }

    /// Ends the connection. The first reason counts.
    pub fn close(&self, reason: CloseReason) {
        self.close_reason.lock().get_or_insert(reason);
        self.closing.notify_one();
    }

    /// Waits until [`Peer::close`] is called.
    pub(crate) async fn closed(&self) -> CloseReason {
        loop {
            if let Some(reason) = self.close_reason.lock().clone() {
                return reason;
            }
            self.closing.notified().await;
        }
    }

    /// Whether the peer has sent a Status of our chain: it counts as connected.
    pub fn is_active(&self) -> bool {
        self.status.lock().is_some()
    }

    /// Returns best block and difficulty as the peer claimed them in its first message.
    pub fn claimed_best(&self) -> Option<(B256, U256)> {
        self.status.lock().map(|status| (status.best_hash, status.total_difficulty))
    }

    pub(crate) fn accept_status(&self, status: RemoteStatus) {
        *self.status.lock() = Some(status);
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Peer({:.8}, {}, {:?})", self.id.to_string(), self.address, self.direction)
    }
}
