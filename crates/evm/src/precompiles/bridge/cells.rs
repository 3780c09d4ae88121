//! The storage cells of the Bridge: their keys and the parts of their formats that several of them share (bridge chapter 3).

use rhizome_primitives::{B256, U256, hex, keccak256, rlp};

/// A cell with a key of its own.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) key: U256,
    pub(super) name: &'static str,
    /// The stage that brings the values which are not implemented.
    pub(super) stage: u8,
}

/// The name is the key, right-aligned.
const fn cell(name: &'static str, stage: u8) -> Cell {
    let mut word = [0; 32];
    let (_, tail) = word.split_at_mut(32 - name.len());
    tail.copy_from_slice(name.as_bytes());
    Cell { key: U256::from_be_bytes(word), name, stage }
}

pub(super) const PROCESSED: Cell = cell("btcTxHashesAP", 5);
pub(super) const QUEUE: Cell = cell("releaseRequestQueue", 6);
pub(super) const QUEUE_WITH_HASH: Cell = cell("releaseRequestQueueWithTxHash", 6);
pub(super) const CONFIRMATIONS: Cell = cell("releaseTransactionSet", 6);
pub(super) const CONFIRMATIONS_WITH_HASH: Cell = cell("releaseTransactionSetWithTxHash", 6);
pub(super) const SIGNATURES: Cell = cell("rskTxsWaitingFS", 6);
pub(super) const HEADERS_TIMESTAMP: Cell = cell("receiveHeadersLastTimestamp", 2);
pub(super) const NEXT_PEG_OUT_HEIGHT: Cell = cell("nextPegoutHeight", 3);
pub(super) const SVP_SPEND_WAITING: Cell = cell("svpSpendTxWaitingForSignatures", 7);
pub(super) const FEE_PER_KB: Cell = cell("feePerKb", 4);
pub(super) const FEE_ELECTION: Cell = cell("feePerKbElection", 4);
pub(super) const WHITELIST: Cell = cell("lockWhitelist", 4);
pub(super) const UNLIMITED_WHITELIST: Cell = cell("unlimitedLockWhitelist", 4);
pub(super) const ACTIVE_COINS: Cell = cell("newFederationBtcUTXOs", 5);
pub(super) const ACTIVE_COINS_TESTNET: Cell = cell("newFederationBtcUTXOsForTestnet", 5);
pub(super) const ACTIVE_COINS_TESTNET_LATER: Cell = cell("newFedBtcUTXOsForTestnetPostHop", 5);
pub(super) const NEW_FEDERATION: Cell = cell("newFederation", 7);
pub(super) const OLD_FEDERATION: Cell = cell("oldFederation", 7);
pub(super) const PENDING_VERSION: Cell = cell("pendingFederationFormatVersion", 4);
pub(super) const PENDING: Cell = cell("pendingFederation", 4);
pub(super) const PROPOSED_FEDERATION: Cell = cell("proposedFederation", 7);
pub(super) const FEDERATION_ELECTION: Cell = cell("federationElection", 4);
pub(super) const ACTIVE_CREATION_HEIGHT: Cell = cell("activeFedCreationBlockHeight", 7);
pub(super) const NEXT_CREATION_HEIGHT: Cell = cell("nextFedCreationBlockHeight", 7);
pub(super) const LOCKING_CAP: Cell = cell("lockingCap", 4);
pub(super) const CHAIN_HEAD: Cell = cell("blockStoreChainHead", 2);

/// The key of a cell with a long name: the hash of the name.
pub(super) fn long_key(name: &str) -> U256 {
    keccak256(name).into()
}

/// The key of one of many cells: the hash of name and id.
fn compound_key(name: &str, id: &str) -> U256 {
    keccak256(format!("{name}-{id}")).into()
}

/// The registration of a Bitcoin transaction, by its id in display order.
pub(super) fn processed_key(id: &[u8; 32]) -> U256 {
    compound_key("btcTxHashAP", &hex::encode(id))
}

/// The witness root of a Bitcoin block.
pub(super) fn coinbase_key(block: &B256) -> U256 {
    compound_key("coinbaseInformation", &hex::encode(block))
}

/// The hash of a block of the Bitcoin main chain.
pub(super) fn height_key(height: i32) -> U256 {
    compound_key("btcBlockHeight", &height.to_string())
}

/// The elements of a list that is the whole cell, none if it is malformed.
pub(super) fn elements(bytes: &[u8]) -> Option<Vec<rlp::Item<'_>>> {
    rlp::decode_list(bytes).ok()?.list("cell").ok()
}

/// The RLP integer that is the whole cell, none if it is malformed.
pub(super) fn number(bytes: &[u8]) -> Option<U256> {
    match rlp::decode_all(bytes).ok()?.as_slice() {
        [item] => rlp::read_u256(item.bytes(), "cell").ok(),
        _ => None,
    }
}

/// An RLP string.
pub(super) fn string(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(bytes.len() + 1);
    rlp::put_bytes(&mut encoded, bytes);
    encoded
}

/// The map of processed transactions: ids in display order and heights, in the order of the ids read backwards.
pub(super) fn processed_map(entries: &[([u8; 32], u64)]) -> Vec<u8> {
    let mut sorted = entries.to_vec();
    sorted.sort_unstable_by(|(a, _), (b, _)| a.iter().rev().cmp(b.iter().rev()));
    let mut items = Vec::new();
    for (id, height) in &sorted {
        rlp::put_bytes(&mut items, id);
        rlp::put_u64(&mut items, *height);
    }
    rlp::list(&items)
}

/// What [`processed_map`] writes, none if it is malformed.
pub(super) fn read_processed_map(bytes: &[u8]) -> Option<Vec<([u8; 32], u64)>> {
    let items = elements(bytes)?;
    let (pairs, rest) = items.as_chunks::<2>();
    let entry = |[id, height]: &[rlp::Item<'_>; 2]| {
        Some((id.bytes().try_into().ok()?, rlp::read_u64(height.bytes(), u64::MAX, "height").ok()?))
    };
    rest.is_empty().then(|| pairs.iter().map(entry).collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let word = |key: U256| hex::encode(key.to_be_bytes::<32>());
        assert_eq!(word(FEE_PER_KB.key), "0000000000000000000000000000000000000000000000006665655065724b62");
        assert_eq!(
            word(CONFIRMATIONS_WITH_HASH.key),
            "0072656c656173655472616e73616374696f6e53657457697468547848617368"
        );
        assert_eq!(
            word(long_key("unionBridgeLockingCap")),
            "8965827f63a9c8bfe4071fd295c16cf131959c70d2a5591d411a251f4a57ad5e"
        );
    }

    #[test]
    fn maps_are_read_back() {
        let (mut low, mut high) = ([0; 32], [0; 32]);
        (low[0], low[31]) = (9, 1);
        (high[0], high[31]) = (1, 2);
        let encoded = processed_map(&[(high, 7), (low, 0)]);
        assert_eq!(read_processed_map(&encoded), Some(vec![(low, 0), (high, 7)]));
        assert_eq!(read_processed_map(&[0xc0]), Some(vec![]));
        assert_eq!(read_processed_map(&[0xc1, 5]), None);
        assert_eq!(read_processed_map(&[0x80]), None);
    }
}
