//! Passes events of peers on: answers to the task that has sent the request, requests of peers to `server`, announced blocks and
//! transactions to `relay`. An answer without a request gets to one of these tasks as well, which counts it against the peer.

use crate::network_state::NetworkState;
use crate::peer::Peer;
use crate::peer::events::{MessageKind, PeerEvent, PeerMessage};
use crate::requests::ids::{Requester, requester};
use crate::standing::ScoreEvent;
use rhizome_wire::rhz;
use rhizome_wire::rsk::{RskMessage, RskMessageError, message_id, message_type, types};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Events that may wait for one receiver. Beyond that no socket is read.
const CAPACITY: usize = 256;

/// Receivers of events. Each gets every `Connected` and `Disconnected`, and the messages that are for it.
pub(crate) struct PeerEvents {
    pub(crate) sync: mpsc::Receiver<PeerEvent>,
    pub(crate) snap: mpsc::Receiver<PeerEvent>,
    pub(crate) older_blocks: mpsc::Receiver<PeerEvent>,
    pub(crate) server: mpsc::Receiver<PeerEvent>,
    pub(crate) relay: mpsc::Receiver<PeerEvent>,
}

/// Senders of [`PeerEvents`].
pub(crate) struct PeerEventSenders {
    sync: mpsc::Sender<PeerEvent>,
    snap: mpsc::Sender<PeerEvent>,
    older_blocks: mpsc::Sender<PeerEvent>,
    server: mpsc::Sender<PeerEvent>,
    relay: mpsc::Sender<PeerEvent>,
}

/// Part of the node that handles a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageHandler {
    Requester(Requester),
    Server,
    Relay,
}

pub(crate) fn channels() -> (PeerEventSenders, PeerEvents) {
    let (sync, for_sync) = mpsc::channel(CAPACITY);
    let (snap, for_snap) = mpsc::channel(CAPACITY);
    let (older_blocks, for_older_blocks) = mpsc::channel(CAPACITY);
    let (server, for_server) = mpsc::channel(CAPACITY);
    let (relay, for_relay) = mpsc::channel(CAPACITY);
    let events = PeerEvents {
        sync: for_sync,
        snap: for_snap,
        older_blocks: for_older_blocks,
        server: for_server,
        relay: for_relay,
    };
    (PeerEventSenders { sync, snap, older_blocks, server, relay }, events)
}

/// Runs until the network stops.
pub(crate) async fn dispatch(
    shared: Arc<NetworkState>,
    mut events: mpsc::Receiver<PeerEvent>,
    senders: PeerEventSenders,
) {
    while let Some(event) = events.recv().await {
        match event {
            PeerEvent::Connected(peer) => senders.all(|| PeerEvent::Connected(Arc::clone(&peer))).await,
            PeerEvent::Disconnected(peer, reason) => {
                senders.all(|| PeerEvent::Disconnected(Arc::clone(&peer), reason.clone())).await;
            }
            PeerEvent::Message(peer, message) => match handler(&peer, &message) {
                Ok(handler) => senders.send(handler, PeerEvent::Message(peer, message)).await,
                Err(_malformed) => shared.report(&peer, ScoreEvent::InvalidMessage),
            },
        }
    }
}

impl PeerEventSenders {
    async fn send(&self, handler: MessageHandler, event: PeerEvent) {
        let sender = match handler {
            MessageHandler::Requester(Requester::Sync) => &self.sync,
            MessageHandler::Requester(Requester::Snap) => &self.snap,
            MessageHandler::Requester(Requester::OlderBlocks) => &self.older_blocks,
            MessageHandler::Server => &self.server,
            MessageHandler::Relay => &self.relay,
        };
        // Fails only while the network stops.
        let _ = sender.send(event).await;
    }

    async fn all(&self, event: impl Fn() -> PeerEvent) {
        let requesters = [Requester::Sync, Requester::Snap, Requester::OlderBlocks].map(MessageHandler::Requester);
        for handler in requesters.into_iter().chain([MessageHandler::Server, MessageHandler::Relay]) {
            self.send(handler, event()).await;
        }
    }
}

/// Returns the handler of a message. A STATUS is remembered by its peer before anything handles it.
fn handler(peer: &Peer, message: &PeerMessage) -> Result<MessageHandler, RskMessageError> {
    let kind = match message.kind {
        // Requests of rhz/1 have even numbers, answers odd ones.
        MessageKind::Rhizome(number) if number % 2 == 0 => return Ok(MessageHandler::Server),
        MessageKind::Rhizome(_) => {
            return Ok(MessageHandler::Requester(requester(rhz::message_id(message.payload())?)));
        }
        MessageKind::Rsk => message_type(message.payload())?,
    };
    Ok(match kind {
        types::STATUS => {
            if let RskMessage::Status(status) = RskMessage::decode(message.payload())? {
                peer.note_best(status);
            }
            MessageHandler::Requester(Requester::Sync)
        }
        types::BLOCK_HEADERS_RESPONSE
        | types::BLOCK_RESPONSE
        | types::SKELETON_RESPONSE
        | types::BODY_RESPONSE
        | types::BLOCK_HASH_RESPONSE
        | types::SNAP_STATE_CHUNK_RESPONSE
        | types::SNAP_STATUS_RESPONSE
        | types::SNAP_BLOCKS_RESPONSE => MessageHandler::Requester(requester(message_id(message.payload())?)),
        types::BLOCK | types::NEW_BLOCK_HASHES | types::NEW_BLOCK_HASH | types::TRANSACTIONS => MessageHandler::Relay,
        _ => MessageHandler::Server,
    })
}
