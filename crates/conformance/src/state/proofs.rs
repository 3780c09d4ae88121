//! `proofs.json`: proofs of presence and absence.

use rhizome_primitives::{B256, Bytes, EMPTY_ROOT, hex, keccak256};
use rhizome_trie::keys::{account_key, mark_key_of, storage_key_of};
use rhizome_trie::{ProofOutcome, Trie, verify};
use serde_json::Value;

use super::tries::trie_of;
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

/// Number of key bits above a storage root: the account key and the bit that selects storage.
const STORAGE_ROOT_BIT: usize = 249;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for case in json.member("cases")?.items()? {
        let name = case.member("name")?.text()?;
        let trie = trie_of(case.member("entries")?)?;
        report.case(&format!("{name}: root"), || equal("root", case.member("root")?.parsed()?, trie.root_hash()));
        for proof in case.optional("proofs").map_or(Ok(&[][..]), VectorFields::items)? {
            let key = proof.member("key")?.text()?;
            report.case(&format!("{name}: key {key}"), || check_proof(&trie, proof).map(drop));
        }
        for account in case.optional("accounts").map_or(Ok(&[][..]), VectorFields::items)? {
            let address = account.member("address")?.text()?;
            report.case(&format!("{name}: account {address}"), || check_account(&trie, account));
        }
    }
    Ok(())
}

/// Checks a proof and returns its outcome.
fn check_proof(trie: &Trie, proof: &Value) -> Result<ProofOutcome, CaseFailure> {
    let key = proof.member("key")?.bytes()?;
    let mut expected = messages(proof)?;
    let found = trie.get_nodes(&key).map_err(|error| broken("getNodes", error))?;
    let wanted = proof.member("getNodes")?.boolean()?.then(|| expected.clone());
    equal("getNodes", in_hex(wanted), in_hex(found))?;
    expected.reverse();
    let proved = trie.prove(&key).map_err(|error| broken("prove", error))?;
    equal("nodes", in_hex(Some(expected)), in_hex(Some(proved.clone())))?;
    check_verification(trie.root_hash(), &key, 0, &proved, proof)
}

fn check_verification(
    root: B256,
    key: &[u8],
    first_bit: usize,
    nodes: &[Bytes],
    proof: &Value,
) -> Result<ProofOutcome, CaseFailure> {
    let value = proof.optional("value").map(VectorFields::bytes).transpose()?;
    let wanted = match value {
        None => ProofOutcome::Absent,
        Some(value) if value.len() > 32 => ProofOutcome::LongValue { hash: keccak256(&value), length: value.len() },
        Some(value) => ProofOutcome::Value(value.into()),
    };
    equal("proven", Ok(wanted.clone()), verify(root, key, first_bit, nodes))?;
    // A proof is invalid with an element removed, added or changed.
    if let [shorter @ .., last] = nodes {
        let longer = [nodes, std::slice::from_ref(last)].concat();
        let mut changed = last.to_vec();
        if let Some(byte) = changed.last_mut() {
            *byte ^= 1;
        }
        let changed = [shorter, &[changed.into()]].concat();
        for (what, nodes) in [("shorter", shorter), ("longer", &longer), ("changed", &changed)] {
            equal(format!("{what} proof is refused"), true, verify(root, key, first_bit, nodes).is_err())?;
        }
    }
    Ok(wanted)
}

fn check_account(trie: &Trie, account: &Value) -> CaseResult {
    let key = account_key(&account.member("address")?.bytes()?);
    check_proof(trie, account.member("account")?)?;
    if let Some(code) = account.optional("code") {
        check_proof(trie, code)?;
    }
    let top = mark_key_of(&key);
    let root_node = account.optional("storageRootNode").map(VectorFields::bytes).transpose()?;
    let hash = trie.node_hash(&top).map_err(|error| broken("storage root", error))?;
    equal("storageHash", account.member("storageHash")?.parsed()?, hash.unwrap_or(EMPTY_ROOT))?;
    equal("hash of storageRootNode", root_node.as_ref().map(keccak256), hash)?;
    for entry in account.member("storage")?.items()? {
        let slot: B256 = entry.member("slot")?.parsed()?;
        check_slot(trie, &top, &storage_key_of(&key, &slot), hash, entry.member("proof")?)?;
    }
    Ok(())
}

/// Checks the proof of a slot from the state root, and from the storage root.
fn check_slot(trie: &Trie, top: &[u8], key: &[u8], storage_hash: Option<B256>, proof: &Value) -> CaseResult {
    equal("key", hex::encode(proof.member("key")?.bytes()?), hex::encode(key))?;
    check_proof(trie, proof)?;
    let below = trie.prove_below(top, key).map_err(|error| broken("storage proof", error))?;
    equal("a storage proof exists", storage_hash.is_some(), below.is_some())?;
    if let (Some(hash), Some(below)) = (storage_hash, below) {
        check_verification(hash, key, STORAGE_ROOT_BIT, &below, proof)?;
    }
    Ok(())
}

/// Returns the nodes in the order of the file: deepest first.
fn messages(proof: &Value) -> Result<Vec<Bytes>, CaseFailure> {
    proof.member("nodes")?.items()?.iter().map(|node| Ok(node.bytes()?.into())).collect()
}

fn in_hex(nodes: Option<Vec<Bytes>>) -> Option<Vec<String>> {
    nodes.map(|nodes| nodes.iter().map(hex::encode).collect())
}
