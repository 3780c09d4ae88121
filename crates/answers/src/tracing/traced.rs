//! The inputs and the outcome of a traced transaction or call.

use rhizome_evm::precompiles::Payment;
use rhizome_evm::{CallOutcome, CallRequest, End, TransactionOutcome};
use rhizome_primitives::{Address, B256, Bytes, Log, REMASC, Transaction, U256, rlp};

/// A transaction or a call with its outcome.
#[derive(Debug, Clone)]
pub struct Traced {
    /// Zero for REMASC.
    pub sender: Address,
    /// None: a creation.
    pub to: Option<Address>,
    /// Wei.
    pub value: U256,
    /// Gas limit.
    pub gas: u64,
    /// Call data or init code.
    pub input: Bytes,
    /// Zero for a call.
    pub hash: B256,
    /// It ends a block.
    pub is_remasc: bool,
    /// Its block is not mined yet.
    pub is_pending: bool,
    /// How it ended.
    pub end: End,
    /// Return data, reason of a REVERT, or the code of the new contract.
    pub output: Bytes,
    /// That of the receipt.
    pub gas_used: u64,
    /// Address of the contract that a creation makes, also if it failed.
    pub created: Option<Address>,
    /// Those of the receipt.
    pub logs: Vec<Log>,
    /// Payments of the Bridge.
    pub bridge_payments: Vec<Payment>,
}

impl Traced {
    /// A transaction of a block.
    pub fn of_transaction(transaction: &Transaction, sender: Address, outcome: TransactionOutcome) -> Self {
        Self {
            sender,
            to: transaction.to(),
            value: transaction.value(),
            gas: transaction.gas_limit().saturating_to(),
            input: transaction.data().clone(),
            hash: transaction.hash(),
            is_remasc: transaction.has_remasc_form(),
            is_pending: false,
            end: outcome.end,
            output: outcome.output,
            gas_used: outcome.gas_used,
            created: outcome.created,
            logs: outcome.logs,
            bridge_payments: outcome.payments,
        }
    }

    /// A call without a transaction.
    pub fn of_call(request: &CallRequest, outcome: CallOutcome) -> Self {
        Self {
            sender: request.from.unwrap_or_default(),
            to: request.to,
            value: request.value,
            gas: request.gas,
            input: request.data.clone(),
            hash: B256::ZERO,
            is_remasc: false,
            is_pending: false,
            end: outcome.end,
            output: outcome.output,
            gas_used: outcome.gas_used,
            created: outcome.created,
            logs: outcome.logs,
            bridge_payments: outcome.payments,
        }
    }

    /// Returns the payments of the precompile that the transaction calls directly, in order. REMASC emits a log with receiver
    /// and amount for each.
    pub(crate) fn payments(&self) -> Vec<Payment> {
        if !self.is_remasc {
            return self.bridge_payments.clone();
        }
        self.logs.iter().filter(|log| log.address == REMASC).filter_map(payment).collect()
    }
}

fn payment(log: &Log) -> Option<Payment> {
    let [_topic, receiver] = log.topics.as_slice() else { return None };
    let list = rlp::decode_list(&log.data).ok()?.list("payment").ok()?;
    let [_block, amount] = list.as_slice() else { return None };
    Some((Address::from_word(*receiver), U256::try_from_be_slice(amount.bytes())?))
}
