//! Rules of a transaction that depend on the best block and on the sender's account only.

use super::rejection::PoolRejection;
use super::transaction::TransactionGas;
use rhizome_evm::charged_intrinsic_gas;
use rhizome_primitives::{Address, ChainSpec, Header, Rule, Rules, Transaction, U256};
use rhizome_trie::keys::{account_key, mark_key};
use rhizome_trie::{AccountState, StateError, StateReader};

/// Number of nonces of an account, from its own on, that the pool accepts.
pub const ACCOUNT_SLOTS: u64 = 16;

/// Bytes of the longest transaction.
pub const MAX_SIZE: usize = 128 * 1024;

/// Bytes of the longest init code (RSKIP-438).
const MAX_INIT_CODE_SIZE: usize = 49_152;

/// Maximum gas of any transaction.
const GAS_CAP: U256 = U256::from_limbs([1 << 60, 0, 0, 0]);

/// Highest gas price as a multiple of the best block's minimum (RSKIP-252).
const GAS_PRICE_CAP_FACTOR: u64 = 80;

/// Minimum price of a replacement, in percent of the price of the replaced transaction.
const BUMP_PERCENT: u64 = 140;

/// Account of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderAccount {
    pub(super) exists: bool,
    pub(super) nonce: u64,
    /// Zero without an account; `None` if the account has a debt, so that it pays for nothing.
    pub(super) balance: Option<U256>,
}

impl SenderAccount {
    pub(super) fn read(state: &dyn StateReader, address: &Address) -> Result<Self, StateError> {
        let key = account_key(address.as_slice());
        let Some(value) = state.get(&key)? else {
            return Ok(Self { balance: Some(U256::ZERO), ..Self::default() });
        };
        let account = AccountState::decode(&value).map_err(|reason| StateError::Account { key, reason })?;
        let balance = (!account.balance.is_negative()).then(|| account.balance.into_raw());
        Ok(Self { exists: true, nonce: account.nonce.saturating_to(), balance })
    }

    /// Returns true if the balance covers a cost in wei.
    pub(super) fn covers(&self, cost: U256) -> bool {
        self.balance.is_some_and(|balance| cost <= balance)
    }
}

/// Whether there is a contract at an address.
pub(super) fn is_contract(state: &dyn StateReader, address: &Address) -> Result<bool, StateError> {
    Ok(state.length_and_hash(&mark_key(address.as_slice()))?.is_some())
}

/// Checks rules 3 to 15, in order.
pub(super) fn check(
    transaction: &Transaction,
    sender: &Address,
    account: &SenderAccount,
    best: &Header,
    most: TransactionGas,
    spec: &ChainSpec,
) -> Result<(), PoolRejection> {
    let rules = spec.rules(best.number);
    let intrinsic_gas = charged_intrinsic_gas(transaction, sender, spec, &rules);
    // A free transaction to the Bridge needs neither an account nor a balance for its gas.
    let is_free = intrinsic_gas == 0;
    if !account.exists && !is_free {
        return Err(PoolRejection::NoAccount);
    }
    if transaction.is_creation() && rules.is_active(Rule::Rskip438) && transaction.data().len() > MAX_INIT_CODE_SIZE {
        return Err(PoolRejection::InitCodeSize);
    }
    let size = transaction.encoded().len();
    if size > MAX_SIZE {
        return Err(PoolRejection::Size { size, limit: MAX_SIZE });
    }
    if transaction.has_remasc_form() {
        return Err(PoolRejection::Remasc);
    }
    let gas_limit = transaction.gas_limit();
    if gas_limit > most.limit || gas_limit > GAS_CAP {
        return Err(PoolRejection::GasLimit { gas_limit, limit: most.limit, block_limit: most.block_limit });
    }
    check_nonce(transaction, account)?;
    let price = transaction.gas_price();
    if !is_free && !gas_limit.checked_mul(price).is_some_and(|cost| account.covers(cost)) {
        return Err(PoolRejection::InsufficientFunds);
    }
    let minimum = best.min_gas_price();
    if price < minimum {
        return Err(PoolRejection::GasPriceTooLow);
    }
    if gas_limit < U256::from(intrinsic_gas) {
        return Err(PoolRejection::IntrinsicGas);
    }
    let cap = minimum.checked_mul(U256::from(GAS_PRICE_CAP_FACTOR));
    if rules.is_active(Rule::Rskip252) && !minimum.is_zero() && cap.is_some_and(|cap| price > cap) {
        return Err(PoolRejection::GasPriceTooHigh);
    }
    Ok(())
}

/// Checks rules 9 to 11.
fn check_nonce(transaction: &Transaction, account: &SenderAccount) -> Result<(), PoolRejection> {
    let bytes = transaction.nonce_bytes();
    if bytes.len() > 8 {
        return Err(PoolRejection::NonceLength { length: bytes.len() });
    }
    if bytes.len() > 1 && bytes.first() == Some(&0) {
        return Err(PoolRejection::NonceEncoding);
    }
    let nonce: u64 = transaction.nonce().saturating_to();
    if nonce < account.nonce {
        return Err(PoolRejection::NonceTooLow);
    }
    if nonce - account.nonce >= ACCOUNT_SLOTS {
        return Err(PoolRejection::NonceTooHigh);
    }
    Ok(())
}

/// Rule 16: whether the new price is enough to replace a pending transaction of the old price.
pub(super) fn may_replace(new: U256, old: U256) -> bool {
    let bumped = old.checked_mul(U256::from(BUMP_PERCENT)).map(|product| product / U256::from(100));
    new > old && bumped.is_some_and(|bumped| new >= bumped)
}

/// Returns the maximum cost of a transaction for its sender, in wei: without gas if the transaction is free in a block with
/// these rules. Saturates at 256 bits.
pub(super) fn highest_cost(transaction: &Transaction, sender: &Address, spec: &ChainSpec, rules: &Rules) -> U256 {
    if charged_intrinsic_gas(transaction, sender, spec, rules) == 0 {
        return transaction.value();
    }
    let gas = transaction.gas_limit().saturating_mul(transaction.gas_price());
    transaction.value().saturating_add(gas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_pays_two_fifths_more() {
        let may = |new: u64, old: u64| may_replace(U256::from(new), U256::from(old));
        assert!(may(140, 100) && !may(139, 100));
        assert!(!may(0, 0) && may(1, 0), "strictly more");
        assert!(may(2, 1) && !may(1, 1));
        assert!(may(0x5372_4e00, 1_000_000_000) && !may(0x5372_4dff, 1_000_000_000));
    }
}
