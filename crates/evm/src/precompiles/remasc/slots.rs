//! The storage slots of REMASC. Numbers are words. The flag, and the list of siblings (always empty), are bytes.

use super::distribution::{Balances, Distribution};
use crate::state::State;
use rhizome_primitives::{Bytes, REMASC, U256};
use rhizome_trie::StateError;

const REWARD: U256 = slot(b"rewardBalance");
const BURNED: U256 = slot(b"burnedBalance");
const FEDERATION: U256 = slot(b"federationBalance");
const SIBLINGS: U256 = slot(b"siblings");
const BROKEN_RULE: U256 = slot(b"brokenSelectionRule");

/// Returns the right-aligned ASCII name.
const fn slot<const N: usize>(name: &[u8; N]) -> U256 {
    let mut word = [0; 32];
    let (_, tail) = word.split_at_mut(32 - N);
    tail.copy_from_slice(name);
    U256::from_be_bytes(word)
}

pub(super) fn read(state: &mut State) -> Result<Balances, StateError> {
    let mut number = |slot: &U256| state.storage_word(REMASC, slot).map(Option::unwrap_or_default);
    let (reward, burned, federation) = (number(&REWARD)?, number(&BURNED)?, number(&FEDERATION)?);
    let flag = state.storage_bytes(REMASC, &BROKEN_RULE)?.unwrap_or_default();
    Ok(Balances { reward, burned, federation, is_rule_broken: flag.first().is_some_and(|byte| *byte != 0) })
}

/// Writes the balances that a distribution has set.
pub(super) fn write(state: &mut State, distribution: &Distribution) -> Result<(), StateError> {
    let numbers = [(REWARD, distribution.reward), (BURNED, distribution.burned), (FEDERATION, distribution.federation)];
    for (slot, value) in numbers {
        if let Some(value) = value {
            state.set_storage_word(REMASC, slot, value)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::hex;

    #[test]
    fn slots_are_right_aligned_names() {
        let expected = hex!("7369626c696e6773");
        assert_eq!(SIBLINGS, U256::from_be_slice(&expected));
        assert_eq!(BROKEN_RULE, U256::from_be_slice(b"brokenSelectionRule"));
    }
}
