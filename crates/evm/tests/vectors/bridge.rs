//! Scenarios of the suite `bridge`: sequences of calls of the Bridge or of transactions (docs/spec/bridge.md, 16).
//!
//! Each step starts from the recorded state, so a step that stops does not affect later steps.

use std::sync::Arc;

use rhizome_evm::precompiles::{
    CallScheme, PrecompileContext, PrecompileFailure, PrecompileOutput, federation_scripts, is_free, precompile_at,
};
use rhizome_evm::{BlockEnv, BlockExecutor, Deadline, ExecError, FeePayment, State, SublistState};
use rhizome_primitives::{Address, B256, BRIDGE, Bytes, ChainSpec, I256, Log, Rule, Rules, Transaction, U256, hex};
use rhizome_trie::keys::{MARK, account_key, code_key_of, mark_key_of, storage_key_of};
use rhizome_trie::{AccountState, MemoryNodes, StateDelta, Trie};
use serde_json::Value;

use super::fields::{address, address_at, bytes_at, hash, hash_at, hex_bytes, number, small_at, text};
use super::world::FixedAncestry;
use super::{Mismatch, Verdict, equal};

/// Replays all scenarios of a file. `report` receives the name and the outcome of each step.
pub(crate) fn replay(file: &Value, mut report: impl FnMut(&str, Verdict)) -> Verdict {
    for scenario in items(&file["scenarios"]) {
        let spec = spec_of(scenario)?;
        let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
        let initial = &scenario["initial"];
        apply_recorded(&mut trie, &initial["accounts"], &initial["bridgeStorage"])?;
        equal("initial state root", hash_at(initial, "stateRoot")?, trie.root_hash())?;
        let steps = items(&scenario["calls"]).chain(items(&scenario["transactions"]));
        for (position, step) in steps.enumerate() {
            let rules = rules_of(file, step)?;
            let name = format!("{}/{position}: {}", text(scenario, "name")?, text(step, "label")?);
            let is_transaction = step["raw"].is_string();
            let outcome = match is_transaction {
                true => check_transaction(step, &with_rules(&spec, rules), &trie),
                false => check_call(step, &spec, rules, &trie),
            };
            report(&name, outcome);
            let expect = &step["expect"];
            let slots = if is_transaction { &expect["bridgeStorage"] } else { &expect["storage"] };
            apply_recorded(&mut trie, &expect["accounts"], slots)?;
            for (contract, slots) in expect["contractStorage"].as_object().into_iter().flatten() {
                put_slots(&mut trie, address(contract)?, slots)?;
            }
            equal(&format!("{name}: recorded state"), hash_at(expect, "stateRoot")?, trie.root_hash())?;
        }
    }
    Ok(())
}

/// Selector of `getStateForDebugging()`, which returns `bytes`.
const GET_STATE_FOR_DEBUGGING: [u8; 4] = hex!("0d0cee93");
/// Size of offset and length before returned bytes.
const BYTES_HEAD: usize = 64;

/// Returns the network and the stored state of a case of `bridge-state.json`.
pub(crate) fn stored_state(case: &Value) -> Result<(ChainSpec, Trie), Mismatch> {
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    put_slots(&mut trie, BRIDGE, &case["bridgeStorage"])?;
    Ok((spec_of(case)?, trie))
}

/// Compares the encoded state that the Bridge returns with the recorded one.
pub(crate) fn check_encoded_state(file: &Value, case: &Value) -> Verdict {
    let (spec, trie) = stored_state(case)?;
    let rules = rules_of(file, case)?;
    let env = env_of(case)?;
    let mut state = State::new(Arc::new(trie));
    let (ancestry, deadline, mut logs) = (FixedAncestry::none(), Deadline::none(), Vec::new());
    let mut context = PrecompileContext {
        is_direct: true,
        is_local_call: true,
        ..PrecompileContext::new(&spec, rules, &env, &ancestry, &mut state, &mut logs, &deadline)
    };
    let entry = precompile_at(&BRIDGE, &rules).ok_or_else(|| Mismatch::broken("contract", "none"))?;
    let output = match entry.precompile.run(&GET_STATE_FOR_DEBUGGING, &mut context) {
        Ok(PrecompileOutput::Output(output)) => output,
        Ok(PrecompileOutput::NoValue) => return Err(Mismatch::broken("output", "none")),
        Err(PrecompileFailure::Fatal(error)) => return Err(Mismatch::broken("execution", error)),
        Err(_) => return Err(Mismatch::broken("call", "failed")),
    };
    let expected = bytes_at(case, "encodedState")?;
    let returned = output.get(BYTES_HEAD..).and_then(|bytes| bytes.get(..expected.len()));
    equal("encoded state", hex::encode(&expected), returned.map(hex::encode).unwrap_or_default())?;
    equal(
        "length of the encoded state",
        Some(U256::from(expected.len())),
        output.get(32..64).map(U256::from_be_slice),
    )?;
    Ok(())
}

/// Compares the scripts of a federation with the recorded ones.
pub(crate) fn check_scripts(case: &Value) -> Verdict {
    let (version, upgrade) = text(case, "type")?.split_once('-').unwrap_or((text(case, "type")?, ""));
    let version = version.parse().map_err(|error| Mismatch::broken("type", error))?;
    let rules: &[Rule] = if upgrade == "iris" { &[] } else { &[Rule::Rskip284, Rule::Rskip293] };
    let keys = items(&case["memberBtcKeys"]).filter_map(Value::as_str).map(|key| {
        let bytes = hex_bytes(key)?;
        bytes.as_ref().try_into().map_err(|error| Mismatch::broken(key, error))
    });
    let keys = keys.collect::<Result<Vec<[u8; 33]>, Mismatch>>()?;
    let result = &case["result"];
    let derivation = match &result["flyoverDerivationHash"] {
        Value::Null => B256::ZERO,
        _ => B256::from_slice(&bytes_at(result, "flyoverDerivationHash")?),
    };
    let network = spec_of(case)?.network;
    let scripts = federation_scripts(network, &rules.iter().copied().collect(), version, &keys, &derivation);
    equal("error", case["error"].as_str(), scripts.is_none().then_some("ScriptCreationException"))?;
    let Some(scripts) = scripts else { return Ok(()) };
    let optional = |name| match &result[name] {
        Value::Null => Ok(None),
        Value::String(text) if text == "error" => Ok(None),
        _ => bytes_at(result, name).map(Some),
    };
    equal("version", result["formatVersion"].as_u64(), Some(version))?;
    equal("signatures", result["requiredSignatures"].as_u64(), Some(scripts.required_signatures as u64))?;
    equal("redeem script", bytes_at(result, "redeemScript")?, scripts.redeem_script.into())?;
    equal("output script", bytes_at(result, "outputScript")?, scripts.output_script.into())?;
    equal("address", text(result, "address")?, scripts.address.as_str())?;
    if version != 1000 {
        equal(
            "standard redeem script",
            optional("defaultRedeemScript")?,
            scripts.standard_redeem_script.map(Into::into),
        )?;
        equal(
            "standard output script",
            optional("defaultOutputScript")?,
            scripts.standard_output_script.map(Into::into),
        )?;
    }
    equal("flyover redeem script", optional("flyoverRedeemScript")?, Some(scripts.flyover_redeem_script.into()))?;
    if let Some(script) = optional("flyoverOutputScript")? {
        equal("flyover output script", script, scripts.flyover_output_script.into())?;
    }
    Ok(())
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn spec_of(scenario: &Value) -> Result<ChainSpec, Mismatch> {
    let network = match text(scenario, "network")? {
        "main" => "mainnet",
        name => name,
    };
    ChainSpec::by_name(network).map_err(|error| Mismatch::broken("network", error))
}

pub(crate) fn rules_of(file: &Value, step: &Value) -> Result<Rules, Mismatch> {
    let active = items(&file["ruleSets"][text(step, "rules")?]).filter_map(Value::as_str);
    Ok(active.filter_map(Rule::by_name).collect())
}

/// Returns the network with these rules active from block 0 on.
fn with_rules(spec: &ChainSpec, rules: Rules) -> ChainSpec {
    Rule::ALL.iter().fold(spec.clone(), |spec, rule| {
        let height = rules.is_active(*rule).then_some(0);
        if spec.height(*rule) == height { spec } else { spec.with_rule_height(*rule, height) }
    })
}

fn env_of(step: &Value) -> Result<BlockEnv, Mismatch> {
    let block = &step["block"];
    Ok(BlockEnv {
        number: small_at(block, "number")?,
        timestamp: small_at(block, "timestamp")?,
        coinbase: block["coinbase"].as_str().map_or(Ok(Address::ZERO), address)?,
        difficulty: U256::ZERO,
        gas_limit: small_at(block, "gasLimit")?,
        minimum_gas_price: U256::ZERO,
        parent_hash: B256::ZERO,
    })
}

/// Writes recorded accounts and storage slots of the Bridge.
fn apply_recorded(trie: &mut Trie, accounts: &Value, slots: &Value) -> Verdict {
    let mut delta = StateDelta::default();
    for (name, account) in accounts.as_object().into_iter().flatten() {
        let key = account_key(address(name)?.as_slice());
        if account.is_null() {
            delta.writes.insert(key, None);
            continue;
        }
        let nonce = decimal(text(account, "nonce")?)?.into_raw();
        let state = AccountState { nonce, balance: decimal(text(account, "balance")?)?, flags: 0 };
        if account["contract"] == true {
            delta.writes.insert(mark_key_of(&key), Some(Bytes::from_static(MARK)));
        }
        let code = bytes_at(account, "code")?;
        if !code.is_empty() {
            delta.writes.insert(code_key_of(&key), Some(code));
        }
        delta.writes.insert(key, Some(state.encode()));
    }
    trie.apply(&delta).map_err(|error| Mismatch::broken("recorded accounts", error))?;
    put_slots(trie, BRIDGE, slots)
}

fn put_slots(trie: &mut Trie, account: Address, slots: &Value) -> Verdict {
    let mut delta = StateDelta::default();
    let key = account_key(account.as_slice());
    for (slot, value) in slots.as_object().into_iter().flatten() {
        let value = value.as_str().map(hex_bytes).transpose()?;
        delta.writes.insert(storage_key_of(&key, &B256::from(number(slot)?)), value);
    }
    trie.apply(&delta).map_err(|error| Mismatch::broken("recorded slots", error))
}

fn decimal(text: &str) -> Result<I256, Mismatch> {
    text.parse().map_err(|error| Mismatch::broken(text, error))
}

fn logs_of(expect: &Value) -> Result<Vec<(Vec<B256>, Bytes)>, Mismatch> {
    let log = |log: &Value| {
        let topics = items(&log["topics"]).filter_map(Value::as_str).map(hash).collect::<Result<Vec<_>, _>>()?;
        Ok((topics, bytes_at(log, "data")?))
    };
    items(&expect["logs"]).map(log).collect()
}

fn topics_and_data(logs: &[Log]) -> Vec<(Vec<B256>, Bytes)> {
    logs.iter().map(|log| (log.topics.clone(), log.data.clone())).collect()
}

fn check_root(trie: &Trie, state: State, expect: &Value) -> Verdict {
    let delta = state.into_delta();
    let mut after = trie.clone();
    after.apply(&delta).map_err(|error| Mismatch::broken("state after the step", error))?;
    let changed = || {
        let writes = delta.writes.iter().map(|(key, value)| (hex::encode(key), value.as_ref().map(hex::encode)));
        format!("{:?}", writes.collect::<Vec<_>>())
    };
    let is_same = hash_at(expect, "stateRoot")? == after.root_hash();
    if is_same { Ok(()) } else { Err(Mismatch::broken("state root", changed())) }
}

fn check_call(step: &Value, spec: &ChainSpec, rules: Rules, trie: &Trie) -> Verdict {
    let expect = &step["expect"];
    let kind = text(step, "kind")?;
    let (is_internal, is_local) = (kind == "internal", kind == "local");
    if is_internal && !rules.is_active(Rule::Rskip88) {
        // The machine rejects calls of the Bridge by contracts before the price is computed.
        equal("gas", None, expect["gas"].as_u64())?;
        return Ok(());
    }
    let broken = |error: &dyn std::fmt::Display| Mismatch::broken("state", error);
    let mut state = State::new(Arc::new(trie.clone()));
    let start = state.checkpoint();
    let caller = address_at(step, "sender")?;
    let value = decimal(text(step, "value")?)?;
    let call_scheme = match step["msgType"].as_str() {
        None | Some("CALL") => CallScheme::Call,
        Some("STATICCALL") => CallScheme::StaticCall,
        Some("DELEGATECALL") => CallScheme::DelegateCall,
        Some("CALLCODE") => CallScheme::CallCode,
        Some(other) => return Err(Mismatch::broken("msgType", other)),
    };
    if is_internal {
        let receiver = match call_scheme {
            CallScheme::Call | CallScheme::StaticCall => BRIDGE,
            CallScheme::DelegateCall | CallScheme::CallCode => caller,
        };
        state.transfer(caller, receiver, value).map_err(|error| broken(&error))?;
    }
    let key = bytes_at(step, "senderPublicKey")?;
    let public_key = || (kind == "tx" && !key.is_empty()).then(|| key.to_vec());
    let (env, ancestry) = (env_of(step)?, FixedAncestry::none());
    let (deadline, mut logs) = (Deadline::none(), Vec::new());
    let mut context = PrecompileContext {
        call_depth: u32::from(is_internal),
        is_direct: !is_internal,
        is_local_call: is_local,
        caller,
        value: value.into_raw(),
        call_scheme,
        transaction_hash: hash_at(step, "txHash")?,
        origin_transaction_hash: hash_at(step, if is_internal { "originTxHash" } else { "txHash" })?,
        public_key: &public_key,
        ..PrecompileContext::new(spec, rules, &env, &ancestry, &mut state, &mut logs, &deadline)
    };
    let input = bytes_at(step, "input")?;
    let entry = precompile_at(&BRIDGE, &rules).ok_or_else(|| Mismatch::broken("contract", "none"))?;
    // The local calls of these files are unsigned transactions, which are not free, unlike those of `eth_call`.
    let is_free = kind == "tx" && is_free(spec.network, &rules, &caller);
    let price = if is_free { Ok(0) } else { entry.precompile.required_gas(&input, &mut context) };
    let gas = match price {
        Ok(gas) => Some(gas),
        Err(PrecompileFailure::Fatal(error)) => return Err(Mismatch::broken("execution", error)),
        Err(_) => None,
    };
    equal("gas", expect["gas"].as_u64(), gas)?;
    let result = entry.precompile.run(&input, &mut context);
    drop(context);
    let (status, output) = match result {
        Ok(PrecompileOutput::Output(output)) => ("ok", Some(hex::encode(output))),
        Ok(PrecompileOutput::NoValue) => ("ok", None),
        Err(PrecompileFailure::Fatal(error)) => return Err(Mismatch::broken("execution", error)),
        Err(_) => ("error", None),
    };
    equal("status", text(expect, "status")?, status)?;
    let expected = expect["output"].as_str().map(|text| text.trim_start_matches("0x").to_owned());
    equal("output", expected, output)?;
    equal("logs", logs_of(expect)?, topics_and_data(&logs))?;
    match (is_internal, status) {
        (true, "error") => state.revert(start),
        (false, "ok") if !is_local => state.transfer(caller, BRIDGE, value).map_err(|error| broken(&error))?,
        _ => {}
    }
    if is_local {
        state.revert(start);
    }
    check_root(trie, state, expect)?;
    Ok(())
}

fn check_transaction(step: &Value, spec: &ChainSpec, trie: &Trie) -> Verdict {
    let expect = &step["expect"];
    let (env, ancestry) = (env_of(step)?, FixedAncestry::none());
    let transaction = Transaction::decode(&bytes_at(step, "raw")?).map_err(|error| Mismatch::broken("raw", error))?;
    equal("hash", hash_at(step, "txHash")?, transaction.hash())?;
    let reader = Arc::new(trie.clone());
    let mut sublist = SublistState { gas_limit: env.gas_limit, ..SublistState::default() };
    let mut executor = BlockExecutor::new(spec, env, reader.clone(), &ancestry)
        .map_err(|error| Mismatch::broken("execution", error))?
        .with_fee_payment(FeePayment::Immediate);
    match executor.execute_in(&transaction, address_at(step, "sender")?, false, &mut sublist) {
        Err(ExecError::Refused { .. }) => equal("executed", expect["executed"] == true, false)?,
        Err(error) => return Err(Mismatch::broken("execution", error)),
        Ok(outcome) => {
            equal("executed", expect["executed"] == true, true)?;
            equal("status", expect["status"].as_u64(), Some(u64::from(outcome.success)))?;
            equal("gas used", expect["gasUsed"].as_u64(), Some(outcome.gas_used))?;
            equal("output", bytes_at(expect, "output")?, outcome.output)?;
            equal("logs", logs_of(expect)?, topics_and_data(&outcome.logs))?;
        }
    }
    let state = std::mem::replace(executor.state(), State::new(reader));
    check_root(trie, state, expect)?;
    Ok(())
}
