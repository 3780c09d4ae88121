//! The checks before execution, in the order of the reference. The first failure rejects the transaction.

use rhizome_primitives::{I256, Transaction, U256};

use super::message::{GAS_LIMIT_LIMIT, Message};
use super::outcome::SublistState;
use crate::error::{ExecError, TransactionRefusal};
use crate::instructions::INIT_CODE_SIZE_LIMIT;
use crate::machine::Machine;

/// Checks a transaction against the state and the rest of its block or sublist.
pub(super) fn check(
    machine: &mut Machine<'_>,
    transaction: &Transaction,
    message: &Message,
    sublist: &SublistState,
) -> Result<(), ExecError> {
    let is_acceptable = message.is_remasc || transaction.accepts_signature(machine.spec.chain_id);
    let length = message.data.len();
    if message.to.is_none() && machine.active_rules.has_init_code_rules && length > INIT_CODE_SIZE_LIMIT {
        return Err(refused(machine, TransactionRefusal::InitCodeSize { length }));
    }
    let gas_limit = message.gas_limit;
    let cumulative = gas_limit.saturating_add(sublist.gas_used).min(GAS_LIMIT_LIMIT);
    if cumulative > sublist.gas_limit || cumulative == GAS_LIMIT_LIMIT {
        let (used, limit) = (sublist.gas_used, sublist.gas_limit);
        return Err(refused(machine, TransactionRefusal::BlockGas { gas_limit, used, limit }));
    }
    let intrinsic = message.intrinsic_gas;
    if gas_limit < intrinsic {
        return Err(refused(machine, TransactionRefusal::IntrinsicGas { gas_limit, intrinsic }));
    }
    let expected = machine.state.nonce(message.sender)?;
    if message.nonce != expected {
        return Err(refused(machine, TransactionRefusal::Nonce { nonce: message.nonce, expected }));
    }
    let balance = machine.state.balance(message.sender)?;
    if !is_covered(message, balance) {
        return Err(refused(machine, TransactionRefusal::Balance));
    }
    if !is_acceptable {
        return Err(refused(machine, TransactionRefusal::Signature));
    }
    Ok(())
}

fn refused(machine: &Machine<'_>, reason: TransactionRefusal) -> ExecError {
    ExecError::Refused { index: machine.origin.index, reason }
}

/// Whether the balance covers value and gas, or the value alone if the transaction is free.
fn is_covered(message: &Message, balance: I256) -> bool {
    let gas_cost = if message.is_free() { Some(U256::ZERO) } else { message.gas_cost() };
    let total = gas_cost.and_then(|cost| cost.checked_add(message.value));
    !balance.is_negative() && total.is_some_and(|total| balance.into_raw() >= total)
}
