//! The execution of a message, between the purchase of gas and the settlement: creation, call of a precompile, or call
//! of an account.

use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{Address, Bytes, I256, Rule};

use super::message::{GAS_LIMIT_LIMIT, Message};
use crate::code::ExecutableCode;
use crate::error::{ExecError, Unexecutable};
use crate::evm::Evm;
use crate::frame::{End, FinishedFrame, TopFrame, code_refusals};
use crate::halt::HaltReason;
use crate::instructions::deposit_cost;
use crate::precompiles::{Payment, PrecompileContext, PrecompileEntry, PrecompileFailure, PrecompileOutput};
use crate::state::Checkpoint;
use crate::tracing::InterpreterTracer;

/// The result of a message before refund and fee.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) end: End,
    pub(crate) output: Bytes,
    /// Negative if a precompile cost more than the gas limit (before RSKIP-136).
    pub(crate) gas_left: i64,
    /// Gas that limits the refund.
    pub(crate) gas_spent: u64,
    /// Refunds for cleared slots.
    pub(crate) refund: u64,
    pub(crate) peak_gas: u64,
    pub(crate) moved_all_gas: bool,
    pub(crate) moved_value: bool,
    pub(crate) created: Option<Address>,
    /// The precompile called by the message failed: the sender pays the whole gas limit, although the receipt shows less.
    pub(crate) precompile_failed: bool,
    /// Payments of the precompile called by the message.
    pub(crate) payments: Vec<Payment>,
}

impl Execution {
    /// Returns a success without executed code.
    fn plain(message: &Message, peak_gas: u64) -> Execution {
        Execution {
            end: End::Success,
            output: Bytes::new(),
            gas_left: message.gas_limit as i64 - message.intrinsic_gas as i64,
            gas_spent: peak_gas,
            refund: 0,
            peak_gas,
            moved_all_gas: false,
            moved_value: false,
            created: None,
            precompile_failed: false,
            payments: Vec::new(),
        }
    }

    fn of_frame(message: &Message, finished: FinishedFrame) -> Execution {
        Execution {
            end: finished.end,
            output: finished.output,
            gas_left: finished.gas_left as i64,
            gas_spent: message.gas_limit - finished.gas_left,
            refund: finished.refund.max(0) as u64,
            peak_gas: finished.peak_gas,
            moved_all_gas: finished.moved_all_gas,
            moved_value: finished.moved_value,
            ..Execution::plain(message, 0)
        }
    }

    /// Returns the halt of a local call whose gas does not pay for its first instruction.
    fn without_beginning(message: &Message) -> Execution {
        Execution { end: End::Halt(HaltReason::OutOfGas), gas_left: 0, ..Execution::plain(message, 0) }
    }
}

impl Evm<'_> {
    /// Executes a message. The changes of a failed message are reverted, except changes that the reference preserves.
    pub(crate) fn execute(
        &mut self,
        message: &Message,
        tracer: &mut impl InterpreterTracer,
    ) -> Result<Execution, ExecError> {
        let checkpoint = self.machine.state.checkpoint();
        match message.to {
            None => self.create(message, checkpoint, tracer),
            Some(to) => match self.machine.precompile_at(&to) {
                Some(entry) => self.call_precompile(message, entry),
                None => self.call(message, to, checkpoint, tracer),
            },
        }
    }

    fn create(
        &mut self,
        message: &Message,
        checkpoint: Checkpoint,
        tracer: &mut impl InterpreterTracer,
    ) -> Result<Execution, ExecError> {
        let address = created_address(&message.sender.address(), &message.nonce);
        let state = &mut self.machine.state;
        if self.machine.rules.is_active(Rule::Rskip174) && state.exists(address)? {
            state.create_account_with_balance(address)?;
        } else {
            state.create_account(address)?;
        }
        if message.data.is_empty() {
            self.require_intrinsic_gas(message)?;
            self.machine.state.transfer(message.sender, address, amount(message))?;
            return Ok(Execution { created: Some(address), ..Execution::plain(message, 0) });
        }
        state.setup_contract(address)?;
        state.transfer(message.sender, address, amount(message))?;
        let code = ExecutableCode::analyse(message.data.clone(), self.machine.active_rules.has_old_opcodes);
        let finished = self.run_top(message, code, address, Bytes::new(), checkpoint, tracer)?;
        let mut execution = match finished {
            Some(finished) => Execution::of_frame(message, finished),
            None => Execution::without_beginning(message),
        };
        if execution.end == End::Success {
            self.store_code(address, &mut execution, checkpoint)?;
        }
        Ok(Execution { created: Some(address), ..execution })
    }

    /// Stores the code of a new contract. A creation by a transaction fails as a whole if its code cannot be stored,
    /// under every set of rules.
    fn store_code(
        &mut self,
        address: Address,
        execution: &mut Execution,
        checkpoint: Checkpoint,
    ) -> Result<(), ExecError> {
        let code = &execution.output;
        match code_refusals(code, execution.gas_left as u64, &self.machine.active_rules).next() {
            None => {
                let cost = deposit_cost(code.len());
                execution.gas_left -= cost as i64;
                execution.gas_spent += cost;
                execution.peak_gas = execution.peak_gas.max(execution.gas_spent);
                self.machine.state.save_code(address, code.clone())?;
            }
            Some(reason) => {
                self.machine.state.revert(checkpoint);
                self.machine.logs.clear();
                self.machine.deletions.clear();
                execution.end = End::Halt(reason);
                execution.output = Bytes::new();
                execution.gas_left = 0;
                execution.refund = 0;
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        message: &Message,
        to: Address,
        checkpoint: Checkpoint,
        tracer: &mut impl InterpreterTracer,
    ) -> Result<Execution, ExecError> {
        let account = self.machine.state.locate(to.into());
        let code = self.machine.state.executable_code(account, self.machine.active_rules.has_old_opcodes)?;
        let Some(code) = code else {
            self.require_intrinsic_gas(message)?;
            self.machine.state.transfer(message.sender, to, amount(message))?;
            return Ok(Execution::plain(message, message.intrinsic_gas));
        };
        self.machine.state.transfer(message.sender, to, amount(message))?;
        let finished = self.run_top(message, code, to, message.data.clone(), checkpoint, tracer)?;
        Ok(match finished {
            Some(finished) => Execution::of_frame(message, finished),
            None => Execution::without_beginning(message),
        })
    }

    /// Runs the first frame; `None` if the gas of a local call is below its intrinsic gas.
    fn run_top(
        &mut self,
        message: &Message,
        code: ExecutableCode,
        address: Address,
        input: Bytes,
        checkpoint: Checkpoint,
        tracer: &mut impl InterpreterTracer,
    ) -> Result<Option<FinishedFrame>, ExecError> {
        if message.gas_limit < message.intrinsic_gas {
            self.machine.state.revert(checkpoint);
            return Ok(None);
        }
        let top = TopFrame {
            code,
            address,
            account: self.machine.state.locate(address.into()),
            caller: message.sender.address(),
            value: message.value,
            input,
            gas: message.gas_limit,
            intrinsic_gas: message.intrinsic_gas,
            checkpoint,
        };
        self.run(top, tracer).map(Some)
    }

    /// Fails if the gas of a local call that runs no code is below its intrinsic gas.
    fn require_intrinsic_gas(&self, message: &Message) -> Result<(), ExecError> {
        if message.gas_limit < message.intrinsic_gas {
            return Err(self.unexecutable(Unexecutable::LocalGas));
        }
        Ok(())
    }

    fn unexecutable(&self, reason: Unexecutable) -> ExecError {
        ExecError::Unexecutable { index: self.machine.origin.index, reason }
    }

    fn call_precompile(&mut self, message: &Message, entry: &PrecompileEntry) -> Result<Execution, ExecError> {
        let machine = &mut self.machine;
        machine.note_precompile_call(&entry.address);
        let counts_intrinsic_gas = machine.rules.is_active(Rule::Rskip136);
        let public_key = || message.signed.as_ref()?.recover_public_key().ok();
        let mut context = PrecompileContext {
            is_remasc_transaction: message.is_remasc,
            is_direct: true,
            is_local_call: message.is_local_call,
            caller: message.sender.address(),
            value: message.value,
            transaction_index: machine.origin.index,
            transaction_hash: message.hash,
            origin_transaction_hash: message.hash,
            public_key: &public_key,
            ..PrecompileContext::new(
                machine.spec,
                machine.rules,
                &machine.env,
                machine.ancestry,
                &mut machine.state,
                &mut machine.logs,
                &machine.deadline,
            )
        };
        let price = if message.is_free() { Ok(0) } else { entry.precompile.required_gas(&message.data, &mut context) };
        let required = match price {
            Ok(required) => required,
            Err(PrecompileFailure::Fatal(error)) => return Err(error),
            Err(_) => return Err(self.unexecutable(Unexecutable::SilentHalt)),
        };
        let spent = required.saturating_add(message.intrinsic_gas).min(GAS_LIMIT_LIMIT);
        let due = if counts_intrinsic_gas { spent } else { required };
        if message.gas_limit < due {
            if message.is_local_call && counts_intrinsic_gas {
                return Err(self.unexecutable(Unexecutable::LocalGas));
            }
            if !message.is_local_call {
                let end = End::Halt(HaltReason::PrecompileUnpaid);
                return Ok(Execution { end, gas_left: 0, ..Execution::plain(message, 0) });
            }
        }
        let result = entry.precompile.run(&message.data, &mut context);
        let mut execution =
            Execution { gas_left: message.gas_limit as i64 - spent as i64, ..Execution::plain(message, spent) };
        match result {
            Ok(PrecompileOutput::Output(output)) => execution.output = output,
            Ok(PrecompileOutput::NoValue) => {}
            Err(PrecompileFailure::Fatal(error)) => return Err(error),
            Err(PrecompileFailure::BlakeWithoutData) => return Err(self.unexecutable(Unexecutable::BlakeWithoutData)),
            Err(PrecompileFailure::Failed) => {
                execution.end = End::Halt(HaltReason::PrecompileFailed);
                execution.precompile_failed = true;
                return Ok(execution);
            }
        }
        execution.payments = context.payments;
        let state = &mut self.machine.state;
        if !state.exists(entry.address)? {
            state.create_account(entry.address)?;
            state.setup_contract(entry.address)?;
        } else if !state.is_contract(entry.address)? {
            state.setup_contract(entry.address)?;
        }
        state.transfer(message.sender, entry.address, amount(message))?;
        Ok(execution)
    }
}

/// Returns the value as a signed amount. It is below 2^255, like the balance that covers it.
fn amount(message: &Message) -> I256 {
    I256::from_raw(message.value)
}
