//! Who pays what: gas is bought before execution, and the rest is settled after it.

use crate::hash_maps::HashSet;
use rhizome_primitives::{Address, I256, REMASC, U256};

use super::{Execution, FeePayment, Message, TransactionOutcome};
use crate::error::ExecError;
use crate::evm::Evm;
use crate::frame::End;

/// For every account that is deleted.
const DELETION_REFUND: u64 = 24_000;

impl Evm<'_> {
    /// Nonce and gas of the sender, which stay whatever happens.
    pub(super) fn buy_gas(&mut self, message: &Message) -> Result<(), ExecError> {
        let state = &mut self.machine.state;
        state.increase_nonce(message.sender)?;
        // The checks made sure that there is as much.
        let cost = message.gas_cost().unwrap_or_default();
        state.add_balance(message.sender, -I256::from_raw(cost))?;
        Ok(())
    }

    pub(super) fn settle(
        &mut self,
        message: &Message,
        execution: Execution,
        payment: FeePayment,
    ) -> Result<TransactionOutcome, ExecError> {
        let deleted = self.deleted_accounts();
        let refund = granted_refund(&execution, deleted.len());
        let left = i128::from(execution.gas_left) + i128::from(refund);
        let gas_used = u64::try_from(i128::from(message.gas_limit) - left).unwrap_or_default();
        // A built-in contract that fails takes everything, although the receipt does not show it.
        let paid_gas = if execution.contract_failed { message.gas_limit } else { gas_used };
        let fee = message.gas_price.wrapping_mul(U256::from(paid_gas));
        let bought = message.gas_cost().unwrap_or_default();

        let state = &mut self.machine.state;
        // Negative if more was used than bought.
        state.add_balance(message.sender, I256::from_raw(bought.wrapping_sub(fee)))?;
        if payment == FeePayment::Immediate {
            state.add_balance(REMASC, I256::from_raw(fee))?;
        }
        for address in &deleted {
            state.delete(*address)?;
        }
        state.clear_transient();
        let is_failure = execution.end != End::Success && !execution.contract_failed;
        Ok(TransactionOutcome {
            success: !is_failure,
            end: execution.end,
            gas_used,
            refund,
            fee,
            output: execution.output,
            logs: std::mem::take(&mut self.machine.logs),
            created: execution.created,
            deleted,
            calls_sequential_contract: self.machine.calls_sequential_contract,
        })
    }

    /// The accounts to delete, each once, in the order of their first deletion.
    pub(crate) fn deleted_accounts(&mut self) -> Vec<Address> {
        let mut seen = HashSet::<Address>::default();
        let deletions = std::mem::take(&mut self.machine.deletions);
        deletions.into_iter().filter(|address| seen.insert(*address)).collect()
    }
}

/// The refund, which is at most half of what was spent; failures get none.
pub(crate) fn granted_refund(execution: &Execution, deleted: usize) -> u64 {
    if execution.end != End::Success {
        return 0;
    }
    let asked = execution.refund.saturating_add(DELETION_REFUND.saturating_mul(deleted as u64));
    asked.min(execution.gas_spent / 2)
}
