//! The result of a transaction, and the state of its sublist.

use rhizome_primitives::{Address, Bytes, Log, Rules, U256};

use crate::frame::End;
use crate::hash_maps::HashSet;
use crate::precompiles::Payment;

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
    /// Payments of the Bridge, if the transaction goes to it directly and succeeds. REMASC logs its payments.
    pub payments: Vec<Payment>,
    /// Address of the created contract, also if the creation failed.
    pub created: Option<Address>,
    /// Accounts deleted by SELFDESTRUCT, each once.
    pub deleted: Vec<Address>,
    /// Whether the Bridge or REMASC was called, which excludes the transaction from parallel sublists.
    pub calls_sequential_contract: bool,
}
