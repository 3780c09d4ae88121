//! Bitcoin hashes in display order, as slots and events hold them.

use rhizome_bitcoin::{BitcoinTransaction, Digest, display};
use rhizome_primitives::B256;

/// Returns a hash in display order. `digest`: wire order.
pub(crate) fn display_hash(digest: Digest) -> B256 {
    B256::from(display(digest))
}

/// Returns the id of a transaction in display order.
pub(crate) fn display_id(transaction: &BitcoinTransaction) -> B256 {
    display_hash(transaction.txid())
}
