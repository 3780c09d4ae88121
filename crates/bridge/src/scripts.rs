//! Scripts of federations (docs/spec/bridge.md, 8.2).

use crate::constants::{BitcoinRules, Constants, constants};
use crate::federation::FederationVersion;
use crate::public_key::encoded;
use crate::redeem_script::TESTNET_REDEEM_SCRIPT;
use rhizome_bitcoin::script::{opcode, p2sh_p2wsh_script};
use rhizome_bitcoin::{BitcoinAddress, hash160, p2sh_script, push_data, push_number};
use rhizome_primitives::{B256, Network, Rule, Rules};

/// Maximum size of a redeem script with emergency keys that goes into an input script, bytes.
const MAXIMUM_SCRIPT_SIZE: usize = 486;
/// Maximum number of keys of CHECKMULTISIG.
const MAXIMUM_KEYS: usize = 20;
/// Maximum size of a redeem script that goes into a witness, bytes.
const MAXIMUM_WITNESS_SIZE: usize = 3566;

/// Returns the number of signatures that a federation of `size` members requires.
pub(crate) fn threshold(size: usize) -> usize {
    size / 2 + 1
}

/// Returns the redeem script of a standard multisig. `keys` in ascending order.
pub(crate) fn multisig(keys: &[[u8; 33]]) -> Vec<u8> {
    let mut script = Vec::with_capacity(34 * keys.len() + 5);
    put_keys(&mut script, keys);
    script.push(opcode::CHECKMULTISIG);
    script
}

fn put_keys(script: &mut Vec<u8>, keys: &[[u8; 33]]) {
    push_number(script, threshold(keys.len()) as u32);
    keys.iter().for_each(|key| push_data(script, encoded(key)));
    push_number(script, keys.len() as u32);
}

/// Returns the redeem script of a federation; `None` if it is too large to spend from, or the keys are too many. `keys` in
/// ascending order.
pub(crate) fn redeem_script(
    version: FederationVersion,
    keys: &[[u8; 33]],
    constants: &Constants,
    rules: &Rules,
) -> Option<Vec<u8>> {
    let mut script = vec![opcode::NOTIF];
    match version {
        FederationVersion::NonStandardErp if is_testnet_constant(constants, rules) => {
            return Some(TESTNET_REDEEM_SCRIPT.to_vec());
        }
        _ if keys.len() > MAXIMUM_KEYS => return None,
        FederationVersion::Standard => return Some(multisig(keys)),
        FederationVersion::NonStandardErp => {
            put_keys(&mut script, keys);
            put_delay(&mut script, constants.emergency_delay, rules.is_active(Rule::Rskip293));
            put_keys(&mut script, constants.emergency_keys);
            script.extend([opcode::ENDIF, opcode::CHECKMULTISIG]);
        }
        FederationVersion::P2shErp | FederationVersion::P2wshErp => {
            script.extend(multisig(keys));
            put_delay(&mut script, constants.emergency_delay, true);
            script.extend(multisig(constants.emergency_keys));
            script.push(opcode::ENDIF);
        }
    }
    let limit = if version.is_segwit() { MAXIMUM_WITNESS_SIZE } else { MAXIMUM_SCRIPT_SIZE };
    (script.len() <= limit).then_some(script)
}

/// Returns true if version 2000 has the constant redeem script of testnet.
pub(crate) fn is_testnet_constant(constants: &Constants, rules: &Rules) -> bool {
    constants.bitcoin == BitcoinRules::Testnet && !rules.is_active(Rule::Rskip284)
}

/// Begins the emergency branch. Until RSKIP-293, version 2000 has the delay in two bytes, most significant first.
fn put_delay(script: &mut Vec<u8>, delay: u32, is_minimal: bool) {
    script.push(opcode::ELSE);
    if is_minimal {
        push_number(script, delay);
    } else {
        let [.., high, low] = delay.to_be_bytes();
        push_data(script, &[high, low]);
    }
    script.extend([opcode::CHECKSEQUENCEVERIFY, opcode::DROP]);
}

/// Returns the redeem script of a flyover address.
pub(crate) fn flyover_redeem_script(derivation: &B256, redeem_script: &[u8]) -> Vec<u8> {
    let mut script = Vec::with_capacity(34 + redeem_script.len());
    push_data(&mut script, derivation.as_slice());
    script.push(opcode::DROP);
    script.extend(redeem_script);
    script
}

/// Returns the output script that pays to a redeem script.
pub(crate) fn output_script(version: FederationVersion, redeem_script: &[u8]) -> Vec<u8> {
    match version.is_segwit() {
        true => p2sh_p2wsh_script(redeem_script),
        false => p2sh_script(&hash160(redeem_script)),
    }
}

/// The scripts and the addresses of a federation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FederationScripts {
    /// Number of signatures that a spend requires.
    pub required_signatures: usize,
    /// Script that checks the signatures.
    pub redeem_script: Vec<u8>,
    /// Script that pays to the hash of the redeem script.
    pub output_script: Vec<u8>,
    /// Address in Base58Check.
    pub address: String,
    /// Redeem script without the emergency branch; `None` for the constant of testnet.
    pub standard_redeem_script: Option<Vec<u8>>,
    /// Script that pays to the hash of the standard redeem script.
    pub standard_output_script: Option<Vec<u8>>,
    /// Redeem script of the flyover address.
    pub flyover_redeem_script: Vec<u8>,
    /// Script that pays to the flyover address.
    pub flyover_output_script: Vec<u8>,
    /// Flyover address in Base58Check.
    pub flyover_address: String,
}

/// Returns the scripts of a federation with these Bitcoin keys, in any order (docs/spec/bridge.md, 8.2); `None` if the redeem
/// script is too large, and on the devnet. `derivation`: that of the flyover address.
pub fn federation_scripts(
    network: Network,
    rules: &Rules,
    version: u64,
    members: &[[u8; 33]],
    derivation: &B256,
) -> Option<FederationScripts> {
    let constants = constants(network)?;
    let version = FederationVersion::of_number(version);
    let mut keys = members.to_vec();
    keys.sort_unstable();
    let redeem_script = redeem_script(version, &keys, constants, rules)?;
    let is_constant = version == FederationVersion::NonStandardErp && is_testnet_constant(constants, rules);
    let standard_redeem_script = (!is_constant).then(|| multisig(&keys));
    let flyover_redeem_script = flyover_redeem_script(derivation, &redeem_script);
    let [_key, address_version] = constants.address_versions;
    let address = |script: &[u8]| {
        let hash = rhizome_bitcoin::script::script_hash(script)?;
        Some(BitcoinAddress { version: address_version, hash }.to_text())
    };
    let output_script = |script: &[u8]| output_script(version, script);
    Some(FederationScripts {
        required_signatures: threshold(keys.len()),
        address: address(&output_script(&redeem_script))?,
        output_script: output_script(&redeem_script),
        standard_output_script: standard_redeem_script.as_deref().map(output_script),
        standard_redeem_script,
        flyover_address: address(&output_script(&flyover_redeem_script))?,
        flyover_output_script: output_script(&flyover_redeem_script),
        flyover_redeem_script,
        redeem_script,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::genesis_federation::genesis_keys;

    #[test]
    fn federations_have_at_most_20_members() {
        let rules = Rules::all();
        let script = |version, size| {
            let keys: Vec<_> = (0..size).map(|key| [key; 33]).collect();
            federation_scripts(Network::Regtest, &rules, version, &keys, &B256::ZERO)
        };
        for version in [1000, 4000] {
            assert!(script(version, 20).is_some() && script(version, 21).is_none());
        }
    }

    #[test]
    fn genesis_federations_have_the_known_addresses() {
        let genesis = [
            (Network::Mainnet, "39AHNvUmzaYgewA8yCtBtNsfRz7QD7ZJYi"),
            (Network::Testnet, "2N1N5mdHWmRUfv49f7GnUeFfuyLcBQK7hj2"),
            (Network::Regtest, "2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p"),
        ];
        for (network, address) in genesis {
            let keys = genesis_keys(network).unwrap();
            let rules = std::iter::empty::<Rule>().collect();
            let scripts = federation_scripts(network, &rules, 1000, &keys, &B256::ZERO).unwrap();
            assert_eq!(scripts.address, address);
        }
    }
}
