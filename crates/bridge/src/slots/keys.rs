//! Keys of the storage slots (docs/spec/bridge.md, 3.1 and 3.2), in the order in which the save visits them.

use rhizome_primitives::{B256, Network, Rule, Rules, U256, hex, keccak256};

/// The key of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotKey {
    name: &'static str,
    is_hashed: bool,
}

/// A key made of the name itself, right-aligned. It has at most 32 bytes.
const fn short(name: &'static str) -> SlotKey {
    assert!(name.len() <= 32);
    SlotKey { name, is_hashed: false }
}

/// A key made of the hash of the name.
const fn long(name: &'static str) -> SlotKey {
    SlotKey { name, is_hashed: true }
}

impl SlotKey {
    /// Returns the key as a storage word.
    pub(crate) fn word(&self) -> U256 {
        if self.is_hashed { keccak256(self.name).into() } else { U256::from_be_slice(self.name.as_bytes()) }
    }
}

pub(crate) const PROCESSED: SlotKey = short("btcTxHashesAP");
pub(crate) const QUEUE: SlotKey = short("releaseRequestQueue");
pub(crate) const QUEUE_WITH_HASH: SlotKey = short("releaseRequestQueueWithTxHash");
pub(crate) const CONFIRMATIONS: SlotKey = short("releaseTransactionSet");
pub(crate) const CONFIRMATIONS_WITH_HASH: SlotKey = short("releaseTransactionSetWithTxHash");
pub(crate) const SIGNATURES: SlotKey = short("rskTxsWaitingFS");
pub(crate) const HEADERS_TIMESTAMP: SlotKey = short("receiveHeadersLastTimestamp");
pub(crate) const NEXT_PEG_OUT_HEIGHT: SlotKey = short("nextPegoutHeight");
pub(crate) const SVP_FUND_HASH: SlotKey = short("svpFundTxHashUnsigned");
pub(crate) const SVP_FUND_SIGNED: SlotKey = short("svpFundTxSigned");
pub(crate) const SVP_SPEND_HASH: SlotKey = short("svpSpendTxHashUnsigned");
pub(crate) const SVP_SPEND_WAITING: SlotKey = short("svpSpendTxWaitingForSignatures");
pub(crate) const FEE_PER_KB: SlotKey = short("feePerKb");
pub(crate) const FEE_ELECTION: SlotKey = short("feePerKbElection");
pub(crate) const WHITELIST: SlotKey = short("lockWhitelist");
pub(crate) const UNLIMITED_WHITELIST: SlotKey = short("unlimitedLockWhitelist");
const ACTIVE_COINS: SlotKey = short("newFederationBtcUTXOs");
const ACTIVE_COINS_TESTNET: SlotKey = short("newFederationBtcUTXOsForTestnet");
const ACTIVE_COINS_TESTNET_LATER: SlotKey = short("newFedBtcUTXOsForTestnetPostHop");
pub(crate) const OLD_COINS: SlotKey = short("oldFederationBtcUTXOs");
const NEW_FEDERATION_VERSION: SlotKey = short("newFederationFormatVersion");
pub(crate) const NEW_FEDERATION: SlotKey = short("newFederation");
const OLD_FEDERATION_VERSION: SlotKey = short("oldFederationFormatVersion");
pub(crate) const OLD_FEDERATION: SlotKey = short("oldFederation");
pub(crate) const PENDING_VERSION: SlotKey = short("pendingFederationFormatVersion");
pub(crate) const PENDING: SlotKey = short("pendingFederation");
const PROPOSED_FEDERATION_VERSION: SlotKey = short("proposedFederationFormatVersion");
pub(crate) const PROPOSED_FEDERATION: SlotKey = short("proposedFederation");
pub(crate) const FEDERATION_ELECTION: SlotKey = short("federationElection");
pub(crate) const ACTIVE_CREATION_HEIGHT: SlotKey = short("activeFedCreationBlockHeight");
pub(crate) const NEXT_CREATION_HEIGHT: SlotKey = short("nextFedCreationBlockHeight");
pub(crate) const LAST_RETIRED_SCRIPT: SlotKey = short("lastRetiredFedP2SHScript");
pub(crate) const LOCKING_CAP: SlotKey = short("lockingCap");
pub(crate) const UNION_ADDRESS: SlotKey = long("unionBridgeContractAddress");
pub(crate) const UNION_CAP: SlotKey = long("unionBridgeLockingCap");
pub(crate) const UNION_LENT: SlotKey = long("weisTransferredToUnionBridge");
pub(crate) const UNION_REQUESTS: SlotKey = long("unionBridgeRequestEnabled");
pub(crate) const UNION_RELEASES: SlotKey = long("unionBridgeReleaseEnabled");
pub(crate) const SUPER_EVENT: SlotKey = long("superEvent");
pub(crate) const BASE_EVENT: SlotKey = long("baseEvent");
/// Written at once, not by the save.
pub(crate) const CHAIN_HEAD: SlotKey = short("blockStoreChainHead");

/// Returns the key of the coins of the active federation. The testnet changed its slot twice.
pub(crate) fn active_coins(network: Network, rules: &Rules) -> SlotKey {
    let is_testnet = matches!(network, Network::Testnet | Network::Testnet2);
    match (is_testnet, rules.is_active(Rule::Rskip284), rules.is_active(Rule::Rskip293)) {
        (true, true, true) => ACTIVE_COINS_TESTNET_LATER,
        (true, true, false) => ACTIVE_COINS_TESTNET,
        _ => ACTIVE_COINS,
    }
}

/// Returns the key of the version of the new, old or proposed federation.
pub(crate) fn version_of(federation: &SlotKey) -> SlotKey {
    match *federation {
        OLD_FEDERATION => OLD_FEDERATION_VERSION,
        PROPOSED_FEDERATION => PROPOSED_FEDERATION_VERSION,
        _ => NEW_FEDERATION_VERSION,
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
    compound("coinbaseInformation", &hex::encode(block))
}

/// Returns the key of the mark that a flyover used a Bitcoin transaction. `transaction` in display order.
pub(crate) fn flyover_used_word(transaction: &B256, derivation: &B256) -> U256 {
    compound("fastBridgeHashUsedInBtcTx", &format!("{}{}", hex::encode(transaction), hex::encode(derivation)))
}

/// Returns the key of the federation behind a flyover address.
pub(crate) fn flyover_federation_word(script_hash: &[u8; 20]) -> U256 {
    compound("fastBridgeFederationInformation", &hex::encode(script_hash))
}

/// Returns the key of the mark that the Bridge made a peg-out. `hash`: its index hash (docs/spec/bridge.md, 6.2).
pub(crate) fn peg_out_index_word(hash: &[u8; 32]) -> U256 {
    compound("pegoutTxSigHash", &hex::encode(hash))
}

/// Returns the key of the values of the coins that a transaction spends. `txid` in display order.
pub(crate) fn outpoint_values_word(txid: &B256) -> U256 {
    compound("releasesOutpointsValues", &hex::encode(txid))
}

/// Returns the key of the block hash at a height of the Bitcoin main chain.
pub(crate) fn height_word(height: i32) -> U256 {
    compound("btcBlockHeight", &height.to_string())
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
