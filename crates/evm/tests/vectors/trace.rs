//! Cases of the kind `trace`: one transaction with an inspector.

use std::sync::Arc;

use rhizome_evm::tracing::{Inspected, Inspection};
use rhizome_evm::{BlockExecutor, FeePayment, TransactionOutcome};
use rhizome_primitives::{Address, Transaction};
use serde_json::Value;

use super::fields::{address_at, small_at, text};
use super::transaction::{container_of, index_of, transaction_of};
use super::world::{FixedAncestry, env_of, trie_of};
use super::{Mismatch, Verdict, equal, regime};

/// A transaction with its sender and its inspected outcome.
pub(crate) type Ran = (Transaction, Address, Inspected<TransactionOutcome>);

/// Executes the transaction of a case.
pub(crate) fn run(file: &Value, forks: &Value, case: &Value, inspection: Inspection<'_>) -> Result<Ran, Mismatch> {
    let spec = regime::spec_of(case["network"].as_str(), forks, text(case, "fork")?)?;
    let ancestry = FixedAncestry::new(file, case, &spec)?;
    let executor = BlockExecutor::new(&spec, env_of(case)?, Arc::new(trie_of(case)?), &ancestry);
    let is_postponed = case["env"]["postponeFeePayment"] == true;
    let payment = if is_postponed { FeePayment::Postponed } else { FeePayment::Immediate };
    let executor = executor.map_err(|error| Mismatch::broken("execution", error))?;
    let mut executor = executor.with_fee_payment(payment).at_index(index_of(&case["env"])?);
    let is_remasc = case["tx"]["type"] == "remasc";
    let transaction = transaction_of(&case["tx"], &spec)?;
    let sender = if is_remasc { Address::ZERO } else { address_at(&case["tx"], "from")? };
    let mut container = container_of(&case["env"], &spec, &case["env"])?;
    let inspected = executor.inspect_in(&transaction, sender, is_remasc, &mut container, inspection);
    let inspected = inspected.map_err(|error| Mismatch::broken("execution", error))?;
    Ok((transaction, sender, inspected))
}

/// Checks the outcome, without the text of traces.
pub(super) fn check(file: &Value, forks: &Value, case: &Value) -> Verdict {
    let inspection = Inspection { inspector: None, changes_limit: Some(usize::MAX) };
    let (_, sender, inspected) = run(file, forks, case, inspection)?;
    let expect = &case["expect"];
    equal("status", expect["status"].as_u64(), Some(u64::from(inspected.outcome.success)))?;
    equal("gas used", small_at(expect, "gasUsed")?, inspected.outcome.gas_used)?;
    let nonces = inspected.accounts.iter().find(|account| account.address == sender).map(|account| {
        let nonce = |view: &Option<rhizome_evm::tracing::AccountView>| view.clone().unwrap_or_default().nonce;
        nonce(&account.after).saturating_sub(nonce(&account.before)).to::<u64>()
    });
    let is_remasc = case["tx"]["type"] == "remasc";
    equal("nonce of the sender", if is_remasc { None } else { Some(1) }, nonces.filter(|_| !is_remasc))
}
