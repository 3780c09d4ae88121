//! One transaction: checks, execution and payment.

mod checks;
mod execution;
mod message;
mod outcome;
mod settlement;

use rhizome_primitives::{Address, Transaction};

use crate::error::{ExecError, Unexecutable};
use crate::evm::Evm;
use crate::frame::End;
use crate::machine::Origin;
use crate::tracing::InterpreterTracer;

pub use message::charged_intrinsic_gas;
pub(crate) use message::{GAS_LIMIT_LIMIT, Message, local_intrinsic_gas};
pub use outcome::{FeePayment, SublistState, TransactionOutcome};
pub(crate) use settlement::granted_refund;

use checks::check;
use settlement::{buy_gas, settle};

/// The position of a transaction in its block, and its fee payment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransactionContext {
    /// Position in the block.
    pub(crate) index: usize,
    /// Whether it is the REMASC transaction, which ends the block.
    pub(crate) is_remasc: bool,
    pub(crate) payment: FeePayment,
}

impl Evm<'_> {
    /// Executes a transaction of a block. An error leaves the state unchanged.
    pub(crate) fn transact(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        context: TransactionContext,
        sublist: &mut SublistState,
        tracer: &mut impl InterpreterTracer,
    ) -> Result<TransactionOutcome, ExecError> {
        let message =
            Message::of_transaction(transaction, sender, context.is_remasc, self.machine.spec, &self.machine.rules);
        self.machine.begin(Origin {
            sender: message.sender.address(),
            gas_price: message.gas_price,
            index: context.index,
            hash: message.hash,
            is_local_call: false,
            deleted_before: std::mem::take(&mut sublist.deleted),
        });
        let start = self.machine.state.checkpoint();
        let result = self.check_and_execute(transaction, &message, sublist, context.payment, tracer);
        sublist.deleted = std::mem::take(&mut self.machine.origin.deleted_before);
        match result {
            Ok(outcome) => {
                sublist.gas_used = sublist.gas_used.saturating_add(outcome.gas_used);
                sublist.deleted.extend(outcome.deleted.iter().copied());
                Ok(outcome)
            }
            Err(error) => {
                self.machine.state.revert(start);
                self.machine.state.clear_transient();
                Err(error)
            }
        }
    }

    fn check_and_execute(
        &mut self,
        transaction: &Transaction,
        message: &Message,
        sublist: &SublistState,
        payment: FeePayment,
        tracer: &mut impl InterpreterTracer,
    ) -> Result<TransactionOutcome, ExecError> {
        let index = self.machine.origin.index;
        check(&mut self.machine, transaction, message, sublist)?;
        buy_gas(&mut self.machine, message)?;
        let execution = self.execute(message, tracer)?;
        if execution.end == End::Halt(crate::halt::HaltReason::Silent) {
            return Err(ExecError::Unexecutable { index, reason: Unexecutable::SilentHalt });
        }
        settle(&mut self.machine, message, execution, payment)
    }
}
