//! Events of the Bridge (docs/spec/bridge.md, 10).

use crate::context::CallContext;
use crate::units::WEI_PER_SATOSHI;
use rhizome_primitives::{Address, B256, BRIDGE, Log, Rule, U256, keccak256, rlp};

/// Topic until RSKIP-146, right-aligned ASCII.
const OLD_UPDATE_TOPIC: &[u8] = b"update_collections_topic";

fn log(logs: &mut Vec<Log>, signature: &str, indexed: &[Address], data: Vec<u8>) {
    let topics = std::iter::once(keccak256(signature)).chain(indexed.iter().map(|address| address.into_word()));
    logs.push(Log { address: BRIDGE, topics: topics.collect(), data: data.into() });
}

pub(crate) fn update_collections(logs: &mut Vec<Log>, ctx: &CallContext<'_>) {
    let caller = ctx.caller();
    if ctx.has(Rule::Rskip146) {
        return log(logs, "update_collections(address)", &[], caller.into_word().to_vec());
    }
    let mut data = Vec::new();
    rlp::put_address(&mut data, Some(&caller));
    let topics = vec![B256::left_padding_from(OLD_UPDATE_TOPIC)];
    logs.push(Log { address: BRIDGE, topics, data: data.into() });
}

/// A peg-out request to the P2PKH address of `hash`.
pub(crate) fn release_received(logs: &mut Vec<Log>, ctx: &CallContext<'_>, hash: &[u8; 20], wei: U256) {
    let address = ctx.constants.key_address(*hash);
    let (signature, destination) = match ctx.has(Rule::Rskip326) {
        false => ("release_request_received(address,bytes,uint256)", hash.as_slice()),
        true => ("release_request_received(address,string,uint256)", address.as_bytes()),
    };
    let mut data = words(&[U256::from(64), logged_amount(ctx, wei), U256::from(destination.len())]);
    data.extend(destination);
    data.resize(data.len().next_multiple_of(32), 0);
    log(logs, signature, &[ctx.caller()], data);
}

pub(crate) fn release_rejected(logs: &mut Vec<Log>, ctx: &CallContext<'_>, wei: U256, reason: u64) {
    let data = words(&[logged_amount(ctx, wei), U256::from(reason)]);
    log(logs, "release_request_rejected(address,uint256,int256)", &[ctx.caller()], data);
}

/// Returns the amount in satoshis until RSKIP-427, then in wei.
fn logged_amount(ctx: &CallContext<'_>, wei: U256) -> U256 {
    if ctx.has(Rule::Rskip427) { wei } else { wei / WEI_PER_SATOSHI }
}

pub(crate) fn union_cap_increased(logs: &mut Vec<Log>, ctx: &CallContext<'_>, previous: U256, next: U256) {
    let signature = "union_bridge_locking_cap_increased(address,uint256,uint256)";
    log(logs, signature, &[ctx.caller()], words(&[previous, next]));
}

pub(crate) fn union_requested(logs: &mut Vec<Log>, ctx: &CallContext<'_>, wei: U256) {
    log(logs, "union_rbtc_requested(address,uint256)", &[ctx.caller()], words(&[wei]));
}

pub(crate) fn union_released(logs: &mut Vec<Log>, ctx: &CallContext<'_>, wei: U256) {
    log(logs, "union_rbtc_released(address,uint256)", &[ctx.caller()], words(&[wei]));
}

pub(crate) fn union_permissions_updated(logs: &mut Vec<Log>, caller: Address, permissions: [bool; 2]) {
    let data = words(&permissions.map(|is_enabled| U256::from(is_enabled)));
    log(logs, "union_bridge_transfer_permissions_updated(address,bool,bool)", &[caller], data);
}

fn words(values: &[U256]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes::<32>()).collect()
}
