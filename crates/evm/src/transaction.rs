//! One transaction: checks, execution and payment.

mod checks;
mod execution;
mod settlement;

use crate::hash_maps::HashSet;
use rhizome_primitives::transaction::intrinsic_gas;
use rhizome_primitives::{Address, B256, BRIDGE, Bytes, ChainSpec, Log, Rules, Transaction, U256};

use crate::error::{ExecError, Unexecutable};
use crate::evm::Evm;
use crate::frame::End;
use crate::machine::Origin;
use crate::precompiles::is_free;
use crate::state::AccountId;
use crate::tracing::Tracer;

pub(crate) use execution::Execution;
pub(crate) use settlement::granted_refund;

use checks::check;
use settlement::{buy_gas, settle};

/// The largest gas limit: the reference counts gas in signed 64-bit numbers.
pub(crate) const GAS_LIMIT_LIMIT: u64 = i64::MAX as u64;

/// A transaction or a local call, reduced to what execution needs.
pub(crate) struct Message {
    pub(crate) sender: AccountId,
    pub(crate) nonce: U256,
    /// Wei.
    pub(crate) gas_price: U256,
    pub(crate) gas_limit: u64,
    /// `None`: a creation.
    pub(crate) to: Option<Address>,
    /// Wei.
    pub(crate) value: U256,
    pub(crate) data: Bytes,
    pub(crate) intrinsic_gas: u64,
    pub(crate) hash: B256,
    pub(crate) is_remasc: bool,
    pub(crate) is_local_call: bool,
    /// The transaction if it calls the Bridge, which reads its signature.
    pub(crate) signed: Option<Transaction>,
}

impl Message {
    fn of_transaction(
        transaction: &Transaction,
        sender: Address,
        is_remasc: bool,
        spec: &ChainSpec,
        rules: &Rules,
    ) -> Message {
        Message {
            sender: if is_remasc { AccountId::RemascSender } else { sender.into() },
            nonce: transaction.nonce(),
            gas_price: transaction.gas_price(),
            // More than eight bytes, leading zeros included, count as the largest gas limit, which is rejected.
            gas_limit: match transaction.gas_limit_bytes().len() {
                0..=8 => transaction.gas_limit().saturating_to::<u64>().min(GAS_LIMIT_LIMIT),
                _ => GAS_LIMIT_LIMIT,
            },
            to: transaction.to(),
            value: transaction.value(),
            data: transaction.data().clone(),
            intrinsic_gas: if is_remasc { 0 } else { charged_intrinsic_gas(transaction, &sender, spec, rules) },
            hash: transaction.hash(),
            is_remasc,
            is_local_call: false,
            signed: (transaction.to() == Some(BRIDGE)).then(|| transaction.clone()),
        }
    }

    /// Returns the largest payment for gas; `None` if it exceeds 256 bits.
    fn gas_cost(&self) -> Option<U256> {
        self.gas_price.checked_mul(U256::from(self.gas_limit))
    }
}

/// Gas and deleted accounts of a block, or of one of its sublists, up to the current transaction.
#[derive(Debug, Clone, Default)]
pub struct SublistState {
    /// Gas used by earlier transactions.
    pub gas_used: u64,
    /// Gas limit of the block or sublist.
    pub gas_limit: u64,
    /// Accounts deleted by earlier transactions.
    pub deleted: HashSet<Address>,
}

/// When the fee of a transaction reaches REMASC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeePayment {
    /// At the end of the transaction.
    Immediate,
    /// With all fees of the block, just before the REMASC transaction (RSKIP-144 with RSKIP-351).
    Postponed,
}

impl FeePayment {
    /// Returns the payment that the rules of a block require.
    pub fn under(rules: &Rules) -> FeePayment {
        match rules.has_sublists() {
            true => FeePayment::Postponed,
            false => FeePayment::Immediate,
        }
    }
}

/// The position of a transaction in its block, and its fee payment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransactionContext {
    /// Position in the block.
    pub(crate) index: usize,
    /// Whether it is the REMASC transaction, which ends the block.
    pub(crate) is_remasc: bool,
    pub(crate) payment: FeePayment,
}

/// The result of an executed transaction.
#[derive(Debug, Clone)]
pub struct TransactionOutcome {
    /// Status of the receipt. True for failed direct calls of precompiles.
    pub success: bool,
    /// How execution ended.
    pub end: End,
    /// Gas of the receipt, after the refund.
    pub gas_used: u64,
    /// Gas refunded for cleared slots and deleted accounts.
    pub refund: u64,
    /// Wei. More than gas used times price if a precompile failed.
    pub fee: U256,
    /// Return data, or revert data.
    pub output: Bytes,
    /// Logs of all frames that were not reverted.
    pub logs: Vec<Log>,
    /// Address of the created contract, also if the creation failed.
    pub created: Option<Address>,
    /// Accounts deleted by SELFDESTRUCT, each once.
    pub deleted: Vec<Address>,
    /// Whether the Bridge or REMASC was called, which excludes the transaction from parallel sublists.
    pub calls_sequential_contract: bool,
}

impl Evm<'_> {
    /// Executes a transaction of a block. An error leaves the state unchanged.
    pub(crate) fn transact(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        context: TransactionContext,
        sublist: &mut SublistState,
        tracer: &mut impl Tracer,
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
        tracer: &mut impl Tracer,
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

/// Returns the intrinsic gas that a transaction pays: zero for a call of the Bridge by a sender that the Bridge exempts.
pub fn charged_intrinsic_gas(transaction: &Transaction, sender: &Address, spec: &ChainSpec, rules: &Rules) -> u64 {
    let is_free = transaction.to() == Some(BRIDGE)
        && transaction.accepts_signature(spec.chain_id)
        && is_free(spec, rules, sender);
    if is_free { 0 } else { transaction.intrinsic_gas(rules) }
}

/// Returns the intrinsic gas of a local call.
pub(crate) fn local_intrinsic_gas(to: Option<Address>, data: &[u8], rules: &Rules) -> u64 {
    intrinsic_gas(to.is_none(), data, rules)
}
