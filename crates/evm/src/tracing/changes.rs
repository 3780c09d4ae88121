//! Accounts and storage slots that an execution has accessed, with their values before and after it.

use rhizome_primitives::{Address, Bytes, I256, U256};

use crate::error::ExecError;
use crate::state::{State, TouchedSlots};

/// Size of an account or a storage slot without code, in bytes.
const ENTRY_SIZE: usize = 200;

/// An account before and after an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountChange {
    /// Address of the account.
    pub address: Address,
    /// `None` if the account did not exist.
    pub before: Option<AccountView>,
    /// `None` if the account no longer exists.
    pub after: Option<AccountView>,
    /// Storage slots that were read or written, by slot.
    pub slots: Vec<SlotChange>,
}

/// An account without its storage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountView {
    /// Wei. It is negative only in local calls.
    pub balance: I256,
    /// Number of transactions sent, or of contracts created.
    pub nonce: U256,
    /// Code; empty if absent.
    pub code: Bytes,
}

/// A storage slot before and after an execution; zero if absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotChange {
    /// Key of the slot.
    pub slot: U256,
    /// Word before the execution.
    pub before: U256,
    /// Word after the execution.
    pub after: U256,
}

/// Returns the accounts after the execution. [`complete`] adds the values before it. Fails with
/// [`ExecError::StoppedByInspector`] beyond `limit` bytes.
pub(crate) fn view_after(
    state: &mut State,
    touched: TouchedSlots,
    limit: usize,
) -> Result<Vec<AccountChange>, ExecError> {
    let mut size = 0;
    let mut changes = Vec::with_capacity(touched.len());
    for (address, slots) in touched {
        let after = view(state, address)?;
        size += ENTRY_SIZE * (1 + slots.len()) + after.as_ref().map_or(0, |after| 2 * after.code.len());
        if size > limit {
            return Err(ExecError::StoppedByInspector);
        }
        let mut changed_slots = Vec::with_capacity(slots.len());
        for slot in slots {
            changed_slots.push(SlotChange { slot, before: U256::ZERO, after: word(state, address, slot)? });
        }
        changes.push(AccountChange { address, before: None, after, slots: changed_slots });
    }
    Ok(changes)
}

/// Adds the values before the execution, which a state without its changes has.
pub(crate) fn complete(state: &mut State, changes: &mut [AccountChange]) -> Result<(), ExecError> {
    for change in changes {
        change.before = view(state, change.address)?;
        for slot in &mut change.slots {
            slot.before = word(state, change.address, slot.slot)?;
        }
    }
    Ok(())
}

fn view(state: &mut State, address: Address) -> Result<Option<AccountView>, ExecError> {
    let Some(account) = state.account(address)? else { return Ok(None) };
    let code = state.code(address)?.unwrap_or_default();
    Ok(Some(AccountView { balance: account.balance, nonce: account.nonce, code }))
}

fn word(state: &mut State, address: Address, slot: U256) -> Result<U256, ExecError> {
    Ok(state.storage_word(address, &slot)?.unwrap_or_default())
}
