//! `eth_config`.

use crate::error::Answer;
use crate::json::JsonWriter;
use crate::node::Node;
use rhizome_evm::precompiles::precompile_at;
use rhizome_evm::precompiles::table::TABLE;
use rhizome_primitives::{B256, ChainSpec, Upgrade};
use std::collections::BTreeMap;

/// Names of the precompiles in the order of their table; those of Ethereum as in EIP-7910.
const PRECOMPILES: [&str; 16] = [
    "ECREC",
    "SHA256",
    "RIPEMD160",
    "ID",
    "MODEXP",
    "BN254_ADD",
    "BN254_MUL",
    "BN254_PAIRING",
    "BLAKE2F",
    "BRIDGE",
    "REMASC",
    "HD_WALLET_UTILS",
    "BLOCK_HEADER",
    "ENVIRONMENT",
    "SECP256K1_ADD",
    "SECP256K1_MUL",
];

/// Returns the rules of the current, the next and the last known upgrade as in EIP-7910. Upgrades activate at heights, so that
/// `activationBlock` and `upgrade` take the place of `activationTime`; there are no blobs and no system contracts.
pub fn answer(node: &Node) -> Answer {
    let chain = node.chain();
    let spec = chain.spec();
    let genesis = chain.main_hash(0)?.unwrap_or_default();
    let heights = heights(spec);
    let head = chain.head().number();
    let current = heights.range(..=head).next_back();
    let next = heights.range(head.saturating_add(1)..).next();
    let last = heights.last_key_value().filter(|_| next.is_some());
    let mut json = JsonWriter::with_capacity(4096);
    json.begin_object();
    for (name, fork) in [("current", current), ("next", next), ("last", last)] {
        json.key(name);
        match fork {
            Some((height, upgrade)) => write(&mut json, spec, &genesis, &heights, (*height, *upgrade)),
            None => json.null(),
        }
    }
    json.end_object();
    Ok(json.finish())
}

/// The last upgrade at each height that has one; the genesis block always does.
fn heights(spec: &ChainSpec) -> BTreeMap<u64, Option<Upgrade>> {
    let known = Upgrade::ALL.iter().filter_map(|upgrade| Some((spec.upgrade_height(*upgrade)?, Some(*upgrade))));
    [(0, None)].into_iter().chain(known).collect()
}

fn write(
    json: &mut JsonWriter,
    spec: &ChainSpec,
    genesis: &B256,
    heights: &BTreeMap<u64, Option<Upgrade>>,
    (height, upgrade): (u64, Option<Upgrade>),
) {
    json.begin_object();
    json.key("activationBlock").quantity(height);
    json.key("upgrade").text(upgrade.map_or("genesis", Upgrade::name));
    json.key("blobSchedule").null();
    json.key("chainId").quantity(spec.chain_id.into());
    json.key("forkId").data(&fork_hash(genesis, heights.range(1..=height.max(1)).map(|(height, _)| *height), height));
    json.key("precompiles").begin_object();
    let rules = spec.rules(height);
    for (entry, name) in TABLE.iter().zip(PRECOMPILES) {
        if precompile_at(&entry.address, &rules).is_some() {
            json.key(name).data(entry.address.as_slice());
        }
    }
    json.end_object();
    json.key("systemContracts").begin_object();
    json.end_object();
    json.end_object();
}

/// FORK_HASH of EIP-2124: the CRC-32 of the hash of the genesis block and the heights of the upgrades up to `last`.
fn fork_hash(genesis: &B256, heights: impl Iterator<Item = u64>, last: u64) -> [u8; 4] {
    let heights = heights.filter(|height| *height <= last).flat_map(u64::to_be_bytes);
    let crc = genesis.iter().copied().chain(heights).fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    });
    (!crc).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{address, b256};

    #[test]
    fn every_precompile_has_a_name() {
        assert_eq!(TABLE.len(), PRECOMPILES.len());
        let bridge = TABLE.iter().zip(PRECOMPILES).find(|(_, name)| *name == "BRIDGE").unwrap().0.address;
        assert_eq!(bridge, address!("0000000000000000000000000000000001000006"));
    }

    #[test]
    fn fork_hashes_of_ethereum() {
        let genesis = b256!("d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3");
        assert_eq!(fork_hash(&genesis, [1_150_000].into_iter(), 0), 0xfc64_ec04_u32.to_be_bytes());
        assert_eq!(fork_hash(&genesis, [1_150_000, 1_920_000].into_iter(), 1_150_000), 0x97c2_c34c_u32.to_be_bytes());
    }
}
