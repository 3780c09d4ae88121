//! Recovery of many senders at once.

#[cfg(target_arch = "x86_64")]
mod lanes;

use super::Transaction;
use crate::keccak::keccak256_all;
use alloy_primitives::{Address, B256, U256};

/// A signature whose halves are from 1 to the order of the group.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing there recovers many"))]
pub(super) struct RecoveryInput {
    pub(super) message: B256,
    pub(super) r: U256,
    pub(super) s: U256,
    pub(super) is_y_odd: bool,
}

impl Transaction {
    /// Recovers the senders of transactions; afterwards [`Transaction::recover_sender`] knows the answer of each. Where
    /// the CPU has the 52-bit multiplications of AVX-512, eight are done at the cost of little more than one.
    pub fn recover_senders<'a>(transactions: impl IntoIterator<Item = &'a Transaction, IntoIter: Clone>) {
        recover_senders(transactions.into_iter(), recover_many);
    }
}

fn recover_senders<'a>(
    transactions: impl Iterator<Item = &'a Transaction> + Clone,
    recover_many: impl Fn(&[RecoveryInput]) -> Option<Vec<Option<Address>>>,
) {
    let unknown = |transaction: &&Transaction| transaction.is_signed() && transaction.sender.get().is_none();
    let unknown: Vec<&Transaction> = transactions.clone().filter(unknown).collect();
    let signed: Vec<Vec<u8>> =
        unknown.iter().map(|transaction| transaction.signed_bytes(transaction.chain_id())).collect();
    let mut waiting = Vec::with_capacity(unknown.len());
    let mut inputs = Vec::with_capacity(unknown.len());
    for (transaction, message) in unknown.into_iter().zip(keccak256_all(&signed)) {
        if let Some(input) = transaction.signature.as_ref().and_then(|signature| signature.input(&message)) {
            waiting.push(transaction);
            inputs.push(input);
        }
    }
    // A single one is not faster by this way.
    if inputs.len() > 1 {
        let found = recover_many(&inputs).unwrap_or_default();
        for (transaction, address) in waiting.into_iter().zip(found) {
            if let Some(address) = address {
                // Another thread may have found the same meanwhile.
                let _ = transaction.sender.set(Ok(address));
            }
        }
    }
    for transaction in transactions {
        let _ = transaction.recover_sender();
    }
}

#[cfg(target_arch = "x86_64")]
fn recover_many(inputs: &[RecoveryInput]) -> Option<Vec<Option<Address>>> {
    lanes::recover(inputs)
}

#[cfg(not(target_arch = "x86_64"))]
fn recover_many(_jobs: &[RecoveryInput]) -> Option<Vec<Option<Address>>> {
    None
}

#[cfg(test)]
mod tests;
