//! Transactions that peers send: into the pool, one by one.

use super::task::RelayWork;
use crate::network_state::NetworkState;
use crate::peer::events::PeerMessage;
use crate::peer::{Peer, key_of};
use crate::peer_tasks::compute;
use crate::standing::ScoreEvent;
use rhizome_chain::{Chain, PoolRejection};
use rhizome_primitives::Transaction;
use rhizome_wire::rsk::RskMessage;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// Maximum number of transactions that are taken from a message.
const MAX_TRANSACTIONS: usize = 4_096;
/// Size in bytes of the transactions that are taken from a message.
const MAX_BYTES: usize = 1 << 20;

/// Adds the transactions of a message to the pool.
pub(super) async fn take(
    shared: Arc<NetworkState>,
    chain: Arc<Chain>,
    works: UnboundedSender<RelayWork>,
    peer: Arc<Peer>,
    message: PeerMessage,
) {
    let key = key_of(&peer);
    let add = move || {
        let Some(transactions) = decoded(message.payload()) else { return vec![ScoreEvent::InvalidMessage] };
        let hashes = transactions.iter().map(Transaction::hash).collect();
        // Before the pool reports them as pending. Fails only while the network stops.
        let _ = works.send(RelayWork::Sent { key, hashes });
        transactions.into_iter().map(|transaction| event_of(chain.submit_from_peer(transaction, key).err())).collect()
    };
    for event in compute(&peer, add).await.unwrap_or_default() {
        shared.report(&peer, event);
    }
}

/// Returns the first transactions of a message; `None` if one is malformed.
fn decoded(payload: &[u8]) -> Option<Vec<Transaction>> {
    let Ok(RskMessage::Transactions(list)) = RskMessage::decode(payload) else { return None };
    let mut transactions = Vec::new();
    let mut bytes = 0;
    for transaction in list.transactions().take(MAX_TRANSACTIONS) {
        let transaction = transaction.ok()?;
        bytes += transaction.encoded().len();
        if bytes > MAX_BYTES {
            break;
        }
        transactions.push(transaction);
    }
    Some(transactions)
}

/// Returns the event for the score. As in the reference, only the signature counts.
fn event_of(rejection: Option<PoolRejection>) -> ScoreEvent {
    match rejection {
        Some(PoolRejection::NoSender(_) | PoolRejection::SignatureNotAccepted) => ScoreEvent::InvalidTransaction,
        _ => ScoreEvent::ValidTransaction,
    }
}
