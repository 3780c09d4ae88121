//! One transaction: the checks before it, its execution, and who pays what.

mod checks;
mod execution;
mod settlement;

use crate::hash_maps::HashSet;
use rhizome_primitives::transaction::intrinsic_gas;
use rhizome_primitives::{Address, B256, BRIDGE, Bytes, ChainSpec, Log, Rules, Transaction, U256};

use crate::error::{ExecError, TransactionRefusal, Unexecutable};
use crate::evm::Evm;
use crate::frame::End;
use crate::machine::Origin;
use crate::precompiles::is_free;
use crate::state::AccountId;
use crate::tracing::Tracer;

pub(crate) use execution::Execution;
pub(crate) use settlement::granted_refund;

/// Gas is counted in 63 bits.
pub(crate) const GAS_LIMIT_LIMIT: u64 = i64::MAX as u64;

/// A transaction or a local call, as far as execution is concerned.
pub(crate) struct Message {
    pub(crate) sender: AccountId,
    pub(crate) nonce: U256,
    /// Wei.
    pub(crate) gas_price: U256,
    pub(crate) gas_limit: u64,
    /// None: a creation.
    pub(crate) to: Option<Address>,
    /// Wei.
    pub(crate) value: U256,
    pub(crate) data: Bytes,
    pub(crate) intrinsic_gas: u64,
    pub(crate) hash: B256,
    pub(crate) is_remasc: bool,
    pub(crate) is_local_call: bool,
    /// The transaction, where the Bridge wants to see its signature.
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
            // More than eight bytes count as the largest number even if they are zeros; it is refused.
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

    /// What the sender pays for gas at most. None if that is beyond 256 bits.
    fn gas_cost(&self) -> Option<U256> {
        self.gas_price.checked_mul(U256::from(self.gas_limit))
    }
}

/// What the block or sublist has used and may use.
#[derive(Debug, Clone, Default)]
pub struct SublistState {
    /// Gas used by the transactions before.
    pub gas_used: u64,
    /// Gas limit of the block or sublist.
    pub gas_limit: u64,
    /// Accounts deleted by the transactions before.
    pub deleted: HashSet<Address>,
}

/// When the fee of a transaction reaches REMASC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeePayment {
    /// At the end of the transaction.
    Immediate,
    /// With all fees of the block, before the REMASC transaction (RSKIP-144 with RSKIP-351).
    Postponed,
}

impl FeePayment {
    /// What the rules of a block ask for.
    pub fn under(rules: &Rules) -> FeePayment {
        match rules.has_sublists() {
            true => FeePayment::Postponed,
            false => FeePayment::Immediate,
        }
    }
}

/// Where a transaction stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransactionContext {
    /// Position in the block.
    pub(crate) index: usize,
    /// It is the one that ends the block.
    pub(crate) is_remasc: bool,
    pub(crate) payment: FeePayment,
}

/// A transaction that was executed, successfully or not.
#[derive(Debug, Clone)]
pub struct TransactionOutcome {
    /// The status of the receipt. True for failed direct calls of built-in contracts.
    pub success: bool,
    /// How execution ended.
    pub end: End,
    /// Gas of the receipt, after the refund.
    pub gas_used: u64,
    /// Gas given back for cleared cells and deleted accounts.
    pub refund: u64,
    /// In wei. More than gas used times price where a built-in contract failed.
    pub fee: U256,
    /// Return data, or the reason of a REVERT.
    pub output: Bytes,
    /// Logs of all frames that were not undone.
    pub logs: Vec<Log>,
    /// Address of the contract that a creation makes, also if it failed.
    pub created: Option<Address>,
    /// Accounts deleted by SELFDESTRUCT, without repetitions.
    pub deleted: Vec<Address>,
    /// The Bridge or REMASC was called: not for a parallel sublist.
    pub calls_sequential_contract: bool,
}

impl Evm<'_> {
    /// Executes a transaction of a block. On an error nothing is changed.
    pub(crate) fn transact(
        &mut self,
        transaction: &Transaction,
        sender: Address,
        place: TransactionContext,
        container: &mut SublistState,
        tracer: &mut impl Tracer,
    ) -> Result<TransactionOutcome, ExecError> {
        let message =
            Message::of_transaction(transaction, sender, place.is_remasc, self.machine.spec, &self.machine.rules);
        self.machine.begin(Origin {
            sender: message.sender.address(),
            gas_price: message.gas_price,
            index: place.index,
            hash: message.hash,
            is_local_call: false,
            deleted_before: std::mem::take(&mut container.deleted),
        });
        let start = self.machine.state.checkpoint();
        let result = self.check_and_execute(transaction, &message, container, place.payment, tracer);
        container.deleted = std::mem::take(&mut self.machine.origin.deleted_before);
        match result {
            Ok(outcome) => {
                container.gas_used = container.gas_used.saturating_add(outcome.gas_used);
                container.deleted.extend(outcome.deleted.iter().copied());
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
        container: &SublistState,
        payment: FeePayment,
        tracer: &mut impl Tracer,
    ) -> Result<TransactionOutcome, ExecError> {
        let index = self.machine.origin.index;
        self.check(transaction, message, container)?;
        self.buy_gas(message)?;
        let execution = self.execute(message, tracer)?;
        if execution.end == End::Halt(crate::halt::HaltReason::Silent) {
            return Err(ExecError::Unexecutable { index, reason: Unexecutable::SilentHalt });
        }
        self.settle(message, execution, payment)
    }

    fn refused(&self, reason: TransactionRefusal) -> ExecError {
        ExecError::Refused { index: self.machine.origin.index, reason }
    }
}

/// Gas that a transaction takes before anything runs: nothing if it calls the Bridge and its sender does so for free.
pub fn charged_intrinsic_gas(transaction: &Transaction, sender: &Address, spec: &ChainSpec, rules: &Rules) -> u64 {
    let is_free = transaction.to() == Some(BRIDGE)
        && transaction.accepts_signature(spec.chain_id)
        && is_free(spec, rules, sender);
    if is_free { 0 } else { transaction.intrinsic_gas(rules) }
}

/// Intrinsic gas of a local call.
pub(crate) fn local_intrinsic_gas(to: Option<Address>, data: &[u8], rules: &Rules) -> u64 {
    intrinsic_gas(to.is_none(), data, rules)
}
