//! Transactions: each node sends the transactions that it accepts to all others, once, and adds theirs to its pool.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_nats::jetstream::message::PublishMessage;
use futures_util::{StreamExt, stream};
use rhizome_chain::{PooledTransaction, TransactionOrigin};
use rhizome_primitives::{B256, Bytes, Transaction};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::block_reader::{messages_after, reader_error};
use crate::error::FleetError;
use crate::fleet_state::FleetState;
use crate::ordered_publish::{Publication, publish_after};
use crate::session::Session;

/// Accepted transactions that wait to be sent. Above it, the whole pool is sent instead.
const WAITING: usize = 1024;
/// Messages without an answer of the server.
const IN_FLIGHT: usize = 64;
/// Transactions that are admitted at once.
const ADMITTED: usize = 64;
/// Maximum length of a transaction in bytes, above that of any pool.
const MAX_BYTES: usize = 1 << 20;

/// A transaction for the stream.
pub(crate) struct OutgoingTransaction {
    hash: B256,
    raw: Bytes,
}

impl From<&Arc<PooledTransaction>> for OutgoingTransaction {
    fn from(pooled: &Arc<PooledTransaction>) -> Self {
        Self { hash: pooled.hash, raw: pooled.transaction.encoded().clone() }
    }
}

/// Collects accepted transactions on the thread that accepts them.
pub(crate) struct AcceptedTransactions {
    sender: Sender<OutgoingTransaction>,
    receiver: tokio::sync::Mutex<Receiver<OutgoingTransaction>>,
    /// Whether a transaction found no room, or no session.
    has_missed: AtomicBool,
}

impl Default for AcceptedTransactions {
    fn default() -> Self {
        let (sender, receiver) = channel(WAITING);
        Self { sender, receiver: tokio::sync::Mutex::new(receiver), has_missed: AtomicBool::new(true) }
    }
}

impl AcceptedTransactions {
    /// Queues a transaction of the pool. Those of other nodes are known to all.
    pub(crate) fn push(&self, pooled: Option<&Arc<PooledTransaction>>, origin: TransactionOrigin) {
        if origin == TransactionOrigin::Fleet {
            return;
        }
        let Some(pooled) = pooled else { return };
        if self.sender.try_send(pooled.into()).is_err() {
            self.miss();
        }
    }

    /// Lets the whole pool be sent, at the start of a session.
    pub(crate) fn miss(&self) {
        self.has_missed.store(true, Ordering::Release);
    }

    fn take_missed(&self) -> bool {
        self.has_missed.swap(false, Ordering::AcqRel)
    }
}

/// Sends accepted transactions until the session ends.
pub(crate) async fn send(session: &Session, state: &FleetState) -> Result<Infallible, FleetError> {
    state.accepted.miss();
    let mut waiting = state.accepted.receiver.lock().await;
    let mut batch = Vec::new();
    loop {
        if state.accepted.take_missed() {
            let pool = state.chain.pool();
            send_all(session, state, pool.pending().iter().chain(&pool.queued()).map(Into::into).collect()).await?;
        }
        waiting.recv_many(&mut batch, WAITING).await;
        send_all(session, state, std::mem::take(&mut batch)).await.inspect_err(|_| state.accepted.miss())?;
    }
}

async fn send_all(
    session: &Session,
    state: &FleetState,
    transactions: Vec<OutgoingTransaction>,
) -> Result<(), FleetError> {
    let send = |OutgoingTransaction { hash, raw }| async move {
        let message = PublishMessage::build().payload(raw.0);
        publish_after(&session.context, &state.names.transaction(&hash), message, 0).await
    };
    let mut results = stream::iter(transactions).map(send).buffered(IN_FLIGHT);
    while let Some(result) = results.next().await {
        let is_added = matches!(result?, Publication::Added { .. });
        state.count_transactions(|counts| counts.sent += u64::from(is_added));
    }
    Ok(())
}

/// Takes the transactions of other nodes until the session ends. The stream holds those of some minutes: a new session gets
/// them all, and the pool rejects known and mined ones.
pub(crate) async fn take(session: &Session, state: &Arc<FleetState>) -> Result<Infallible, FleetError> {
    let mut messages = messages_after(&session.transactions, 0).await?.ready_chunks(ADMITTED);
    while let Some(chunk) = messages.next().await {
        let mut payloads = Vec::with_capacity(chunk.len());
        for message in chunk {
            match message {
                Ok(message) => payloads.push(message.payload.clone()),
                Err(error) => return Err(reader_error(&session.transactions, error.kind(), error.to_string())),
            }
        }
        let taker = Arc::clone(state);
        // Admission takes locks of the pool, and with instant mining a block.
        let admitted = tokio::task::spawn_blocking(move || admit(&taker, &payloads));
        admitted.await.map_err(|error| FleetError::Import(error.to_string()))?;
    }
    Err(FleetError::Lost)
}

fn admit(state: &FleetState, payloads: &[impl AsRef<[u8]>]) {
    let read = |payload: &[u8]| {
        let bytes = Bytes::copy_from_slice(payload);
        if payload.len() > MAX_BYTES { None } else { Transaction::decode(&bytes).ok() }
    };
    let read: Vec<_> = payloads.iter().map(|payload| read(payload.as_ref())).collect();
    let damaged = read.iter().filter(|transaction| transaction.is_none()).count();
    state.count_transactions(|counts| counts.damaged += damaged as u64);
    let known = |transaction: &Transaction| state.chain.pool().get(&transaction.hash()).is_some();
    let (known, unknown): (Vec<_>, Vec<_>) = read.into_iter().flatten().partition(known);
    Transaction::recover_senders(&unknown);
    state.count_transactions(|counts| counts.rejected += known.len() as u64);
    for transaction in unknown {
        let is_taken = (state.sink)(transaction);
        state.count_transactions(|counts| match is_taken {
            true => counts.taken += 1,
            false => counts.rejected += 1,
        });
    }
}
