//! Replays the golden calls of precompiles without a virtual machine.
//!
//! Nearly all of them use the same small program: copy the call data to memory, call the precompile with it, store
//! success + 1 in slot 1 and the spent gas in slot 2, return the output.

use super::interface::{PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::table::precompile_at;
use crate::block_env::{AncestorBlock, Ancestry, AncestryError, BlockEnv};
use crate::deadline::Deadline;
use crate::state::State;
use flate2::read::GzDecoder;
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, Header, I256, Log, Network, Rule, Rules, U256, hex};
use rhizome_trie::{StateError, StateReader};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/evm/");
static NO_DEADLINE: LazyLock<Deadline> = LazyLock::new(Deadline::none);
const PROGRAM: &str = "0x00000000000000000000000000000000c0de0001";

/// Reads the golden file of the given name.
pub(super) fn load(name: &str) -> Value {
    let file = std::fs::File::open(format!("{VECTORS}{name}.json.gz")).unwrap();
    serde_json::from_reader(GzDecoder::new(file)).unwrap()
}

/// Replays all cases of precompiles.json whose name starts with `prefix`. Exactly `count` of them must have the program
/// above.
pub(super) fn replay(prefix: &str, count: usize) {
    let file = load("precompiles");
    let mut replayed = 0;
    for case in file["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        if !name.starts_with(prefix) {
            continue;
        }
        if let Some(call) = Call::of_program(case["pre"][PROGRAM]["code"].as_str()) {
            call.check(name, case, &file);
            replayed += 1;
        }
    }
    assert_eq!(replayed, count, "cases of {prefix}");
}

/// The call of the program.
struct Call {
    to: Address,
    gas: u64,
    /// Gas between the two reads of the gas counter beside the price of the precompile.
    overhead: Option<u64>,
}

impl Call {
    fn of_program(code: Option<&str>) -> Option<Call> {
        let code = code?;
        let (call, is_new) = match code.strip_prefix("0x3660006000375a60006000366000") {
            Some(call) => (call, true),
            None => (code.split_once("5a604036366000")?.1, false),
        };
        let has_value = call.contains("f1905a9003");
        let call = if has_value { call.strip_prefix("6000")? } else { call };
        let (to, rest) = push(call)?;
        let (gas, _) = push(rest)?;
        let overhead = is_new.then_some(if has_value { 725 } else { 722 });
        Some(Call { to: Address::from_word(B256::from(to)), gas: gas.to(), overhead })
    }

    fn check(&self, name: &str, case: &Value, file: &Value) {
        let rules = rules(case["fork"].as_str().unwrap());
        let spec = ChainSpec::regtest();
        let slots = &case["expect"]["post"][PROGRAM]["storage"];
        let flag = slots["0x1"].as_str().map(number);
        let spent = slots["0x2"].as_str().map(number).unwrap_or_default();
        let Some(entry) = precompile_at(&self.to, &rules) else {
            assert_eq!(flag, Some(U256::from(2)), "{name}: a plain account");
            return;
        };
        let mut input = bytes(&case["tx"]["data"]);
        if let Some(limit) = entry.input_limit.filter(|_| rules.is_active(Rule::Rskip516)) {
            input.truncate(limit);
        }

        let chain = case["chain"].as_str().map(|name| &file["chains"][name]);
        let (env, ancestry) = (env(&case["env"]), FixedAncestry::new(chain, &spec));
        let (mut state, mut logs) = (state_of(&case["pre"]), Vec::new());
        let mut ctx = context(&spec, rules, &env, &ancestry, &mut state, &mut logs);
        let required = entry.precompile.required_gas(&input, &mut ctx).unwrap();
        let (output, price) = if required > self.gas {
            (None, self.gas)
        } else {
            match entry.precompile.run(&input, &mut ctx) {
                Ok(PrecompileOutput::Output(output)) => (Some(output), required),
                Ok(PrecompileOutput::NoValue) | Err(PrecompileFailure::Failed) if rules.is_active(Rule::Rskip197) => {
                    (None, required)
                }
                Ok(PrecompileOutput::NoValue) | Err(PrecompileFailure::Failed) => {
                    assert_eq!(case["expect"]["status"], 0, "{name}: the calling frame halts");
                    return;
                }
                Err(failure) => panic!("{name}: {failure:?}"),
            }
        };
        assert_eq!(flag, Some(U256::from(if output.is_some() { 2 } else { 1 })), "{name}: success + 1");
        let expected = bytes(&case["expect"]["output"]);
        match self.overhead {
            Some(overhead) => {
                assert_eq!(spent, U256::from(overhead + price), "{name}: gas");
                assert_eq!(hex::encode(output.unwrap_or_default()), hex::encode(expected), "{name}: output");
            }
            // The old program returns 96 bytes of memory that start with the output, or with the previous bytes.
            None => {
                let output = output.filter(|output| !output.is_empty()).unwrap_or(Bytes::from_static(&[0xee; 32]));
                let length = output.len().min(expected.len());
                assert_eq!(hex::encode(&output[..length]), hex::encode(&expected[..length]), "{name}: memory");
            }
        }
    }
}

/// Splits the operand of the PUSH at the start of the code from the rest.
fn push(code: &str) -> Option<(U256, &str)> {
    let opcode = usize::from_str_radix(code.get(..2)?, 16).ok()?;
    let length = 2 * (opcode.checked_sub(0x5f).filter(|length| *length <= 32)?);
    let operand = U256::from_str_radix(code.get(2..2 + length)?, 16).ok()?;
    Some((operand, code.get(2 + length..)?))
}

/// Returns the context of a call from the first frame.
pub(super) fn context<'a>(
    spec: &'a ChainSpec,
    rules: Rules,
    env: &'a BlockEnv,
    ancestry: &'a dyn Ancestry,
    state: &'a mut State,
    logs: &'a mut Vec<Log>,
) -> PrecompileContext<'a> {
    PrecompileContext::new(spec, rules, env, ancestry, state, logs, &NO_DEADLINE)
}

pub(super) fn spec_of(case: &Value) -> ChainSpec {
    ChainSpec::by_name(case["network"].as_str().unwrap_or(Network::Regtest.name())).unwrap()
}

/// Returns the rules of a regime, for example `vetiver900-RSKIP453`.
pub(super) fn rules(regime: &str) -> Rules {
    let text = std::fs::read_to_string(format!("{VECTORS}forks.json")).unwrap();
    let forks: Value = serde_json::from_str(&text).unwrap();
    let (mut name, mut active) = (Some(regime), Vec::new());
    while let Some(current) = name {
        let fork = &forks["forks"][current];
        active.extend(fork["adds"].as_array().unwrap_or_else(|| panic!("regime {current}")));
        name = fork["extends"].as_str();
    }
    let is_listed = |rule: &Rule| {
        let name = rule.name().replace("areBridgeTxsPaid", "ARE_BRIDGE_TXS_PAID").to_uppercase();
        active.iter().any(|active| active.as_str() == Some(&name))
    };
    Rule::ALL.iter().copied().filter(is_listed).collect()
}

pub(super) fn env(value: &Value) -> BlockEnv {
    BlockEnv {
        number: number_at(value, "number").to(),
        timestamp: number_at(value, "timestamp").to(),
        coinbase: address_at(value, "coinbase"),
        difficulty: number_at(value, "difficulty"),
        gas_limit: number_at(value, "gasLimit").to(),
        minimum_gas_price: number_at(value, "minimumGasPrice"),
        parent_hash: hash_at(value, "parentHash"),
    }
}

/// Returns a state with the balances and storage slots of `pre`.
pub(super) fn state_of(pre: &Value) -> State {
    let mut state = State::new(Arc::new(EmptyReader));
    for (address, account) in pre.as_object().unwrap() {
        let Ok(address) = address.parse::<Address>() else { continue };
        if account["account"] != false {
            let balance = I256::try_from(number_at(account, "balance")).unwrap();
            state.add_balance(address, balance).unwrap();
        }
        for (slot, value) in account["storage"].as_object().into_iter().flatten() {
            let bytes = hex_bytes(value.as_str().unwrap());
            state.set_storage_bytes(address, number(slot), Some(bytes.into())).unwrap();
        }
    }
    state
}

struct EmptyReader;

impl StateReader for EmptyReader {
    fn get(&self, _key: &[u8]) -> Result<Option<Bytes>, StateError> {
        Ok(None)
    }
}

/// A list of ancestors.
pub(super) struct FixedAncestry(HashMap<u64, Arc<AncestorBlock>>);

impl FixedAncestry {
    pub(super) fn new(blocks: Option<&Value>, spec: &ChainSpec) -> FixedAncestry {
        let values = blocks.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let blocks = values.iter().map(|value| {
            let header = header(value, spec);
            let uncles = value["uncles"].as_array().into_iter().flatten();
            let uncles = uncles.map(|uncle| uncle_header(uncle, values, spec)).collect();
            let total_difficulty = number_at(value, "totalDifficulty");
            let (hash, header) = (hash_at(value, "hash"), Arc::new(header));
            (header.number, Arc::new(AncestorBlock { hash, header, uncles, total_difficulty }))
        });
        FixedAncestry(blocks.collect())
    }
}

impl Ancestry for FixedAncestry {
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        Ok(self.0.get(&number).cloned())
    }
}

fn header(value: &Value, spec: &ChainSpec) -> Header {
    let optional = |name: &str| value[name].as_str().map(|text| Bytes::from(hex_bytes(text)));
    let mut header = Header::new(number_at(value, "number").to(), spec);
    header.coinbase = value["coinbase"].as_str().map(|text| text.parse().unwrap());
    header.difficulty = Some(number_at(value, "difficulty"));
    header.gas_limit = optional("gasLimit").unwrap_or_default();
    header.gas_used = number_at(value, "gasUsed").to();
    header.paid_fees = number_at(value, "paidFees");
    header.minimum_gas_price = Some(I256::from_raw(number_at(value, "minimumGasPrice")));
    header.uncle_count = value["uncleCount"].as_u64().unwrap_or_default() as u32;
    header.bitcoin_header = optional("bitcoinMergedMiningHeader");
    header.bitcoin_coinbase = optional("bitcoinMergedMiningCoinbaseTransaction");
    header
}

/// Returns the header of an uncle. It cannot have the given hash, only the same order relative to the hash of the block at
/// its height, which is relevant for REMASC.
fn uncle_header(value: &Value, blocks: &[Value], spec: &ChainSpec) -> Header {
    let mut uncle = header(value, spec);
    let Some(rival) = blocks.iter().find(|block| block["number"] == value["number"]) else { return uncle };
    let is_smaller = hash_at(value, "hash") < hash_at(rival, "hash");
    while (uncle.hash() < hash_at(rival, "hash")) != is_smaller {
        uncle.timestamp += 1;
        uncle.forget_hash();
    }
    uncle
}

pub(super) fn number(text: &str) -> U256 {
    text.parse().unwrap_or_else(|_| panic!("number {text}"))
}

/// Reads the named number, zero if absent.
pub(super) fn number_at(value: &Value, name: &str) -> U256 {
    value[name].as_str().map(number).unwrap_or_default()
}

pub(super) fn address_at(value: &Value, name: &str) -> Address {
    value[name].as_str().unwrap().parse().unwrap()
}

pub(super) fn hash_at(value: &Value, name: &str) -> B256 {
    value[name].as_str().unwrap().parse().unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    value.as_str().map(hex_bytes).unwrap_or_default()
}

/// Decodes hex digits, also an odd number of them.
pub(super) fn hex_bytes(text: &str) -> Vec<u8> {
    let digits = text.trim_start_matches("0x");
    hex::decode(if digits.len().is_multiple_of(2) { digits.to_owned() } else { format!("0{digits}") }).unwrap()
}
