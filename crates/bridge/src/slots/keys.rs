//! Keys of the storage slots (docs/spec/bridge.md, 3.1 and 3.2), in the order in which the save visits them.

use rhizome_primitives::{B256, Network, Rule, Rules, U256, hex, keccak256};

/// The key of a slot, or of the slots of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotKey {
    pub(crate) name: &'static str,
    /// The stage that implements the values that are not implemented (docs/spec/bridge.md, 14.2).
    pub(crate) stage: u8,
    is_hashed: bool,
}

/// A key made of the name itself, right-aligned. It has at most 32 bytes.
const fn short(name: &'static str, stage: u8) -> SlotKey {
    assert!(name.len() <= 32);
    SlotKey { name, stage, is_hashed: false }
}

/// A key made of the hash of the name.
const fn long(name: &'static str, stage: u8) -> SlotKey {
    SlotKey { name, stage, is_hashed: true }
}

impl SlotKey {
    /// Returns the key as a storage word.
    pub(crate) fn word(&self) -> U256 {
        if self.is_hashed { keccak256(self.name).into() } else { U256::from_be_slice(self.name.as_bytes()) }
    }
}

pub(crate) const PROCESSED: SlotKey = short("btcTxHashesAP", 5);
pub(crate) const QUEUE: SlotKey = short("releaseRequestQueue", 6);
pub(crate) const QUEUE_WITH_HASH: SlotKey = short("releaseRequestQueueWithTxHash", 6);
pub(crate) const CONFIRMATIONS: SlotKey = short("releaseTransactionSet", 6);
pub(crate) const CONFIRMATIONS_WITH_HASH: SlotKey = short("releaseTransactionSetWithTxHash", 6);
pub(crate) const SIGNATURES: SlotKey = short("rskTxsWaitingFS", 6);
/// Kind of the slots at [`coinbase_word`].
pub(crate) const COINBASE_INFORMATION: SlotKey = short("coinbaseInformation", 5);
/// Kind of the slots at [`height_word`].
pub(crate) const BLOCK_AT_HEIGHT: SlotKey = short("btcBlockHeight", 2);
pub(crate) const HEADERS_TIMESTAMP: SlotKey = short("receiveHeadersLastTimestamp", 2);
pub(crate) const NEXT_PEG_OUT_HEIGHT: SlotKey = short("nextPegoutHeight", 3);
pub(crate) const SVP_SPEND_WAITING: SlotKey = short("svpSpendTxWaitingForSignatures", 7);
pub(crate) const FEE_PER_KB: SlotKey = short("feePerKb", 4);
pub(crate) const FEE_ELECTION: SlotKey = short("feePerKbElection", 4);
pub(crate) const WHITELIST: SlotKey = short("lockWhitelist", 4);
pub(crate) const UNLIMITED_WHITELIST: SlotKey = short("unlimitedLockWhitelist", 4);
const ACTIVE_COINS: SlotKey = short("newFederationBtcUTXOs", 5);
const ACTIVE_COINS_TESTNET: SlotKey = short("newFederationBtcUTXOsForTestnet", 5);
const ACTIVE_COINS_TESTNET_LATER: SlotKey = short("newFedBtcUTXOsForTestnetPostHop", 5);
pub(crate) const NEW_FEDERATION: SlotKey = short("newFederation", 7);
pub(crate) const OLD_FEDERATION: SlotKey = short("oldFederation", 7);
pub(crate) const PENDING_VERSION: SlotKey = short("pendingFederationFormatVersion", 4);
pub(crate) const PENDING: SlotKey = short("pendingFederation", 4);
pub(crate) const PROPOSED_FEDERATION: SlotKey = short("proposedFederation", 7);
pub(crate) const FEDERATION_ELECTION: SlotKey = short("federationElection", 4);
pub(crate) const ACTIVE_CREATION_HEIGHT: SlotKey = short("activeFedCreationBlockHeight", 7);
pub(crate) const NEXT_CREATION_HEIGHT: SlotKey = short("nextFedCreationBlockHeight", 7);
pub(crate) const LOCKING_CAP: SlotKey = short("lockingCap", 4);
pub(crate) const UNION_ADDRESS: SlotKey = long("unionBridgeContractAddress", 4);
pub(crate) const UNION_CAP: SlotKey = long("unionBridgeLockingCap", 4);
pub(crate) const UNION_LENT: SlotKey = long("weisTransferredToUnionBridge", 4);
pub(crate) const UNION_REQUESTS: SlotKey = long("unionBridgeRequestEnabled", 4);
pub(crate) const UNION_RELEASES: SlotKey = long("unionBridgeReleaseEnabled", 4);
pub(crate) const SUPER_EVENT: SlotKey = long("superEvent", 4);
pub(crate) const BASE_EVENT: SlotKey = long("baseEvent", 4);
/// Written at once, not by the save.
pub(crate) const CHAIN_HEAD: SlotKey = short("blockStoreChainHead", 2);

/// Returns the key of the coins of the active federation. The testnet changed its slot twice.
pub(crate) fn active_coins(network: Network, rules: &Rules) -> SlotKey {
    let is_testnet = matches!(network, Network::Testnet | Network::Testnet2);
    match (is_testnet, rules.is_active(Rule::Rskip284), rules.is_active(Rule::Rskip293)) {
        (true, true, true) => ACTIVE_COINS_TESTNET_LATER,
        (true, true, false) => ACTIVE_COINS_TESTNET,
        _ => ACTIVE_COINS,
    }
}

/// Returns the key of one of many slots: the hash of name and id.
fn compound(name: &str, id: &str) -> U256 {
    keccak256(format!("{name}-{id}")).into()
}

/// Returns the key of the RSK height of a processed Bitcoin transaction; `id` in display order.
pub(crate) fn processed_word(id: &[u8; 32]) -> U256 {
    compound("btcTxHashAP", &hex::encode(id))
}

/// Returns the key of the witness root of a Bitcoin block.
pub(crate) fn coinbase_word(block: &B256) -> U256 {
    compound(COINBASE_INFORMATION.name, &hex::encode(block))
}

/// Returns the key of the block hash at a height of the Bitcoin main chain.
pub(crate) fn height_word(height: i32) -> U256 {
    compound(BLOCK_AT_HEIGHT.name, &height.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_reference() {
        let word = |key: SlotKey| hex::encode(key.word().to_be_bytes::<32>());
        assert_eq!(word(FEE_PER_KB), "0000000000000000000000000000000000000000000000006665655065724b62");
        assert_eq!(word(CONFIRMATIONS_WITH_HASH), "0072656c656173655472616e73616374696f6e53657457697468547848617368");
        assert_eq!(word(UNION_CAP), "8965827f63a9c8bfe4071fd295c16cf131959c70d2a5591d411a251f4a57ad5e");
    }
}
