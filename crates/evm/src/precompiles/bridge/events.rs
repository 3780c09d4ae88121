//! The logs of the Bridge (bridge chapter 10).

use super::invocation::Invocation;
use rhizome_primitives::{Address, B256, BRIDGE, Log, Rule, U256, keccak256, rlp};

/// `update_collections_topic` in ASCII, right aligned.
const OLD_UPDATE_TOPIC: &[u8] = b"update_collections_topic";

impl Invocation<'_, '_> {
    fn log(&mut self, signature: &str, indexed: &[Address], data: Vec<u8>) {
        let topics = std::iter::once(keccak256(signature)).chain(indexed.iter().map(|address| address.into_word()));
        self.ctx.logs.push(Log { address: BRIDGE, topics: topics.collect(), data: data.into() });
    }

    pub(super) fn log_update_collections(&mut self) {
        let sender = self.sender();
        if self.has(Rule::Rskip146) {
            return self.log("update_collections(address)", &[], sender.into_word().to_vec());
        }
        let mut data = Vec::new();
        rlp::put_address(&mut data, Some(&sender));
        let topics = vec![B256::left_padding_from(OLD_UPDATE_TOPIC)];
        self.ctx.logs.push(Log { address: BRIDGE, topics, data: data.into() });
    }

    /// A peg-out was asked for, to a P2PKH address given by its hash and its text.
    pub(super) fn log_release_received(&mut self, hash: &[u8; 20], address: &str, wei: U256) {
        let (signature, destination) = match self.has(Rule::Rskip326) {
            false => ("release_request_received(address,bytes,uint256)", hash.as_slice()),
            true => ("release_request_received(address,string,uint256)", address.as_bytes()),
        };
        let amount = self.shown_amount(wei);
        let mut data = words(&[U256::from(64), amount, U256::from(destination.len())]);
        data.extend(destination);
        data.resize(data.len().next_multiple_of(32), 0);
        let sender = self.sender();
        self.log(signature, &[sender], data);
    }

    pub(super) fn log_release_rejected(&mut self, wei: U256, reason: u64) {
        let data = words(&[self.shown_amount(wei), U256::from(reason)]);
        let sender = self.sender();
        self.log("release_request_rejected(address,uint256,int256)", &[sender], data);
    }

    /// Satoshis until RSKIP-427, then wei.
    fn shown_amount(&self, wei: U256) -> U256 {
        if self.has(Rule::Rskip427) { wei } else { wei / super::release::WEI_PER_SATOSHI }
    }

    pub(super) fn log_union_cap(&mut self, previous: U256, next: U256) {
        let sender = self.sender();
        self.log("union_bridge_locking_cap_increased(address,uint256,uint256)", &[sender], words(&[previous, next]));
    }

    pub(super) fn log_union_requested(&mut self, wei: U256) {
        let sender = self.sender();
        self.log("union_rbtc_requested(address,uint256)", &[sender], words(&[wei]));
    }

    pub(super) fn log_union_released(&mut self, wei: U256) {
        let sender = self.sender();
        self.log("union_rbtc_released(address,uint256)", &[sender], words(&[wei]));
    }

    pub(super) fn log_union_permissions(&mut self, caller: Address, permissions: [bool; 2]) {
        let data = words(&permissions.map(|is_enabled| U256::from(is_enabled)));
        self.log("union_bridge_transfer_permissions_updated(address,bool,bool)", &[caller], data);
    }
}

fn words(values: &[U256]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes::<32>()).collect()
}
