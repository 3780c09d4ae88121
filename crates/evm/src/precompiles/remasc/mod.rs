//! REMASC (0x01000008): distributes the fees of the block that matures. The last transaction of each block calls it.

mod distribution;
mod slots;

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use crate::block_env::{AncestorBlock, AncestryError};
use crate::precompiles::bridge::federators;
use distribution::{Candidate, Distribution, OutOfRange, RewardRound, Sibling};
use rhizome_primitives::abi;
use rhizome_primitives::{B256, Bytes, Header, I256, Log, REMASC, Rule, b256, rlp};
use rhizome_trie::StateError;
use std::sync::Arc;

/// `processMinersFees()`
const PROCESS_MINERS_FEES: [u8; 4] = [0xbe, 0x02, 0x1a, 0x58];
/// `getStateForDebugging() returns (bytes)`
const GET_STATE_FOR_DEBUGGING: [u8; 4] = [0x0d, 0x0c, 0xee, 0x93];
/// `mining_fee_topic` in ASCII, right aligned.
const PAYMENT_TOPIC: B256 = b256!("000000000000000000000000000000006d696e696e675f6665655f746f706963");

pub(super) struct RemascPrecompile;

impl Precompile for RemascPrecompile {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(0)
    }

    fn run(&self, input: &[u8], ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let output = if input.is_empty() || input == PROCESS_MINERS_FEES {
            if !(ctx.is_remasc_transaction && ctx.is_direct) {
                return Err(PrecompileFailure::Failed);
            }
            process_miners_fees(ctx)?;
            Bytes::new()
        } else if input == GET_STATE_FOR_DEBUGGING {
            state_for_debugging(ctx)?
        } else {
            return Err(PrecompileFailure::Failed);
        };
        // Each execution writes this slot, also a static call.
        slots::write_siblings(ctx.state)?;
        Ok(PrecompileOutput::Output(output))
    }
}

/// Encodes `[reward balance, burned balance, empty list, flag]`. The flag is a raw byte.
fn state_for_debugging(ctx: &mut PrecompileContext<'_>) -> Result<Bytes, StateError> {
    let balances = slots::read(ctx.state)?;
    let mut items = Vec::new();
    rlp::put_value(&mut items, &balances.reward);
    rlp::put_value(&mut items, &balances.burned);
    items.extend([0xc0, u8::from(balances.is_rule_broken)]);
    Ok(abi::encode_bytes(&rlp::list(&items)))
}

fn process_miners_fees(ctx: &mut PrecompileContext<'_>) -> Result<(), PrecompileFailure> {
    let params = &ctx.spec.remasc;
    let Some(height) = ctx.env.number.checked_sub(params.maturity).filter(|height| *height > 0) else {
        return Ok(());
    };
    let rewarded = ancestor(ctx, height)?;
    let siblings = siblings(ctx, height)?;
    let is_labs_moved = ctx.rules.is_active(Rule::Rskip218);
    let federators = federators(ctx, height)?;
    let round = RewardRound {
        params,
        has_minimum_payments: ctx.rules.is_active(Rule::Rskip85),
        beneficiary: if is_labs_moved { params.labs_address_rskip218 } else { params.labs_address },
        federators: &federators,
        minimum_gas_price: ctx.env.minimum_gas_price,
        height,
        rewarded: candidate(rewarded.hash, &rewarded.header),
        siblings: &siblings,
        before: slots::read(ctx.state)?,
    };
    match round.distribute() {
        Ok(distribution) => settle(ctx, rewarded.hash, &distribution),
        Err(OutOfRange) => Err(PrecompileFailure::Failed),
    }
}

/// Returns the uncles at the height of the rewarded block that its descendants have included.
fn siblings(ctx: &PrecompileContext<'_>, height: u64) -> Result<Vec<Sibling>, PrecompileFailure> {
    let mut siblings = Vec::new();
    for included_at in height + 1..=height.saturating_add(ctx.spec.constants.uncle_generation_limit) {
        let block = ancestor(ctx, included_at)?;
        let publisher = block.header.coinbase.into();
        let found = block.uncles.iter().filter(|uncle| uncle.number == height);
        siblings.extend(found.map(|uncle| Sibling { block: candidate(uncle.hash(), uncle), included_at, publisher }));
    }
    Ok(siblings)
}

fn candidate(hash: B256, header: &Header) -> Candidate {
    Candidate { hash, coinbase: header.coinbase.into(), paid_fees: header.paid_fees, uncle_count: header.uncle_count }
}

/// Returns an ancestor that the distribution needs.
fn ancestor(ctx: &PrecompileContext<'_>, number: u64) -> Result<Arc<AncestorBlock>, AncestryError> {
    let missing = || AncestryError { number, reason: Box::new(MissingAncestor) };
    ctx.ancestry.ancestor(number)?.ok_or_else(missing)
}

#[derive(Debug, thiserror::Error)]
#[error("there is no such block")]
struct MissingAncestor;

/// Transfers the payments, emits their logs and writes the balances.
fn settle(ctx: &mut PrecompileContext<'_>, rewarded: B256, result: &Distribution) -> Result<(), PrecompileFailure> {
    for (to, value) in &result.payments {
        let amount = I256::try_from(*value).ok().ok_or(PrecompileFailure::Failed)?;
        ctx.state.transfer(REMASC, *to, amount)?;
        let mut items = Vec::new();
        rlp::put_bytes(&mut items, rewarded.as_slice());
        rlp::put_value(&mut items, value);
        let topics = vec![PAYMENT_TOPIC, to.address().into_word()];
        ctx.logs.push(Log { address: REMASC, topics, data: rlp::list(&items).into() });
    }
    slots::write(ctx.state, result)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ExecError;
    use crate::precompiles::golden::{self, FixedAncestry};
    use crate::state::AccountId;
    use rhizome_primitives::{Address, BRIDGE, ChainSpec, Rules, address, hex};
    use serde_json::Value;

    fn run(
        case: &Value,
        chains: &Value,
        input: &[u8],
    ) -> (Result<PrecompileOutput, PrecompileFailure>, crate::State, Vec<Log>) {
        let spec = golden::spec_of(case);
        let chain = case["chain"].as_str().map(|name| &chains[name]);
        let (env, ancestry) = (golden::env(&case["env"]), FixedAncestry::new(chain, &spec));
        let (mut state, mut logs) = (golden::state_of(&case["pre"]), Vec::new());
        let rules = golden::rules(case["fork"].as_str().unwrap());
        let mut ctx = golden::context(&spec, rules, &env, &ancestry, &mut state, &mut logs);
        ctx.is_remasc_transaction = true;
        ctx.is_direct = true;
        let result = RemascPrecompile.run(input, &mut ctx);
        (result, state, logs)
    }

    #[test]
    fn replays_the_golden_cases() {
        let file = golden::load("remasc");
        let mut replayed = 0;
        for case in file["cases"].as_array().unwrap() {
            let (name, expect) = (&case["name"], &case["expect"]);
            if expect["executed"] == false {
                continue;
            }
            let (result, mut state, logs) = run(case, &file["chains"], &[]);
            assert_eq!(result.unwrap(), PrecompileOutput::Output(Bytes::new()), "{name}");
            let written: Vec<String> = logs.iter().map(|log| format!("{:?} {}", log.topics, log.data)).collect();
            let expected: Vec<String> = expect["logs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|log| {
                    let topics = log["topics"].as_array().unwrap().iter();
                    let topics: Vec<B256> = topics.map(|topic| topic.as_str().unwrap().parse().unwrap()).collect();
                    format!("{topics:?} {}", log["data"].as_str().unwrap())
                })
                .collect();
            assert_eq!(written, expected, "{name}: payments");
            for (address, account) in expect["post"].as_object().unwrap() {
                let Ok(address) = address.parse::<Address>() else { continue };
                let balance = state.balance(address).unwrap();
                assert_eq!(balance.into_raw(), golden::number_at(account, "balance"), "{name}: balance of {address}");
            }
            let slots = &expect["post"][REMASC.to_string().to_lowercase()]["storage"];
            for slot_name in ["rewardBalance", "burnedBalance", "federationBalance", "brokenSelectionRule", "siblings"]
            {
                let slot = rhizome_primitives::U256::from_be_slice(slot_name.as_bytes());
                let stored = state.storage_bytes(REMASC, &slot).unwrap().map(hex::encode_prefixed);
                let expected = slots[hex::encode_prefixed(slot_name)].as_str().map(str::to_owned);
                assert_eq!(stored, expected, "{name}: {slot_name}");
            }
            replayed += 1;
        }
        assert_eq!(replayed, 74);
    }

    #[test]
    fn rejects_calls_outside_of_the_remasc_transaction() {
        let spec = ChainSpec::regtest();
        let env = golden::env(&golden::load("remasc")["cases"][0]["env"]);
        let ancestry = FixedAncestry::new(None, &spec);
        for (is_remasc_transaction, is_direct) in [(false, false), (false, true), (true, false)] {
            let (mut state, mut logs) = (golden::state_of(&serde_json::json!({})), Vec::new());
            let mut ctx = golden::context(&spec, Rules::all(), &env, &ancestry, &mut state, &mut logs);
            ctx.is_remasc_transaction = is_remasc_transaction;
            ctx.is_direct = is_direct;
            for input in [&[][..], &PROCESS_MINERS_FEES, &[0; 4], &[0; 3]] {
                assert!(matches!(RemascPrecompile.run(input, &mut ctx), Err(PrecompileFailure::Failed)));
            }
            assert!(RemascPrecompile.run(&GET_STATE_FOR_DEBUGGING, &mut ctx).is_ok());
        }
    }

    #[test]
    fn fails_without_an_ancestor() {
        let file = golden::load("remasc");
        let is_payment = |case: &&Value| case["name"] == "remasc-payment/vetiver900";
        let case = file["cases"].as_array().unwrap().iter().find(is_payment).unwrap();
        let (result, ..) = run(case, &serde_json::json!({}), &[]);
        assert!(matches!(result, Err(PrecompileFailure::Fatal(ExecError::Ancestry(_)))));
    }

    #[test]
    fn pays_the_null_address_for_a_header_without_coinbase() {
        let file = golden::load("remasc");
        let is_payment = |case: &&Value| case["name"] == "remasc-payment/vetiver900";
        let case = file["cases"].as_array().unwrap().iter().find(is_payment).unwrap();
        let name = case["chain"].as_str().unwrap();
        let (_, mut before, _) = run(case, &file["chains"], &[]);
        assert_eq!(before.account(AccountId::Null).unwrap(), None);
        let mut chains = file["chains"].clone();
        for block in chains[name].as_array_mut().unwrap() {
            block["coinbase"] = Value::Null;
        }
        let (result, mut state, logs) = run(case, &chains, &[]);
        result.unwrap();
        let paid = logs.iter().filter(|log| log.topics[1] == B256::ZERO).count();
        assert!(paid > 0 && state.balance(AccountId::Null).unwrap().is_positive());
        assert!(!state.exists(Address::ZERO).unwrap());
    }

    #[test]
    fn pays_the_federation_of_the_rewarded_block() {
        let file = golden::load("remasc");
        let is_payment = |case: &&Value| case["name"] == "remasc-payment/vetiver900";
        let mut case = file["cases"].as_array().unwrap().iter().find(is_payment).unwrap().clone();
        // One member, with different keys for Bitcoin and Rootstock.
        let bitcoin = "02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1";
        let rsk = "0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124";
        let member = format!("b868f866a1{bitcoin}a1{rsk}a1{bitcoin}");
        let federation = format!("0xf86e0101f86a{member}");
        let names = [("newFederation", federation.as_str()), ("newFederationFormatVersion", "0x8203e8")];
        let slots: serde_json::Map<String, Value> =
            names.iter().map(|(name, value)| (hex::encode_prefixed(name), Value::from(*value))).collect();
        case["pre"][BRIDGE.to_string().to_lowercase()] = serde_json::json!({ "storage": slots });
        let (result, _, logs) = run(&case, &file["chains"], &[]);
        result.unwrap();
        let receivers: Vec<B256> = logs.iter().filter_map(|log| log.topics.get(1).copied()).collect();
        let federator = address!("85845342b0d5260d516d6da5280a7df9a96d1925").into_word();
        assert!(receivers.contains(&federator), "{receivers:?}");
    }
}
