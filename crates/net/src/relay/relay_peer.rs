use super::recent_hashes::RecentHashes;
use crate::peer::Peer;
use rhizome_chain::PooledTransaction;
use rhizome_primitives::B256;
use rhizome_primitives::rlp::list;
use rhizome_wire::rsk::{EncodedList, RskMessage};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Blocks that a peer is known to have.
const KNOWN_BLOCKS: usize = 1_024;
/// Transactions that a peer is known to have.
const KNOWN_TRANSACTIONS: usize = 32_768;
/// Maximum number of transactions in a message, and of waiting transactions.
const MAX_TRANSACTIONS: usize = 4_096;
/// Size in bytes above which a message takes no further transaction.
const MAX_TRANSACTION_BYTES: usize = 1 << 20;
/// Time in which transactions travel in one message.
const TRANSACTION_INTERVAL: Duration = Duration::from_millis(50);
/// Messages of the budget that transactions leave to answers and blocks.
const TRANSACTION_RESERVE: u32 = 200;

/// A peer, and the blocks and transactions that it has.
pub(super) struct RelayPeer {
    pub(super) peer: Arc<Peer>,
    pub(super) blocks: RecentHashes,
    transactions: RecentHashes,
    /// Transactions to be sent.
    waiting: Vec<Arc<PooledTransaction>>,
    transactions_sent: Option<Instant>,
    /// GET_BLOCKs without an answer.
    pub(super) requested: usize,
    /// GET_BLOCKs that were given up since the last answer.
    pub(super) missed: u32,
    /// GET_BLOCKs that were not answered with a readable block: the answer may be a block that cannot be read.
    pub(super) unread: usize,
    pub(super) status_sent: Instant,
}

impl RelayPeer {
    pub(super) fn new(peer: Arc<Peer>) -> RelayPeer {
        RelayPeer {
            peer,
            blocks: RecentHashes::new(KNOWN_BLOCKS),
            transactions: RecentHashes::new(KNOWN_TRANSACTIONS),
            waiting: Vec::new(),
            transactions_sent: None,
            requested: 0,
            missed: 0,
            unread: 0,
            // Sent with the handshake.
            status_sent: Instant::now(),
        }
    }

    /// Notes that the peer has a transaction.
    pub(super) fn knows_transaction(&mut self, hash: B256) {
        self.transactions.insert(hash);
    }

    /// Adds a transaction to the next message unless the peer has it.
    pub(super) fn offer(&mut self, transaction: &Arc<PooledTransaction>) {
        if self.waiting.len() < MAX_TRANSACTIONS && self.transactions.insert(transaction.hash) {
            self.waiting.push(Arc::clone(transaction));
        }
    }

    /// Sends the transactions that wait, if the last ones were sent some time ago and the budget has room.
    pub(super) fn flush(&mut self, now: Instant) {
        let is_early = self.transactions_sent.is_some_and(|sent| now - sent < TRANSACTION_INTERVAL);
        if self.waiting.is_empty() || is_early {
            return;
        }
        let (mut encoded, mut count) = (Vec::new(), 0);
        for transaction in &self.waiting {
            if encoded.len() > MAX_TRANSACTION_BYTES {
                break;
            }
            encoded.extend_from_slice(transaction.transaction.encoded());
            count += 1;
        }
        let encoded = list(&encoded);
        // Transactions of the pool are well-formed.
        let Ok(transactions) = EncodedList::decode(&encoded, "transactions") else { return };
        let message = RskMessage::Transactions(transactions).encode();
        if self.peer.try_send_rsk(message, TRANSACTION_RESERVE).is_ok() {
            self.waiting.drain(..count);
            self.transactions_sent = Some(now);
        }
    }
}
