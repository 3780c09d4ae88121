//! Cases of the kind `local`: one request, called and estimated.

use std::sync::Arc;

use rhizome_evm::{CallOutcome, CallRequest, Deadline, End, ExecError, call};
use serde_json::Value;

use super::fields::{bytes_at, number_at, optional_address_at, small_at, text};
use super::transaction::{check_end, check_output};
use super::world::{FixedAncestry, env_of, trie_of};
use super::{Mismatch, Verdict, equal, regime};

/// `rpc.gasEstimationCap`
const ESTIMATION_CAP: u64 = 6_800_000;

pub(super) fn check(file: &Value, forks: &Value, case: &Value) -> Verdict {
    for way in ["call", "estimate"] {
        let expect = &case["expect"][way];
        let outcome = match execute(file, forks, case, small_at(expect, "gasLimit")?)? {
            Ok(outcome) => outcome,
            Err(ExecError::Unexecutable { .. }) if expect["throws"].is_string() => continue,
            Err(error) => return Err(Mismatch::broken("execution", error)),
        };
        equal("throws", expect["throws"].as_str(), None)?;
        check_end(outcome.end, expect)?;
        check_output(&outcome.output, expect)?;
        if way == "estimate" {
            check_estimate(&outcome, expect)?;
        }
    }
    Ok(())
}

fn execute(file: &Value, forks: &Value, case: &Value, gas: u64) -> Result<Result<CallOutcome, ExecError>, Mismatch> {
    let spec = regime::spec_of(case["network"].as_str(), forks, text(case, "fork")?)?;
    let ancestry = FixedAncestry::new(file, case, &spec)?;
    let request = &case["request"];
    let request = CallRequest {
        from: optional_address_at(request, "from")?,
        to: optional_address_at(request, "to")?,
        gas,
        gas_price: number_at(request, "gasPrice")?,
        value: number_at(request, "value")?,
        data: bytes_at(request, "data")?,
    };
    let reader = Arc::new(trie_of(case)?);
    Ok(call(&spec, env_of(case)?, reader, &ancestry, &request, &Deadline::none()))
}

fn check_estimate(outcome: &CallOutcome, expect: &Value) -> Verdict {
    equal("gas used", small_at(expect, "gasUsed")?, outcome.gas_used)?;
    equal("peak gas", small_at(expect, "maxGasUsed")?, outcome.peak_gas)?;
    equal("refund", small_at(expect, "deductedRefund")?, outcome.refund)?;
    equal("moved all gas", expect["movedRemainingGasToChild"] == true, outcome.moved_all_gas)?;
    equal("moved value", expect["callWithValuePerformed"] == true, outcome.moved_value)?;
    if outcome.end == End::Revert {
        return Ok(());
    }
    equal("estimate", small_at(expect, "estimate")?, outcome.estimate(ESTIMATION_CAP))
}
