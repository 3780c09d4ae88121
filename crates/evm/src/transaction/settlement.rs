//! The payments of a transaction: gas is bought before execution, refund and fee are paid after it.

use rhizome_primitives::{I256, REMASC, U256};

use super::execution::Execution;
use super::message::Message;
use super::outcome::{FeePayment, TransactionOutcome};
use crate::error::ExecError;
use crate::frame::End;
use crate::machine::Machine;

/// Refund for each deleted account.
const DELETION_REFUND: u64 = 24_000;

/// Increases the nonce of the sender and charges the gas limit. A failed execution does not undo either.
pub(super) fn buy_gas(machine: &mut Machine<'_>, message: &Message) -> Result<(), ExecError> {
    let state = &mut machine.state;
    state.increase_nonce(message.sender)?;
    // The checks have compared it with the balance.
    let cost = message.gas_cost().unwrap_or_default();
    state.add_balance(message.sender, -I256::from_raw(cost))?;
    Ok(())
}

/// Returns unused gas, pays the fee and deletes the destroyed accounts.
pub(super) fn settle(
    machine: &mut Machine<'_>,
    message: &Message,
    execution: Execution,
    payment: FeePayment,
) -> Result<TransactionOutcome, ExecError> {
    let deleted = machine.take_deletions();
    let refund = granted_refund(&execution, deleted.len());
    let left = i128::from(execution.gas_left) + i128::from(refund);
    let gas_used = u64::try_from(i128::from(message.gas_limit) - left).unwrap_or_default();
    // A failed precompile costs the whole gas limit, although the receipt shows less.
    let paid_gas = if execution.precompile_failed { message.gas_limit } else { gas_used };
    let fee = message.gas_price.wrapping_mul(U256::from(paid_gas));
    let bought = message.gas_cost().unwrap_or_default();

    let state = &mut machine.state;
    // Negative if more was used than bought.
    state.add_balance(message.sender, I256::from_raw(bought.wrapping_sub(fee)))?;
    if payment == FeePayment::Immediate {
        state.add_balance(REMASC, I256::from_raw(fee))?;
    }
    for address in &deleted {
        state.delete(*address)?;
    }
    state.clear_transient();
    let is_failure = execution.end != End::Success && !execution.precompile_failed;
    Ok(TransactionOutcome {
        success: !is_failure,
        end: execution.end,
        gas_used,
        refund,
        fee,
        output: execution.output,
        logs: std::mem::take(&mut machine.logs),
        payments: execution.payments,
        created: execution.created,
        deleted,
        calls_sequential_contract: machine.calls_sequential_contract,
    })
}

/// Returns the refund: at most half of the spent gas, and zero after a failure.
pub(crate) fn granted_refund(execution: &Execution, deleted: usize) -> u64 {
    if execution.end != End::Success {
        return 0;
    }
    let requested = execution.refund.saturating_add(DELETION_REFUND.saturating_mul(deleted as u64));
    requested.min(execution.gas_spent / 2)
}
