//! The storage cells of REMASC. Numbers are words; the flag and the list of siblings, empty since long ago, are bytes.

use super::distribution::{Balances, Distribution};
use crate::state::State;
use rhizome_primitives::{BRIDGE, Bytes, REMASC, U256};
use rhizome_trie::StateError;

const REWARD: U256 = cell(b"rewardBalance");
const BURNED: U256 = cell(b"burnedBalance");
const FEDERATION: U256 = cell(b"federationBalance");
const SIBLINGS: U256 = cell(b"siblings");
const BROKEN_RULE: U256 = cell(b"brokenSelectionRule");
/// A cell of the Bridge, absent as long as the genesis federation is the active one.
const NEW_FEDERATION: U256 = cell(b"newFederation");

/// The right-aligned ASCII name.
const fn cell<const N: usize>(name: &[u8; N]) -> U256 {
    let mut word = [0; 32];
    let (_, tail) = word.split_at_mut(32 - N);
    tail.copy_from_slice(name);
    U256::from_be_bytes(word)
}

pub(super) fn read(state: &mut State) -> Result<Balances, StateError> {
    let mut number = |cell: &U256| state.storage_word(REMASC, cell).map(Option::unwrap_or_default);
    let (reward, burned, federation) = (number(&REWARD)?, number(&BURNED)?, number(&FEDERATION)?);
    let flag = state.storage_bytes(REMASC, &BROKEN_RULE)?.unwrap_or_default();
    Ok(Balances { reward, burned, federation, is_rule_broken: flag.first().is_some_and(|byte| *byte != 0) })
}

/// Writes what the distribution has set.
pub(super) fn write(state: &mut State, distribution: &Distribution) -> Result<(), StateError> {
    let numbers = [(REWARD, distribution.reward), (BURNED, distribution.burned), (FEDERATION, distribution.federation)];
    for (cell, value) in numbers {
        if let Some(value) = value {
            state.set_storage_word(REMASC, cell, value)?;
        }
    }
    if let Some(is_broken) = distribution.is_rule_broken {
        state.set_storage_bytes(REMASC, BROKEN_RULE, Some(Bytes::copy_from_slice(&[u8::from(is_broken)])))?;
    }
    Ok(())
}

pub(super) fn write_siblings(state: &mut State) -> Result<(), StateError> {
    state.set_storage_bytes(REMASC, SIBLINGS, Some(Bytes::from_static(&[0xc0])))
}

/// Whether the Bridge's storage names a federation after the one of the genesis.
pub(super) fn has_later_federation(state: &mut State) -> Result<bool, StateError> {
    Ok(state.storage_bytes(BRIDGE, &NEW_FEDERATION)?.is_some_and(|bytes| !bytes.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::hex;

    #[test]
    fn names() {
        let expected = hex!("7369626c696e6773");
        assert_eq!(SIBLINGS, U256::from_be_slice(&expected));
        assert_eq!(BROKEN_RULE, U256::from_be_slice(b"brokenSelectionRule"));
    }
}
