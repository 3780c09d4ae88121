//! The federation of the genesis, and what is asked about federations as long as it is the active one (bridge chapter 8).

use super::super::remasc::federation::{genesis_federation, genesis_keys};
use super::cells;
use super::constants::constants;
use super::invocation::Invocation;
use super::{Answer, Failure, Result};
use crate::error::ExecError;
use rhizome_bitcoin::hash160;
use rhizome_primitives::{Address, B256, I256, Network, Rule, U256};

/// The version of federations that are a plain multisig. Later ones add emergency keys.
const STANDARD_VERSION: u32 = 1000;
const OP_PUSH_0: u8 = 0x50;
const OP_HASH160: u8 = 0xa9;
const OP_EQUAL: u8 = 0x87;
const OP_CHECKMULTISIG: u8 = 0xae;
/// Bytes that a signature takes in estimates of sizes.
const SIGNATURE_SIZE: u64 = 72;
/// The genesis federation counts as made in this block.
const CREATION_BLOCK: u64 = 1;
/// "There is none" as a size, threshold, time or block number.
const NONE: I256 = I256::MINUS_ONE;

/// The roles that a federation can have beside being the active one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Retiring,
    Proposed,
}

/// What is asked about a federation.
#[derive(Clone, Copy)]
pub(super) enum Detail {
    Address,
    Size,
    Threshold,
    CreationTime,
    CreationBlock,
}

/// True if the address belongs to a member of the genesis federation.
pub(super) fn is_member(network: Network, address: &Address) -> bool {
    genesis_federation(network).is_some_and(|members| members.contains(address))
}

/// A number as the word of an answer.
pub(super) fn word(number: u64) -> Answer {
    Answer::Word(U256::from(number))
}

/// A code, which may be negative, as the word of an answer.
pub(super) fn code(code: i64) -> Answer {
    Answer::Word(I256::try_from(code).map_or(U256::ZERO, I256::into_raw))
}

impl Invocation<'_, '_> {
    /// Stops if a federation was ever committed: until then the genesis federation is active and there is no other.
    pub(super) fn require_genesis_federation(&mut self) -> Result<()> {
        self.require_absent(cells::NEW_FEDERATION)?;
        self.require_absent(cells::OLD_FEDERATION)
    }

    /// Stops if there is a federation in that role.
    pub(super) fn require_no(&mut self, role: Role) -> Result<()> {
        match role {
            Role::Retiring => self.require_genesis_federation(),
            Role::Proposed if self.has(Rule::Rskip419) => self.require_absent(cells::PROPOSED_FEDERATION),
            Role::Proposed => Ok(()),
        }
    }

    /// Keys of the active federation in the order of its members.
    pub(super) fn active_keys(&mut self) -> Result<Vec<[u8; 33]>> {
        self.require_genesis_federation()?;
        let keys = genesis_keys(self.ctx.spec.network);
        keys.ok_or_else(|| self.missing("genesis federation", 0))
    }

    /// Sender checks of the methods that are for members of the live federations.
    pub(super) fn require_member(&mut self) -> Result<()> {
        self.require_genesis_federation()?;
        if is_member(self.ctx.spec.network, &self.sender()) { Ok(()) } else { Err(Failure::Call) }
    }

    pub(super) fn active_detail(&mut self, detail: Detail) -> Result<Answer> {
        let size = self.active_keys()?.len() as u64;
        Ok(match detail {
            Detail::Address => Answer::Bytes(self.constants.federation_address.into()),
            Detail::Size => word(size),
            Detail::Threshold => word(threshold(size)),
            Detail::CreationTime if self.has(Rule::Rskip419) => word(self.constants.federation_creation / 1000),
            Detail::CreationTime => word(self.constants.federation_creation),
            Detail::CreationBlock => word(CREATION_BLOCK),
        })
    }

    /// The same about a federation that does not exist, or a stop if it does.
    pub(super) fn other_detail(&mut self, role: Role, detail: Detail) -> Result<Answer> {
        self.require_no(role)?;
        Ok(match detail {
            Detail::Address => Answer::Bytes(Vec::new()),
            _ => Answer::Word(NONE.into_raw()),
        })
    }

    /// The key of a member; those of the genesis have one key for everything.
    pub(super) fn active_key(&mut self, index: i32) -> Result<Answer> {
        let keys = self.active_keys()?;
        let key = usize::try_from(index).ok().and_then(|index| keys.get(index));
        key.map(|key| Answer::Bytes(key.to_vec())).ok_or(Failure::Call)
    }

    pub(super) fn other_key(&mut self, role: Role) -> Result<Answer> {
        self.require_no(role)?;
        Ok(Answer::Bytes(Vec::new()))
    }

    pub(super) fn active_redeem_script(&mut self) -> Result<Vec<u8>> {
        Ok(redeem_script(&self.active_keys()?))
    }

    pub(super) fn active_creation_height(&mut self) -> Result<Answer> {
        self.require_absent(cells::NEXT_CREATION_HEIGHT)?;
        self.require_absent(cells::ACTIVE_CREATION_HEIGHT)?;
        Ok(word(0))
    }

    /// The estimated size of a peg-out with so many inputs and outputs (bridge chapter 7.2).
    pub(super) fn peg_out_size(&mut self, inputs: u64, outputs: u64) -> Result<u64> {
        let keys = self.active_keys()?;
        let script = redeem_script(&keys).len() as u64;
        let signatures = SIGNATURE_SIZE * threshold(keys.len() as u64);
        if !self.has(Rule::Rskip271) {
            return Ok(4 + (signatures + script + 1 + 40) * inputs + (25 + 1 + 9) * outputs);
        }
        let input = 36 + varint_size(script) + script + 4;
        let plain = 4 + varint_size(inputs) + inputs * input + varint_size(outputs) + 32 * outputs + 4;
        Ok(plain + signatures * inputs)
    }
}

/// Signatures that a federation of this size needs.
fn threshold(size: u64) -> u64 {
    size / 2 + 1
}

fn varint_size(number: u64) -> u64 {
    match number {
        0..=0xfc => 1,
        0xfd..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// A standard multisig.
fn redeem_script(keys: &[[u8; 33]]) -> Vec<u8> {
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

/// A small number: an instruction of its own up to 15, a byte above. No federation has more than 127 members.
fn push_number(script: &mut Vec<u8>, number: u64) {
    let byte = number as u8;
    match byte {
        0..=15 => script.push(OP_PUSH_0 + byte),
        _ => script.extend([1, byte]),
    }
}

/// What the Bitcoin side sees of a federation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FederationScripts {
    /// How many members have to sign.
    pub required_signatures: u64,
    /// What signatures are checked against.
    pub redeem_script: Vec<u8>,
    /// Pays to the hash of the redeem script.
    pub output_script: Vec<u8>,
    /// In Base58Check.
    pub address: String,
}

/// The scripts of a federation with these Bitcoin keys, in any order (bridge chapter 8.2). Versions other than 1000 and
/// networks without a Bridge are [`ExecError::BridgePart`].
pub fn federation_scripts(
    network: Network,
    version: u32,
    members: &[[u8; 33]],
) -> std::result::Result<FederationScripts, ExecError> {
    let missing = |part| ExecError::BridgePart { part, stage: 7, number: 0, index: 0, hash: B256::ZERO };
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

    #[test]
    fn addresses_are_those_of_the_scripts() {
        for network in [Network::Mainnet, Network::Testnet, Network::Regtest] {
            let keys = genesis_keys(network).unwrap();
            let scripts = federation_scripts(network, STANDARD_VERSION, &keys).unwrap();
            assert_eq!(scripts.address, constants(network).unwrap().federation_address);
        }
    }

    #[test]
    fn emergency_keys_are_not_implemented() {
        let error = federation_scripts(Network::Regtest, 3000, &[[2; 33]]).unwrap_err();
        assert!(matches!(error, ExecError::BridgePart { stage: 7, .. }));
    }
}
