//! `genesis.json` and `activation.json`: genesis blocks, and the accounts of precompiles.

use std::sync::Arc;

use rhizome_primitives::{Address, B256, ChainSpec, GenesisAccount, GenesisSpec, U256, hex, keccak256};
use rhizome_trie::genesis::alloc_delta;
use rhizome_trie::{MemoryNodes, SetUpMode, Trie, activation_delta, genesis, orchid_state_root, set_ups};
use serde_json::Value;

use super::tries::{check_entries, trie_of};
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check_genesis(json: &Value, report: &mut SuiteReport) -> CaseResult {
    let networks = json.member("networks")?.as_object().into_iter().flatten();
    for (name, network) in networks {
        report.case(name, || check_network(name, network));
        if network.optional("rules").is_none() {
            // The built-in specification of the network must agree with the file.
            report.case(&format!("{name}, built in"), || check_built_in(name, network));
        }
    }
    Ok(())
}

fn spec_of(name: &str) -> Result<ChainSpec, CaseFailure> {
    ChainSpec::by_name(name).map_err(|error| broken("chain specification", error))
}

fn check_built_in(name: &str, network: &Value) -> CaseResult {
    let (block, _) = genesis(&spec_of(name)?, Arc::new(MemoryNodes::default())).map_err(|e| broken("genesis", e))?;
    equal("hash", network.member("hash")?.parsed()?, block.hash())
}

fn check_network(name: &str, network: &Value) -> CaseResult {
    let rules = network.optional("rules").map_or(Ok(name), VectorFields::text)?;
    let mut spec = spec_of(rules)?;
    spec.genesis = genesis_spec(network)?;
    let source = Arc::new(MemoryNodes::default());
    let mut alloc = Trie::empty(source.clone());
    let delta = alloc_delta(&spec).map_err(|error| broken("alloc", error))?;
    alloc.apply(&delta).map_err(|error| broken("alloc", error))?;
    equal("unitrieRootAllocOnly", network.member("unitrieRootAllocOnly")?.parsed()?, alloc.root_hash())?;
    let orchid = orchid_state_root(&alloc).map_err(|error| broken("old root", error))?;
    equal("orchidRootAllocOnly", network.member("orchidRootAllocOnly")?.parsed()?, orchid)?;
    let expected = addresses(network.member("precompilesSetUp")?)?;
    let set_up: Vec<_> = set_ups(&spec, 0).into_iter().map(|(address, _)| address).collect();
    equal("precompilesSetUp", sorted(expected), sorted(set_up))?;

    let (block, trie) = genesis(&spec, source).map_err(|error| broken("genesis", error))?;
    check_entries("stateEntries", network.member("stateEntries")?, &trie)?;
    equal("unitrieRoot", network.member("unitrieRoot")?.parsed()?, trie.root_hash())?;
    let header = &block.header;
    let same_bytes =
        |what: &str, got: &[u8]| equal(what, hex::encode(network.member(what)?.bytes()?), hex::encode(got));
    same_bytes("headerStateRoot", &header.state_root)?;
    same_bytes("headerRlp", &header.encode())?;
    same_bytes("headerRlpForHash", &header.encode_for_hash())?;
    equal("hash", network.member("hash")?.parsed()?, block.hash())?;
    equal("hash of headerRlpForHash", keccak256(header.encode_for_hash()), block.hash())
}

fn genesis_spec(network: &Value) -> Result<GenesisSpec, CaseFailure> {
    let header = network.member("header")?;
    let bytes = |name: &str| header.member(name)?.bytes();
    let number = |name: &str| Ok::<_, CaseFailure>(U256::from_be_slice(&bytes(name)?));
    let low = |name: &str| Ok::<_, CaseFailure>(number(name)?.saturating_to::<u64>());
    Ok(GenesisSpec {
        alloc: network.member("alloc")?.items()?.iter().map(account).collect::<Result<_, _>>()?,
        parent_hash: header.member("parentHash")?.parsed()?,
        coinbase: header.member("coinbase")?.parsed()?,
        difficulty: bytes("difficulty")?.into(),
        gas_limit: low("gasLimit")?,
        timestamp: low("timestamp")?,
        extra_data: bytes("extraData")?.into(),
        minimum_gas_price: number("minimumGasPrice")?.try_into().ok(),
        bitcoin_header: bytes("bitcoinMergedMiningHeader")?.into(),
        merkle_proof: bytes("bitcoinMergedMiningMerkleProof")?.into(),
        bitcoin_coinbase: bytes("bitcoinMergedMiningCoinbaseTransaction")?.into(),
        state_root: header.optional("stateRoot").map(VectorFields::parsed).transpose()?,
        expected_hash: None,
    })
}

fn account(account: &Value) -> Result<GenesisAccount, CaseFailure> {
    let mut storage = Vec::new();
    for entry in account.member("storage")?.items()? {
        if let [slot, bytes] = entry.items()? {
            storage.push((B256::left_padding_from(&slot.bytes()?), bytes.bytes()?.into()));
        }
    }
    Ok(GenesisAccount {
        address: account.member("address")?.parsed()?,
        balance: account.member("balance")?.parsed()?,
        nonce: account.member("nonce")?.parsed()?,
        code: account.optional("code").map(VectorFields::bytes).transpose()?.map(Into::into),
        storage,
    })
}

fn addresses(list: &Value) -> Result<Vec<Address>, CaseFailure> {
    list.items()?.iter().map(VectorFields::parsed).collect()
}

fn sorted(mut addresses: Vec<Address>) -> Vec<Address> {
    addresses.sort_unstable();
    addresses
}

pub(crate) fn check_activations(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for case in json.member("cases")?.items()? {
        let name = format!("{} {}", case.member("network")?.text()?, case.member("height")?.number()?);
        report.case(&name, || check_activation(case));
    }
    Ok(())
}

fn check_activation(case: &Value) -> CaseResult {
    let spec = spec_of(case.member("network")?.text()?)?;
    let height = case.member("height")?.number()?;
    for (field, wanted) in [("ensure", SetUpMode::Keep), ("create", SetUpMode::Overwrite)] {
        let set_up = set_ups(&spec, height).into_iter().filter(|(_, mode)| *mode == wanted);
        let set_up = set_up.map(|(address, _)| address).collect();
        equal(field, sorted(addresses(case.member(field)?)?), sorted(set_up))?;
    }
    let mut trie = trie_of(case.member("before")?)?;
    equal("rootBefore", case.member("rootBefore")?.parsed()?, trie.root_hash())?;
    let delta = activation_delta(&spec, height, &trie).map_err(|error| broken("activation", error))?;
    trie.apply(&delta).map_err(|error| broken("apply", error))?;
    check_entries("after", case.member("after")?, &trie)?;
    equal("root", case.member("root")?.parsed()?, trie.root_hash())
}
