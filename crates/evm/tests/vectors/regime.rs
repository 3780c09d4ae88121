//! Regimes, for example `vetiver900-RSKIP453`: sets of rules that are active at all heights.

use rhizome_primitives::{ChainSpec, Rule};
use serde_json::Value;

use super::Mismatch;

/// Returns a network under the rules of a regime from block 0 on.
pub(super) fn spec_of(network: Option<&str>, forks: &Value, regime: &str) -> Result<ChainSpec, Mismatch> {
    let broken = |error: &dyn std::fmt::Display| Mismatch::broken("chain specification", error);
    let spec = ChainSpec::by_name(network.unwrap_or("regtest")).map_err(|error| broken(&error))?;
    let active = rules(forks, regime)?;
    Ok(Rule::ALL.iter().fold(spec, |spec, rule| {
        let height = active.contains(&name_of(*rule)).then_some(0);
        if spec.height(*rule) == height { spec } else { spec.with_rule_height(*rule, height) }
    }))
}

/// Returns the name of a rule in the golden data.
pub(super) fn name_of(rule: Rule) -> String {
    match rule {
        Rule::AreBridgeTxsPaid => "ARE_BRIDGE_TXS_PAID".to_owned(),
        rule => rule.name().to_uppercase(),
    }
}

fn rules(forks: &Value, regime: &str) -> Result<Vec<String>, Mismatch> {
    let (base, changes) = regime.find(['-', '+']).map_or((regime, ""), |at| regime.split_at(at));
    let mut active = Vec::new();
    let mut next = Some(base);
    while let Some(name) = next {
        let fork = &forks["forks"][name];
        let adds = fork["adds"].as_array().ok_or_else(|| Mismatch::broken("regime", name))?;
        active.extend(adds.iter().filter_map(|rule| rule.as_str().map(str::to_owned)));
        next = fork["extends"].as_str();
    }
    let mut rest = changes;
    while let Some(sign) = rest.chars().next() {
        let body = rest.get(1..).unwrap_or_default();
        let (rule, next) = body.split_at(body.find(['-', '+']).unwrap_or(body.len()));
        active.retain(|active| active != rule);
        if sign == '+' {
            active.push(rule.to_owned());
        }
        rest = next;
    }
    Ok(active)
}
