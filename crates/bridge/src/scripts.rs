//! Scripts of federations (docs/spec/bridge.md, 8.2).

use crate::constants::constants;
use crate::error::BridgeError;
use rhizome_bitcoin::hash160;
use rhizome_primitives::Network;

/// The version of federations with a standard multisig. Later versions add emergency keys.
const STANDARD_VERSION: u32 = 1000;
const OP_PUSH_0: u8 = 0x50;
const OP_HASH160: u8 = 0xa9;
const OP_EQUAL: u8 = 0x87;
const OP_CHECKMULTISIG: u8 = 0xae;

/// Returns the number of signatures that a federation of `size` members requires.
pub(crate) fn threshold(size: u64) -> u64 {
    size / 2 + 1
}

/// Returns the redeem script of a standard multisig.
pub(crate) fn redeem_script(keys: &[[u8; 33]]) -> Vec<u8> {
    let mut script = Vec::with_capacity(34 * keys.len() + 5);
    push_number(&mut script, threshold(keys.len() as u64));
    for key in keys {
        script.push(33);
        script.extend(key);
    }
    push_number(&mut script, keys.len() as u64);
    script.push(OP_CHECKMULTISIG);
    script
}

/// Writes a small number: an opcode up to 15, a data push of one byte above. Federations have at most 127 members.
fn push_number(script: &mut Vec<u8>, number: u64) {
    let byte = number as u8;
    match byte {
        0..=15 => script.push(OP_PUSH_0 + byte),
        _ => script.extend([1, byte]),
    }
}

/// The scripts and the address of a federation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FederationScripts {
    /// Number of signatures that a spend requires.
    pub required_signatures: u64,
    /// Script that checks the signatures.
    pub redeem_script: Vec<u8>,
    /// Script that pays to the hash of the redeem script.
    pub output_script: Vec<u8>,
    /// Address in Base58Check.
    pub address: String,
}

/// Returns the scripts of a federation with these Bitcoin keys, in any order (docs/spec/bridge.md, 8.2). Fails with
/// [`BridgeError::NotImplemented`] for versions other than 1000 and for networks without a Bridge.
pub fn federation_scripts(
    network: Network,
    version: u32,
    members: &[[u8; 33]],
) -> Result<FederationScripts, BridgeError> {
    let missing = |part| BridgeError::NotImplemented { part, stage: 7 };
    let constants = constants(network).ok_or_else(|| missing("the constants of the devnet"))?;
    if version != STANDARD_VERSION {
        return Err(missing("federation with emergency keys"));
    }
    let mut keys = members.to_vec();
    keys.sort_unstable();
    let redeem_script = redeem_script(&keys);
    let hash = hash160(&redeem_script);
    Ok(FederationScripts {
        required_signatures: threshold(keys.len() as u64),
        output_script: [&[OP_HASH160, 20][..], &hash, &[OP_EQUAL]].concat(),
        address: constants.script_address(hash),
        redeem_script,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::genesis_federation::genesis_keys;

    #[test]
    fn addresses_match_the_scripts() {
        for network in [Network::Mainnet, Network::Testnet, Network::Regtest] {
            let keys = genesis_keys(network).unwrap();
            let scripts = federation_scripts(network, STANDARD_VERSION, &keys).unwrap();
            assert_eq!(scripts.address, constants(network).unwrap().federation_address);
        }
    }

    #[test]
    fn emergency_keys_are_not_implemented() {
        let error = federation_scripts(Network::Regtest, 3000, &[[2; 33]]).unwrap_err();
        assert!(matches!(error, BridgeError::NotImplemented { stage: 7, .. }));
    }
}
