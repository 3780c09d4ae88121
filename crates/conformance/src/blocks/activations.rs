//! `activations.json`: activation heights of all rules and constants of all networks.

use rhizome_primitives::{ChainSpec, Rule};
use serde_json::Value;

use super::cases::{each_case, spec};
use crate::report::{CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, check_network)
}

fn check_network(case: &Value) -> CaseResult {
    let spec = spec(case)?;
    equal("chainId", case.member("chainId")?.number()?, u64::from(spec.chain_id))?;
    let heights = case.member("rules")?;
    equal("number of rules", heights.as_object().map_or(0, serde_json::Map::len), Rule::ALL.len())?;
    for (name, height) in heights.as_object().into_iter().flatten() {
        let rule = Rule::by_name(name).ok_or_else(|| broken("rule", name))?;
        // -1 means never.
        check_rule(&spec, rule, height.as_u64())?;
    }
    check_constants(case.member("constants")?, &spec)
}

fn check_rule(spec: &ChainSpec, rule: Rule, height: Option<u64>) -> CaseResult {
    let name = rule.name();
    equal(name, height, spec.height(rule))?;
    let Some(height) = height else {
        return equal(format!("{name} at the end"), false, spec.rules(u64::MAX).is_active(rule));
    };
    let active = spec.rules(height).is_active(rule) && spec.activates_at(rule, height);
    equal(format!("{name} at {height}"), true, active)?;
    let before = height.checked_sub(1).is_some_and(|before| spec.rules(before).is_active(rule));
    equal(format!("{name} before {height}"), false, before)?;
    equal(format!("{name} at the end"), true, spec.rules(u64::MAX).is_active(rule))
}

fn check_constants(expected: &Value, spec: &ChainSpec) -> CaseResult {
    let constants = &spec.constants;
    for (name, got) in [
        ("durationLimit", u64::from(constants.duration_limit)),
        ("newBlockMaxSecondsInTheFuture", constants.max_seconds_in_future),
        ("minSequentialSetGasLimit", constants.min_sequential_gas_limit),
        ("minGasLimit", constants.min_gas_limit),
        ("gasLimitBoundDivisor", constants.gas_limit_bound_divisor),
        ("uncleListLimit", constants.uncle_list_limit as u64),
        ("uncleGenerationLimit", constants.uncle_generation_limit),
        ("maximumExtraDataSize", constants.maximum_extra_data_size as u64),
        ("txExecutionThreads", constants.parallel_sublists as u64),
    ] {
        equal(name, expected.member(name)?.number()?, got)?;
    }
    for (name, got) in [
        ("minimumDifficulty", constants.minimum_difficulty),
        ("fallbackMiningDifficulty", constants.fallback_difficulty),
        ("difficultyBoundDivisorBefore156", constants.difficulty_bound_divisor),
    ] {
        equal(name, expected.member(name)?.parsed()?, got)?;
    }
    Ok(())
}
