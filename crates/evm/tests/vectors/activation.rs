//! Cases of the kind `activation`: accounts that the first block of a rule creates.

use std::sync::Arc;

use rhizome_evm::{BlockEnv, BlockExecutor, State};
use rhizome_primitives::{Address, B256, ChainSpec, Rule, U256};
use serde_json::Value;

use super::world::{FixedAncestry, check_state, trie_of};
use super::{Mismatch, Verdict, regime};

/// Number of the block; any number except 0.
const NUMBER: u64 = 100;

pub(super) fn check(case: &Value) -> Verdict {
    let activating: Vec<_> = case["activating"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let spec = Rule::ALL.iter().fold(ChainSpec::regtest(), |spec, rule| {
        let activates = activating.contains(&regime::name_of(*rule).as_str());
        spec.with_rule_height(*rule, activates.then_some(NUMBER))
    });
    let trie = trie_of(case)?;
    let ancestry = FixedAncestry::new(&Value::Null, case, &spec)?;
    let env = BlockEnv {
        number: NUMBER,
        timestamp: 0,
        coinbase: Address::ZERO,
        difficulty: U256::ZERO,
        gas_limit: 0,
        minimum_gas_price: U256::ZERO,
        parent_hash: B256::ZERO,
    };
    let reader = Arc::new(trie.clone());
    let mut executor = BlockExecutor::new(&spec, env, reader.clone(), &ancestry)
        .map_err(|error| Mismatch::broken("execution", error))?;
    let state = std::mem::replace(executor.state(), State::new(reader));
    check_state(trie, state, &case["expect"])
}
