//! A transaction or a local call, reduced to what execution needs, and its intrinsic gas.

use rhizome_primitives::transaction::intrinsic_gas;
use rhizome_primitives::{Address, B256, BRIDGE, Bytes, ChainSpec, Rules, Transaction, U256};

use crate::precompiles::is_free;
use crate::state::AccountId;

/// The largest gas limit: the reference counts gas in signed 64-bit numbers.
pub(crate) const GAS_LIMIT_LIMIT: u64 = i64::MAX as u64;

/// The input of an execution.
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
    pub(super) fn of_transaction(
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

    /// Returns true for the REMASC transaction, and for calls of the Bridge by senders that it exempts: neither the
    /// transaction nor the call costs gas.
    pub(super) fn is_free(&self) -> bool {
        self.intrinsic_gas == 0
    }

    /// Returns the largest payment for gas; `None` if it exceeds 256 bits.
    pub(super) fn gas_cost(&self) -> Option<U256> {
        self.gas_price.checked_mul(U256::from(self.gas_limit))
    }
}

/// Returns the intrinsic gas that a transaction pays: zero for a call of the Bridge by a sender that the Bridge exempts.
pub fn charged_intrinsic_gas(transaction: &Transaction, sender: &Address, spec: &ChainSpec, rules: &Rules) -> u64 {
    let is_free = transaction.accepts_signature(spec.chain_id) && is_exempt(transaction.to(), sender, spec, rules);
    if is_free { 0 } else { transaction.intrinsic_gas(rules) }
}

/// Returns the intrinsic gas of a local call: that of a transaction whose signature is accepted.
pub(crate) fn local_intrinsic_gas(
    to: Option<Address>,
    data: &[u8],
    sender: &Address,
    spec: &ChainSpec,
    rules: &Rules,
) -> u64 {
    if is_exempt(to, sender, spec, rules) { 0 } else { intrinsic_gas(to.is_none(), data, rules) }
}

/// Returns true if the Bridge exempts the sender of a call to `to` from gas.
fn is_exempt(to: Option<Address>, sender: &Address, spec: &ChainSpec, rules: &Rules) -> bool {
    to == Some(BRIDGE) && is_free(spec.network, rules, sender)
}
