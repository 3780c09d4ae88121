//! Loader of chain specifications. A custom specification is merged into the built-in one of its network, and the
//! result is read by the same code.

use super::fields::SpecField;
use super::{ChainConstants, ChainSpec, RemascParams, SpecError, eras};
use crate::genesis::{GenesisAccount, GenesisSpec};
use crate::networks::Network;
use crate::rules::Rule;
use crate::upgrades::Upgrade;
use alloy_primitives::{Address, B256, U256};
use serde_json::Value;

/// Loads a built-in network.
pub(super) fn built_in(network: Network) -> Result<ChainSpec, SpecError> {
    read(network, &serde_json::from_str(network.spec_json())?)
}

/// Loads a custom specification.
pub(super) fn custom(text: &str) -> Result<ChainSpec, SpecError> {
    let mut value: Value = serde_json::from_str(text)?;
    if let Some(spec) = value.get_mut("spec") {
        value = spec.take();
    }
    let root = SpecField::root(&value);
    let name = root.required("network")?;
    let network = name.text()?;
    let network = Network::by_name(network).ok_or_else(|| SpecError::UnknownNetwork { name: network.into() })?;
    let mut merged: Value = serde_json::from_str(network.spec_json())?;
    overlay(&mut merged, &value);
    read(network, &merged)
}

/// Merges a specification into that of its network. Values that describe one particular genesis block are not
/// inherited.
fn overlay(base: &mut Value, over: &Value) {
    if let Some(base) = base.as_object_mut() {
        base.remove("genesisBlock");
        base.remove("checkpoints");
        base.remove("minimumChainDifficulty");
        base.remove("stateRoots");
        if over.get("genesis").is_some_and(|genesis| genesis.get("alloc").is_some())
            && let Some(genesis) = base.get_mut("genesis").and_then(Value::as_object_mut)
        {
            genesis.remove("alloc");
            genesis.remove("stateRoot");
        }
    }
    merge(base, over);
}

fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

fn read(network: Network, value: &Value) -> Result<ChainSpec, SpecError> {
    let root = SpecField::root(value);
    root.allow(&[
        "network",
        "name",
        "chainId",
        "networkId",
        "activationHeights",
        "consensusRules",
        "remasc",
        "constants",
        "genesis",
        "genesisBlock",
        "genesisFile",
        "checkpoints",
        "minimumChainDifficulty",
        "stateRoots",
    ])?;
    let name = match root.optional("name")? {
        Some(name) => name.text()?.to_owned(),
        None => network.name().to_owned(),
    };
    let upgrade_heights = read_upgrades(&root.required("activationHeights")?)?;
    let rule_heights = read_rules(root.optional("consensusRules")?, &upgrade_heights)?;
    Ok(ChainSpec {
        network,
        name,
        chain_id: root.required("chainId")?.positive(109)? as u8,
        network_id: root.required("networkId")?.number(u64::from(u32::MAX), "a whole number below 2^32")? as u32,
        remasc: read_remasc(&root.required("remasc")?)?,
        constants: read_constants(&root.required("constants")?)?,
        genesis: read_genesis(&root.required("genesis")?, root.optional("genesisBlock")?)?,
        checkpoints: read_hashes(root.optional("checkpoints")?)?,
        minimum_chain_difficulty: root
            .optional("minimumChainDifficulty")?
            .map_or(Ok(U256::ZERO), |field| field.amount())?,
        state_roots: read_hashes(root.optional("stateRoots")?)?,
        fork_block: None,
        eras: eras(&rule_heights),
        upgrade_heights,
        rule_heights,
    })
}

/// Reads an object with hashes by block number. An absent one is empty.
fn read_hashes(field: Option<SpecField<'_>>) -> Result<Vec<(u64, B256)>, SpecError> {
    let read = |(number, hash): (&str, SpecField<'_>)| Ok((hash.decimal_key(number)?, hash.hash()?));
    field.map_or_else(|| Ok(Vec::new()), |field| field.members()?.map(read).collect())
}

fn read_upgrades(heights: &SpecField<'_>) -> Result<Vec<(Upgrade, Option<u64>)>, SpecError> {
    for (name, _) in heights.members()? {
        upgrade(&heights.path, name)?;
    }
    Upgrade::ALL.iter().map(|&upgrade| Ok((upgrade, heights.required(upgrade.name())?.height()?))).collect()
}

fn upgrade(path: &str, name: &str) -> Result<Upgrade, SpecError> {
    Upgrade::by_name(name).ok_or_else(|| SpecError::UnknownUpgrade { path: path.into(), name: name.into() })
}

/// Every rule activates with its upgrade, unless the specification states a height or another upgrade.
fn read_rules(
    overrides: Option<SpecField<'_>>,
    upgrade_heights: &[(Upgrade, Option<u64>)],
) -> Result<Vec<Option<u64>>, SpecError> {
    let height_of = |upgrade: Upgrade| {
        upgrade_heights.iter().find(|(candidate, _)| *candidate == upgrade).and_then(|(_, height)| *height)
    };
    let mut heights: Vec<Option<u64>> = Rule::ALL.iter().map(|rule| rule.upgrade().and_then(height_of)).collect();
    let Some(overrides) = overrides else {
        return Ok(heights);
    };
    for (name, field) in overrides.members()? {
        let rule = Rule::by_name(name)
            .ok_or_else(|| SpecError::UnknownRule { path: overrides.path.clone(), name: name.into() })?;
        let height = match field.as_text() {
            Some(upgrade_name) => height_of(upgrade(&field.path, upgrade_name)?),
            None => field.height()?,
        };
        if let Some(slot) = heights.get_mut(rule as usize) {
            *slot = height;
        }
    }
    Ok(heights)
}

fn read_remasc(remasc: &SpecField<'_>) -> Result<RemascParams, SpecError> {
    remasc.allow(&[
        "maturity",
        "syntheticSpan",
        "rskLabsDivisor",
        "punishmentDivisor",
        "publishersDivisor",
        "federationDivisor",
        "lateUncleInclusionPunishmentDivisor",
        "minimumPayableGas",
        "federatorMinimumPayableGas",
        "labsAddress",
        "labsAddressRskip218",
    ])?;
    let positive = |key: &str| remasc.required(key)?.positive(i64::MAX as u64);
    let number = |key: &str| remasc.required(key)?.number(i64::MAX as u64, "a whole number");
    Ok(RemascParams {
        maturity: number("maturity")?,
        synthetic_span: positive("syntheticSpan")?,
        labs_divisor: positive("rskLabsDivisor")?,
        punishment_divisor: positive("punishmentDivisor")?,
        publishers_divisor: positive("publishersDivisor")?,
        federation_divisor: positive("federationDivisor")?,
        late_uncle_inclusion_punishment_divisor: positive("lateUncleInclusionPunishmentDivisor")?,
        minimum_payable_gas: number("minimumPayableGas")?,
        federator_minimum_payable_gas: number("federatorMinimumPayableGas")?,
        labs_address: remasc.required("labsAddress")?.address()?,
        labs_address_rskip218: remasc.required("labsAddressRskip218")?.address()?,
    })
}

fn read_constants(constants: &SpecField<'_>) -> Result<ChainConstants, SpecError> {
    constants.allow(&[
        "durationLimit",
        "minimumDifficulty",
        "minimumDifficultyRskip290",
        "difficultyBoundDivisor",
        "difficultyBoundDivisorAtEnd",
        "fallbackMiningDifficulty",
        "newBlockMaxSecondsInTheFuture",
        "maxTimestampsDiffInSecs",
        "maxTimestampsDiffInSecsRskip297",
        "minSequentialSetGasLimit",
        "minGasLimit",
        "gasLimitBoundDivisor",
        "targetGasLimit",
        "maximumExtraDataSize",
        "uncleListLimit",
        "uncleGenerationLimit",
        "transactionExecutionThreads",
        "forkDetectionBlocks",
    ])?;
    const SMALL: u64 = i32::MAX as u64;
    let required = |key: &str| constants.required(key);
    let number = |key: &str, max: u64| required(key)?.number(max, "a whole number in range");
    let divisor = |key: &str| {
        let field = required(key)?;
        field.positive(i64::MAX as u64)?;
        field.amount()
    };
    Ok(ChainConstants {
        duration_limit: required("durationLimit")?.positive(SMALL)? as u32,
        minimum_difficulty: required("minimumDifficulty")?.amount()?,
        minimum_difficulty_rskip290: match constants.optional("minimumDifficultyRskip290")? {
            Some(field) => Some(field.amount()?),
            None => None,
        },
        difficulty_bound_divisor: divisor("difficultyBoundDivisor")?,
        difficulty_bound_divisor_at_end: divisor("difficultyBoundDivisorAtEnd")?,
        fallback_difficulty: required("fallbackMiningDifficulty")?.amount()?,
        max_seconds_in_future: number("newBlockMaxSecondsInTheFuture", SMALL)?,
        max_seconds_to_bitcoin: number("maxTimestampsDiffInSecs", SMALL)?,
        max_seconds_to_bitcoin_rskip297: number("maxTimestampsDiffInSecsRskip297", SMALL)?,
        min_sequential_gas_limit: number("minSequentialSetGasLimit", i64::MAX as u64)?,
        min_gas_limit: number("minGasLimit", i64::MAX as u64)?,
        gas_limit_bound_divisor: required("gasLimitBoundDivisor")?.positive(SMALL)?,
        target_gas_limit: number("targetGasLimit", i64::MAX as u64)?,
        maximum_extra_data_size: number("maximumExtraDataSize", SMALL)? as usize,
        uncle_list_limit: number("uncleListLimit", SMALL)? as usize,
        uncle_generation_limit: number("uncleGenerationLimit", SMALL)?,
        parallel_sublists: required("transactionExecutionThreads")?.positive(SMALL)? as usize,
        fork_detection_blocks: required("forkDetectionBlocks")?.positive(SMALL)?,
    })
}

fn read_genesis(genesis: &SpecField<'_>, block: Option<SpecField<'_>>) -> Result<GenesisSpec, SpecError> {
    // `nonce` and `mixhash` are unused fields of old genesis files.
    genesis.allow(&[
        "alloc",
        "nonce",
        "mixhash",
        "bitcoinMergedMiningHeader",
        "bitcoinMergedMiningMerkleProof",
        "bitcoinMergedMiningCoinbaseTransaction",
        "timestamp",
        "parentHash",
        "extraData",
        "gasLimit",
        "difficulty",
        "coinbase",
        "minimumGasPrice",
        "stateRoot",
    ])?;
    let required = |key: &str| genesis.required(key);
    let alloc = required("alloc")?;
    Ok(GenesisSpec {
        // The reference skips an entry "00".
        alloc: alloc
            .members()?
            .filter(|(key, _)| *key != "00")
            .map(|(key, field)| read_account(key, &field))
            .collect::<Result<_, _>>()?,
        parent_hash: required("parentHash")?.hash()?,
        coinbase: required("coinbase")?.address()?,
        difficulty: required("difficulty")?.hex_difficulty()?,
        gas_limit: required("gasLimit")?.hex_number()?,
        timestamp: required("timestamp")?.hex_number()?,
        extra_data: required("extraData")?.bytes()?,
        minimum_gas_price: required("minimumGasPrice")?.hex_signed()?,
        bitcoin_header: required("bitcoinMergedMiningHeader")?.bytes()?,
        merkle_proof: required("bitcoinMergedMiningMerkleProof")?.bytes()?,
        bitcoin_coinbase: required("bitcoinMergedMiningCoinbaseTransaction")?.bytes()?,
        state_root: genesis.optional("stateRoot")?.map(|root| root.hash()).transpose()?,
        expected_hash: match block {
            Some(block) => {
                block.allow(&["hash", "stateRoot", "unitrieRoot", "difficulty", "rlp"])?;
                Some(block.required("hash")?.hash()?)
            }
            None => None,
        },
    })
}

fn read_account(key: &str, account: &SpecField<'_>) -> Result<GenesisAccount, SpecError> {
    account.allow(&["balance", "nonce", "contract"])?;
    let contract = account.optional("contract")?;
    let mut storage = Vec::new();
    let mut code = None;
    if let Some(contract) = contract {
        contract.allow(&["code", "data"])?;
        code = Some(contract.required("code")?.bytes()?);
        if let Some(data) = contract.optional("data")? {
            for (slot, value) in data.members()? {
                storage.push((B256::from(left_padded::<32>(slot, &value.path, 1)?), value.bytes()?));
            }
        }
    }
    Ok(GenesisAccount {
        address: Address::from(left_padded::<20>(key, &account.path, 20)?),
        balance: account.required("balance")?.amount()?,
        nonce: match account.optional("nonce")? {
            Some(nonce) => nonce.number(u64::MAX, "a whole number below 2^64")?,
            None => 0,
        },
        code,
        storage,
    })
}

/// Parses a member name as `shortest` to N bytes of hex, padded with zeros on the left.
fn left_padded<const N: usize>(key: &str, path: &str, shortest: usize) -> Result<[u8; N], SpecError> {
    let bytes = alloy_primitives::hex::decode(key).ok().filter(|bytes| (shortest..=N).contains(&bytes.len()));
    let bytes = bytes.ok_or_else(|| SpecError::BadValue {
        path: path.into(),
        expected: if N == 20 { "a key of 20 bytes in hex" } else { "a key of up to 32 bytes in hex" },
        got: key.chars().take(80).collect(),
    })?;
    let mut padded = [0; N];
    padded[N - bytes.len()..].copy_from_slice(&bytes);
    Ok(padded)
}
