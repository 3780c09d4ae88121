//! Set-up of precompile accounts when the rule of the precompile activates (docs/spec/state.md, 5.3).

use rhizome_primitives::{Address, Bytes, ChainSpec, Rule, address};

use crate::account::AccountState;
use crate::keys::{MARK, account_key, mark_key_of};
use crate::state::{StateDelta, StateError, StateReader};

/// Treatment of an account that exists before the set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUpMode {
    /// Keeps it; only an absent account is created.
    Keep,
    /// Replaces it by an empty account: nonce and balance are lost, code and storage stay.
    Overwrite,
}

/// Accounts that the first block under a rule sets up before its first transaction.
const SET_UPS: &[(Rule, SetUpMode, &[Address])] = &[
    (
        Rule::Rskip126,
        SetUpMode::Keep,
        &[
            address!("0000000000000000000000000000000000000001"),
            address!("0000000000000000000000000000000000000002"),
            address!("0000000000000000000000000000000000000003"),
            address!("0000000000000000000000000000000000000004"),
            address!("0000000000000000000000000000000000000005"),
            address!("0000000000000000000000000000000001000006"),
            address!("0000000000000000000000000000000001000008"),
        ],
    ),
    (Rule::Rskip106, SetUpMode::Overwrite, &[address!("0000000000000000000000000000000001000009")]),
    (Rule::Rskip119, SetUpMode::Overwrite, &[address!("0000000000000000000000000000000001000010")]),
    (
        Rule::Rskip137,
        SetUpMode::Overwrite,
        &[
            address!("0000000000000000000000000000000000000006"),
            address!("0000000000000000000000000000000000000007"),
            address!("0000000000000000000000000000000000000008"),
        ],
    ),
    (Rule::Rskip153, SetUpMode::Overwrite, &[address!("0000000000000000000000000000000000000009")]),
    (Rule::Rskip203, SetUpMode::Overwrite, &[address!("0000000000000000000000000000000001000011")]),
    (
        Rule::Rskip516,
        SetUpMode::Overwrite,
        &[address!("0000000000000000000000000000000001000016"), address!("0000000000000000000000000000000001000017")],
    ),
];

/// Returns the accounts that block `number` sets up before its first transaction; empty for nearly all blocks.
///
/// Block 0 sets up accounts only if RSKIP-126 activates there.
pub fn set_ups(spec: &ChainSpec, number: u64) -> Vec<(Address, SetUpMode)> {
    if number == 0 && !spec.activates_at(Rule::Rskip126, 0) {
        return Vec::new();
    }
    SET_UPS
        .iter()
        .filter(|(rule, ..)| spec.activates_at(*rule, number))
        .flat_map(|(_, mode, addresses)| addresses.iter().map(|address| (*address, *mode)))
        .collect()
}

/// Returns true if a block up to `number` has set up the account. It is a contract then, whatever its balance.
pub fn is_set_up(spec: &ChainSpec, number: u64, address: &Address) -> bool {
    SET_UPS.iter().any(|(rule, _, addresses)| spec.is_active(*rule, number) && addresses.contains(address))
}

/// Returns the writes of [`set_ups`] on a state.
pub fn activation_delta(
    spec: &ChainSpec,
    number: u64,
    state: &(impl StateReader + ?Sized),
) -> Result<StateDelta, StateError> {
    let mut delta = StateDelta::default();
    for (address, mode) in set_ups(spec, number) {
        let key = account_key(address.as_slice());
        delta.writes.insert(mark_key_of(&key), Some(Bytes::from_static(MARK)));
        if mode == SetUpMode::Overwrite || state.get(&key)?.is_none() {
            delta.writes.insert(key, Some(AccountState::default().encode()));
        }
    }
    Ok(delta)
}
