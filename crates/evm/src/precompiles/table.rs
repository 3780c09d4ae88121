//! The table of precompiles: address, activation and input limit.

use super::bn128::{Bn128Add, Bn128Mul, Bn128Pairing};
use super::interface::Precompile;
use super::secp256k1::{Secp256k1Add, Secp256k1Mul};
use super::{
    blake2f, block_header, bridge, ecrecover, environment, hd_wallet, identity, modexp, remasc, ripemd160, sha256,
};
use rhizome_primitives::{Address, Rule, Rules, address};

/// A row of the table.
pub struct PrecompileEntry {
    /// Address of the precompile.
    pub address: Address,
    /// Rule that activates the precompile; `None` if it is always active.
    pub since: Option<Rule>,
    /// Largest input of a call by a contract from RSKIP-516 on, in bytes. Longer input is truncated.
    pub input_limit: Option<usize>,
    /// Implementation.
    pub precompile: &'static dyn Precompile,
}

const fn row(
    address: Address,
    since: Option<Rule>,
    input_limit: Option<usize>,
    precompile: &'static dyn Precompile,
) -> PrecompileEntry {
    PrecompileEntry { address, since, input_limit, precompile }
}

/// All precompiles, in the order of their addresses.
pub static TABLE: &[PrecompileEntry] = &[
    row(address!("0000000000000000000000000000000000000001"), None, Some(128), &ecrecover::EcRecover),
    row(address!("0000000000000000000000000000000000000002"), None, None, &sha256::Sha256),
    row(address!("0000000000000000000000000000000000000003"), None, None, &ripemd160::Ripemd160),
    row(address!("0000000000000000000000000000000000000004"), None, None, &identity::Identity),
    row(address!("0000000000000000000000000000000000000005"), None, None, &modexp::ModExp),
    row(address!("0000000000000000000000000000000000000006"), Some(Rule::Rskip137), Some(128), &Bn128Add),
    row(address!("0000000000000000000000000000000000000007"), Some(Rule::Rskip137), Some(96), &Bn128Mul),
    row(address!("0000000000000000000000000000000000000008"), Some(Rule::Rskip137), None, &Bn128Pairing),
    row(address!("0000000000000000000000000000000000000009"), Some(Rule::Rskip153), Some(213), &blake2f::Blake2f),
    row(address!("0000000000000000000000000000000001000006"), None, None, &bridge::Bridge),
    row(address!("0000000000000000000000000000000001000008"), None, None, &remasc::RemascPrecompile),
    row(address!("0000000000000000000000000000000001000009"), Some(Rule::Rskip106), None, &hd_wallet::HdWallet),
    row(address!("0000000000000000000000000000000001000010"), Some(Rule::Rskip119), None, &block_header::BlockHeader),
    row(address!("0000000000000000000000000000000001000011"), Some(Rule::Rskip203), None, &environment::Environment),
    row(address!("0000000000000000000000000000000001000016"), Some(Rule::Rskip516), Some(128), &Secp256k1Add),
    row(address!("0000000000000000000000000000000001000017"), Some(Rule::Rskip516), Some(96), &Secp256k1Mul),
];

/// Returns the precompile at an address if it is active under `rules`.
pub fn precompile_at(address: &Address, rules: &Rules) -> Option<&'static PrecompileEntry> {
    // Fast path: nearly all addresses are no precompiles.
    let [prefix @ .., _, _, _, _] = &address.0.0;
    if prefix != &[0; 16] {
        return None;
    }
    let entry = TABLE.iter().find(|entry| entry.address == *address)?;
    entry.since.is_none_or(|rule| rules.is_active(rule)).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{BRIDGE, REMASC};

    #[test]
    fn finds_active_precompiles() {
        for entry in TABLE {
            assert!(precompile_at(&entry.address, &Rules::all()).is_some());
            assert_eq!(precompile_at(&entry.address, &Rules::none()).is_some(), entry.since.is_none());
        }
        assert!(TABLE.is_sorted_by_key(|entry| entry.address));
        for address in [BRIDGE, REMASC] {
            assert!(precompile_at(&address, &Rules::none()).is_some());
        }
    }

    #[test]
    fn finds_no_precompile_at_other_addresses() {
        for address in [
            Address::ZERO,
            address!("000000000000000000000000000000000000000a"),
            address!("0000000000000000000000000000000001000007"),
            address!("1000000000000000000000000000000000000001"),
        ] {
            assert!(precompile_at(&address, &Rules::all()).is_none());
        }
    }
}
