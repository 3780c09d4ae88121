//! Answers requests of peers: blocks, bodies, headers, hashes and skeletons (docs/spec/p2p.md, 6.4 and 9.5), the same by the
//! hundred for nodes of this project, and whole blocks for snap clients (10.2).
//!
//! One task for each peer, one request at a time, so that a peer never occupies more than one thread of rayon. An answer to a
//! node of the reference waits until the budget of its minute has room (docs/spec/p2p-additions.md, B.5). A request for
//! something that this node does not have is not answered, except in rhz/1.

mod answers;
mod bulk;
mod chain_server;
mod snap;

use crate::network_state::NetworkState;
use crate::peer::Peer;
use crate::peer::events::{MessageKind, PeerEvent, PeerMessage};
use crate::peer_tasks::{PeerTasks, compute};
use crate::standing::ScoreEvent;
use chain_server::{ChainServer, ServeError};
use rhizome_chain::Chain;
use rhizome_wire::rhz::RhzMessage;
use rhizome_wire::rsk::RskMessage;
use rhizome_wire::session::codes;
use std::sync::Arc;
use tokio::sync::mpsc::Receiver;

/// Runs until the network stops.
pub(crate) async fn serve(shared: Arc<NetworkState>, chain: Arc<Chain>, mut events: Receiver<PeerEvent>) {
    let server = Arc::new(ChainServer { shared, chain });
    let mut tasks = PeerTasks::new(move |peer, message| answer(Arc::clone(&server), peer, message));
    while let Some(event) = events.recv().await {
        tasks.handle(event);
    }
}

async fn answer(server: Arc<ChainServer>, peer: Arc<Peer>, message: PeerMessage) {
    let kind = message.kind;
    // A peer that does not read gets no further answer: it occupies the memory of one.
    peer.outbox.drained().await;
    let serving = Arc::clone(&server);
    let Some(result) = compute(&peer, move || answer_to(&serving, &message)).await else { return };
    match result {
        Ok(Some((code, payload))) => {
            if kind == MessageKind::Rsk {
                while let Err(delay) = peer.budget.take_answer() {
                    tokio::time::sleep(delay).await;
                }
            }
            // Fails only if the connection ends.
            let _ = peer.send(code, payload).await;
        }
        Ok(None) => {}
        Err(ServeError::Request(_)) => server.shared.report(&peer, ScoreEvent::InvalidMessage),
        // A failure of this node: the peer asks elsewhere.
        Err(ServeError::Chain(_) | ServeError::StoredBlock(_) | ServeError::StoredHeader(_)) => {}
    }
}

/// Returns the code and payload of the answer; `None` if there is none.
fn answer_to(server: &ChainServer, message: &PeerMessage) -> Result<Option<(u8, Vec<u8>)>, ServeError> {
    match message.kind {
        MessageKind::Rsk => {
            let request = RskMessage::decode(message.payload()).map_err(ServeError::Request)?;
            Ok(answers::answer(server, request)?.map(|payload| (codes::RSK, payload)))
        }
        MessageKind::Rhizome(number) => {
            let request = RhzMessage::decode(number, message.payload()).map_err(ServeError::Request)?;
            bulk::answer(server, request)
        }
    }
}
