//! Random input for each precompile under each set of rules: no panic, and no work without payment.

use super::corpus::fuzz_corpus;
use super::golden::{self, FixedAncestry};
use super::interface::PrecompileFailure;
use super::mutation::{Random, with_random};
use super::table::{TABLE, precompile_at};
use crate::state::State;
use rhizome_bridge::selectors;
use rhizome_primitives::{Address, BRIDGE, ChainSpec, Rule, Rules, U256, address, hex};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Gas of a call, more than any block has.
const GAS: u64 = 10_000_000;
/// Largest time of a call with that gas, also on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Largest price of calls that are made frequently.
const CHEAP: u64 = 100_000;

/// Callers with different rights at the Bridge of regtest: a federator, the voters for fee, locking cap and whitelist, and
/// an account without rights.
const CALLERS: [Address; 5] = [
    address!("6b045752f4d650a510a353bbf7e52988331e7f5b"),
    address!("53f8f6dabd612b6137215ddd7758bb5cdd638922"),
    address!("6913bd4715eff3b25501f3212f15df38296d1f21"),
    address!("87d2a0f33744929da08b65fd62b627ea52b25f8e"),
    Address::ZERO,
];

/// Returns the inputs of the golden calls as seeds.
fn inputs() -> Vec<Vec<u8>> {
    let file = golden::load("precompiles");
    let data = file["cases"].as_array().unwrap().iter().filter_map(|case| case["tx"]["data"].as_str());
    let golden = data.map(|text| hex::decode(text).unwrap_or_default()).filter(|input| !input.is_empty());
    golden.chain(bridge_inputs()).collect()
}

/// Returns a call of each method of the Bridge with arguments that decode as any type: bytes and lists are empty or short.
fn bridge_inputs() -> impl Iterator<Item = Vec<u8>> {
    selectors().flat_map(|selector| {
        let arguments = [vec![0; 256], [[0; 31].as_slice(), &[0x80], &[0; 127], &[80], &[1; 224]].concat()];
        arguments.map(|arguments| [selector.to_be_bytes().as_slice(), &arguments].concat())
    })
}

/// Returns the rules of each height at which a rule changes, for a network with all rules.
fn rule_sets() -> Vec<Rules> {
    let mut sets = vec![Rules::none(), Rules::all()];
    let mut rules = Rules::none();
    for rule in Rule::ALL {
        rules = rules.with(*rule);
        sets.push(rules);
        sets.push(Rules::all().without(*rule));
    }
    sets
}

fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    match random.below(6) {
        0 => random.bytes(300),
        1 => lengths(random),
        2 => {
            // Usually a selector.
            let mut input = random.pick(seeds).iter().copied().take(4).collect::<Vec<u8>>();
            for _ in 0..random.below(8) {
                input.extend(word(random).to_be_bytes::<32>());
            }
            input
        }
        _ => {
            let mut input = random.pick(seeds).clone();
            random.mutate(&mut input);
            input
        }
    }
}

/// Returns a small, huge or negative number, or an offset.
fn word(random: &mut Random) -> U256 {
    match random.below(5) {
        0 => U256::from(32 * random.below(8)),
        1 => U256::from(random.below(300)),
        2 => U256::MAX - U256::from(random.below(3)),
        3 => U256::from(random.next()),
        _ => U256::from(1) << random.below(256),
    }
}

/// Returns three lengths and random bytes, the input of modexp.
fn lengths(random: &mut Random) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..3 {
        let length = if random.below(3) == 0 { word(random) } else { U256::from(random.below(70)) };
        input.extend(length.to_be_bytes::<32>());
    }
    input.extend(random.bytes(200));
    input
}

/// The inputs of a call beside its data.
struct FuzzEnvironment {
    spec: ChainSpec,
    sets: Vec<Rules>,
    file: Value,
}

impl FuzzEnvironment {
    fn new() -> Self {
        Self { spec: ChainSpec::regtest(), sets: rule_sets(), file: golden::load("precompiles") }
    }

    /// Calls a precompile in a random environment, if it is active there and the gas covers its price.
    fn call(&self, address: &Address, data: &[u8], random: &mut Random) {
        let rules = *random.pick(&self.sets);
        let Some(entry) = precompile_at(address, &rules) else { return };
        let env = golden::env(&self.file["cases"][0]["env"]);
        let chain = self.file["chains"].as_object().and_then(|chains| chains.values().next());
        let ancestry = FixedAncestry::new(chain, &self.spec);
        let (mut state, mut logs): (State, _) = (golden::state_of(&json!({})), Vec::new());
        let mut ctx = golden::context(&self.spec, rules, &env, &ancestry, &mut state, &mut logs);
        ctx.is_direct = random.below(2) == 0;
        ctx.is_local_call = random.below(2) == 0;
        ctx.is_remasc_transaction = random.below(4) == 0;
        ctx.call_depth = random.below(400) as u32;
        ctx.caller = *random.pick(&CALLERS);
        ctx.value = word(random) >> 1;
        let Ok(price) = entry.precompile.required_gas(data, &mut ctx) else { return };
        // A direct local call does not pay. The precompile itself must reject such a call if it is too expensive.
        let is_unpaid = ctx.is_local_call && ctx.is_direct;
        if price > GAS && !(is_unpaid && price > super::pricing::UNPAID_WORK_LIMIT) {
            return;
        }
        if price > CHEAP && random.below(16) != 0 && !is_unpaid {
            return;
        }
        let start = Instant::now();
        let result = entry.precompile.run(data, &mut ctx);
        let call = || format!("{} with {} for {price}", entry.address, hex::encode(data));
        assert!(start.elapsed() < TIME_LIMIT, "{}: {:?}", call(), start.elapsed());
        if is_unpaid && price > super::pricing::UNPAID_WORK_LIMIT {
            assert!(matches!(result, Err(PrecompileFailure::Fatal(_))), "{}: {result:?}", call());
        }
    }
}

#[test]
fn fuzz_each_precompile_under_each_rule_set() {
    let (seeds, environment) = (inputs(), FuzzEnvironment::new());
    with_random(|random| {
        let data = input(random, &seeds);
        TABLE.iter().for_each(|entry| environment.call(&entry.address, &data, random));
    });
}

/// The first byte selects the precompile.
#[test]
fn fuzz_corpus_precompile() {
    let environment = FuzzEnvironment::new();
    fuzz_corpus("precompile", 16, &[], |data, random| {
        if let Some((which, input)) = data.split_first() {
            environment.call(&TABLE[usize::from(*which) % TABLE.len()].address, input, random);
        }
    });
}

#[test]
fn fuzz_corpus_bridge() {
    let environment = FuzzEnvironment::new();
    let seeds: Vec<Vec<u8>> = bridge_inputs().collect();
    fuzz_corpus("bridge", 16, &seeds, |input, random| environment.call(&BRIDGE, input, random));
}
