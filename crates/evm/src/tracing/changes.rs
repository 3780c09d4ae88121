//! What an execution touched in the state, with the values before and after.

use rhizome_primitives::{Address, Bytes, I256, U256};

use crate::error::ExecError;
use crate::state::{State, TouchedSlots};

/// Bytes that an account or a cell counts beside its code.
const ENTRY_SIZE: usize = 200;

/// An account before and after an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountChange {
    /// Whose.
    pub address: Address,
    /// None if it did not exist.
    pub before: Option<AccountView>,
    /// None if it does not exist any more.
    pub after: Option<AccountView>,
    /// Cells that were read or written, by slot.
    pub slots: Vec<SlotChange>,
}

/// An account without its storage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountView {
    /// Wei. Negative only in local calls.
    pub balance: I256,
    /// Number of transactions sent, or of contracts made.
    pub nonce: U256,
    /// Empty if there is none.
    pub code: Bytes,
}

/// A storage cell before and after an execution, zero where it is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotChange {
    /// Which cell.
    pub slot: U256,
    /// As a word.
    pub before: U256,
    /// As a word.
    pub after: U256,
}

/// The accounts as they are now, to be completed by [`complete`]. Ends with [`ExecError::StoppedByInspector`] beyond `limit` bytes.
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

/// Adds what was before. The state must have been taken back.
pub(crate) fn complete(state: &mut State, changes: &mut [AccountChange]) -> Result<(), ExecError> {
    for change in changes {
        change.before = view(state, change.address)?;
        for cell in &mut change.slots {
            cell.before = word(state, change.address, cell.slot)?;
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
