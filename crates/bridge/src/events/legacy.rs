//! Events until RSKIP-146: one topic of ASCII text, and data in RLP (docs/spec/bridge.md, 10).

use super::CommittedFederation;
use crate::public_key::{CompressedKey, encoded};
use rhizome_bitcoin::hash160;
use rhizome_primitives::{Address, B256, BRIDGE, Log, hex, rlp};

fn log(logs: &mut Vec<Log>, topic: &str, data: Vec<u8>) {
    let topics = vec![B256::left_padding_from(topic.as_bytes())];
    logs.push(Log { address: BRIDGE, topics, data: data.into() });
}

pub(super) fn update_collections(logs: &mut Vec<Log>, caller: &Address) {
    let mut data = Vec::new();
    rlp::put_address(&mut data, Some(caller));
    log(logs, "update_collections_topic", data);
}

pub(super) fn add_signature(logs: &mut Vec<Log>, rsk_hash: B256, key: &CompressedKey, btc_hash: B256) {
    let mut items = Vec::new();
    rlp::put_bytes(&mut items, hex::encode(btc_hash).as_bytes());
    rlp::put_bytes(&mut items, &hash160(key));
    rlp::put_bytes(&mut items, rsk_hash.as_slice());
    log(logs, "add_signature_topic", rlp::list(&items));
}

/// `btc_hash`: id of the signed transaction.
pub(super) fn release_btc(logs: &mut Vec<Log>, btc_hash: B256, transaction: &[u8]) {
    let mut items = Vec::new();
    rlp::put_bytes(&mut items, hex::encode(btc_hash).as_bytes());
    rlp::put_bytes(&mut items, transaction);
    log(logs, "release_btc_topic", rlp::list(&items));
}

pub(super) fn commit_federation(
    logs: &mut Vec<Log>,
    old: &CommittedFederation,
    new: &CommittedFederation,
    activation_height: u64,
) {
    let describe = |federation: &CommittedFederation| {
        let (mut items, mut keys) = (Vec::new(), Vec::new());
        federation.keys.iter().for_each(|key| rlp::put_bytes(&mut keys, encoded(key)));
        rlp::put_bytes(&mut items, &federation.hash);
        items.extend(rlp::list(&keys));
        rlp::list(&items)
    };
    let mut items = [describe(old), describe(new)].concat();
    rlp::put_bytes(&mut items, activation_height.to_string().as_bytes());
    log(logs, "commit_federation_topic", rlp::list(&items));
}
