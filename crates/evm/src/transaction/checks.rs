//! The checks before execution, in the order of the reference. The first one that fails refuses the transaction.

use rhizome_primitives::{I256, Transaction, U256};

use super::{GAS_LIMIT_LIMIT, Message, SublistState};
use crate::error::{ExecError, TransactionRefusal};
use crate::evm::Evm;
use crate::instructions::INIT_CODE_SIZE_LIMIT;

impl Evm<'_> {
    pub(super) fn check(
        &mut self,
        transaction: &Transaction,
        message: &Message,
        container: &SublistState,
    ) -> Result<(), ExecError> {
        let is_acceptable = message.is_remasc || transaction.accepts_signature(self.machine.spec.chain_id);
        let length = message.data.len();
        if message.to.is_none() && self.machine.active_rules.has_init_code_rules && length > INIT_CODE_SIZE_LIMIT {
            return Err(self.refused(TransactionRefusal::InitCodeSize { length }));
        }
        let gas_limit = message.gas_limit;
        let cumulative = gas_limit.saturating_add(container.gas_used).min(GAS_LIMIT_LIMIT);
        if cumulative > container.gas_limit || cumulative == GAS_LIMIT_LIMIT {
            let (used, limit) = (container.gas_used, container.gas_limit);
            return Err(self.refused(TransactionRefusal::BlockGas { gas_limit, used, limit }));
        }
        let intrinsic = message.intrinsic_gas;
        if gas_limit < intrinsic {
            return Err(self.refused(TransactionRefusal::IntrinsicGas { gas_limit, intrinsic }));
        }
        let expected = self.machine.state.nonce(message.sender)?;
        if message.nonce != expected {
            return Err(self.refused(TransactionRefusal::Nonce { nonce: message.nonce, expected }));
        }
        let balance = self.machine.state.balance(message.sender)?;
        if !is_covered(message, balance) {
            return Err(self.refused(TransactionRefusal::Balance));
        }
        if !is_acceptable {
            return Err(self.refused(TransactionRefusal::Signature));
        }
        Ok(())
    }
}

/// True if the balance pays for value and gas, or for the value alone if the transaction is free.
fn is_covered(message: &Message, balance: I256) -> bool {
    let gas_cost = if message.intrinsic_gas > 0 { message.gas_cost() } else { Some(U256::ZERO) };
    let total = gas_cost.and_then(|cost| cost.checked_add(message.value));
    !balance.is_negative() && total.is_some_and(|total| balance.into_raw() >= total)
}
