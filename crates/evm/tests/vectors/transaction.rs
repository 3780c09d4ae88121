//! Cases of the kind `state`: one transaction.

use std::sync::Arc;

use rhizome_evm::{BlockExecutor, End, ExecError, FeePayment, HaltReason, State, SublistState, TransactionOutcome};
use rhizome_primitives::{
    Address, B256, Bytes, ChainSpec, I256, Log, Transaction, UnsignedTransaction, hex, keccak256,
};
use serde_json::Value;

use super::fields::{address, address_at, bytes_at, hash, hex_bytes, number_at, optional_address_at, small_at, text};
use super::world::{FixedAncestry, check_state, env_of, trie_of};
use super::{Mismatch, Verdict, equal, regime};

pub(super) fn check(file: &Value, forks: &Value, case: &Value) -> Verdict {
    let spec = regime::spec_of(case["network"].as_str(), forks, text(case, "fork")?)?;
    let trie = trie_of(case)?;
    let ancestry = FixedAncestry::new(file, case, &spec)?;
    let env = &case["env"];
    let expect = &case["expect"];
    let has_remasc = env["remascEnabled"] != false;
    let is_postponed = env["postponeFeePayment"] == true || !has_remasc;
    let payment = if is_postponed { FeePayment::Postponed } else { FeePayment::Immediate };
    let reader = Arc::new(trie.clone());
    let mut executor = BlockExecutor::new(&spec, env_of(case)?, reader.clone(), &ancestry)
        .map_err(|error| Mismatch::broken("execution", error))?
        .with_fee_payment(payment)
        .at_index(index_of(env)?);
    let is_remasc = case["tx"]["type"] == "remasc";
    let transaction = transaction_of(&case["tx"], &spec)?;
    let sender = if is_remasc { Address::ZERO } else { address_at(&case["tx"], "from")? };
    let mut container = container_of(env, &spec, &case["env"])?;
    let result = executor.execute_in(&transaction, sender, is_remasc, &mut container);
    let breaks_off = expect["throws"].is_string() || expect["receiptThrows"].is_string();
    match result {
        Err(ExecError::Refused { .. }) => {
            equal("executed", expect["executed"] == true, false)?;
            let delta = std::mem::replace(executor.state(), State::new(reader)).into_delta();
            return equal("unchanged", true, delta.is_empty());
        }
        Err(ExecError::Unexecutable { .. }) if breaks_off => return Ok(()),
        Err(error) => return Err(Mismatch::broken("execution", error)),
        Ok(_) if breaks_off => return equal("result", "none", "some"),
        Ok(outcome) => {
            equal("executed", expect["executed"] == true, true)?;
            check_outcome(&outcome, expect)?;
            if !has_remasc {
                // Only in a test configuration of the reference the miner receives fees.
                let coinbase = address_at(env, "coinbase")?;
                let paid = executor.state().add_balance(coinbase, I256::from_raw(outcome.fee));
                paid.map_err(|error| Mismatch::broken("fee", error))?;
            }
        }
    }
    let state = std::mem::replace(executor.state(), State::new(reader));
    check_state(trie, state, expect)
}

/// Returns the position of the transaction in its block, 0 if absent.
pub(super) fn index_of(env: &Value) -> Result<usize, Mismatch> {
    Ok(small_at(env, "txIndex")? as usize)
}

pub(super) fn container_of(env: &Value, spec: &ChainSpec, limits: &Value) -> Result<SublistState, Mismatch> {
    let rules = spec.rules(small_at(env, "number")?);
    let limit =
        if rules.has_sublists() && limits["sublistGasLimit"].is_string() { "sublistGasLimit" } else { "gasLimit" };
    let deleted = env["deletedAccounts"].as_array().into_iter().flatten();
    Ok(SublistState {
        gas_used: small_at(env, "gasUsedBefore")?,
        gas_limit: small_at(limits, limit)?,
        deleted: deleted.filter_map(Value::as_str).map(address).collect::<Result<_, _>>()?,
    })
}

/// Returns the given transaction, with a different signature if the case has none.
pub(super) fn transaction_of(value: &Value, spec: &ChainSpec) -> Result<Transaction, Mismatch> {
    if let Some(raw) = value["raw"].as_str() {
        return Transaction::decode(&hex_bytes(raw)?).map_err(|error| Mismatch::broken("raw", error));
    }
    let unsigned = UnsignedTransaction {
        nonce: number_at(value, "nonce")?,
        gas_price: number_at(value, "gasPrice")?,
        gas_limit: small_at(value, "gasLimit")?,
        to: optional_address_at(value, "to")?,
        value: number_at(value, "value")?,
        data: bytes_at(value, "data")?,
    };
    Transaction::sign(unsigned, spec.chain_id, &keccak256("cow")).map_err(|error| Mismatch::broken("signature", error))
}

fn check_outcome(outcome: &TransactionOutcome, expect: &Value) -> Verdict {
    equal("status", expect["status"].as_u64(), Some(u64::from(outcome.success)))?;
    check_end(outcome.end, expect)?;
    equal("gas used", small_at(expect, "gasUsed")?, outcome.gas_used)?;
    equal("refund", small_at(expect, "refund")?, outcome.refund)?;
    equal("fee", number_at(expect, "fee")?, outcome.fee)?;
    check_output(&outcome.output, expect)?;
    if let Some(created) = optional_address_at(expect, "contractAddress")? {
        equal("contract address", Some(created), outcome.created)?;
    }
    let logs = expect["logs"].as_array().into_iter().flatten().map(log_of).collect::<Result<Vec<_>, _>>()?;
    equal("logs", logs, outcome.logs.clone())?;
    let deleted = expect["deleted"].as_array().into_iter().flatten();
    let mut deleted = deleted.filter_map(Value::as_str).map(address).collect::<Result<Vec<_>, _>>()?;
    let mut got = outcome.deleted.clone();
    deleted.sort_unstable();
    got.sort_unstable();
    // Deletions of a failed transaction are not listed.
    equal("deleted", deleted, got)
}

/// Checks the end of an execution, with the name of the exception.
pub(super) fn check_end(end: End, expect: &Value) -> Verdict {
    equal("reverted", expect["reverted"] == true, end == End::Revert)?;
    let expected = &expect["exception"];
    let expected = expected.as_str().or(expected["class"].as_str()).map(simple_name);
    let exception = match end {
        End::Success | End::Revert => None,
        // A precompile that the transaction calls directly fails with a different exception.
        End::Halt(HaltReason::PrecompileFailed) if expected == Some("VMException") => expected,
        End::Halt(reason) => reason.class().map(simple_name),
    };
    equal("exception", expected, exception)
}

/// Returns the name of a class without its package.
fn simple_name(class: &str) -> &str {
    class.rsplit(['.', '$']).next().unwrap_or(class)
}

/// Checks the output, given in full, or as size and hash if it is long.
pub(super) fn check_output(output: &Bytes, expect: &Value) -> Verdict {
    if let Some(hashed) = expect["outputHash"].as_str() {
        equal("output size", small_at(expect, "outputSize")?, output.len() as u64)?;
        return equal("output hash", hash(hashed)?, keccak256(output));
    }
    let expected = bytes_at(expect, "output")?;
    equal("output", hex::encode(expected), hex::encode(output))
}

fn log_of(value: &Value) -> Result<Log, Mismatch> {
    let topics = value["topics"].as_array().into_iter().flatten();
    Ok(Log {
        address: address_at(value, "address")?,
        topics: topics.filter_map(Value::as_str).map(hash).collect::<Result<Vec<B256>, _>>()?,
        data: bytes_at(value, "data")?,
    })
}
