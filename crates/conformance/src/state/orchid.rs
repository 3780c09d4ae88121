//! `orchid-state.json`: state roots in the Orchid format.

use std::sync::Arc;

use rhizome_primitives::{B256, I256, U256};
use rhizome_trie::keys::{MARK, account_key, code_key_of, mark_key_of, storage_key_of};
use rhizome_trie::{AccountState, MemoryNodes, StateDelta, Trie, orchid_state_root};
use serde_json::Value;

use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for case in json.member("cases")?.items()? {
        report.case(case.member("name")?.text()?, || check_case(case));
    }
    Ok(())
}

fn check_case(case: &Value) -> CaseResult {
    let mut delta = StateDelta::default();
    for account in case.member("accounts")?.items()? {
        add_account(&mut delta, account)?;
    }
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    trie.apply(&delta).map_err(|error| broken("apply", error))?;
    equal("unitrieRoot", case.member("unitrieRoot")?.parsed()?, trie.root_hash())?;
    let orchid = orchid_state_root(&trie).map_err(|error| broken("old root", error))?;
    // The Orchid root commits to the storage roots and account encodings.
    equal("orchidStateRoot", case.member("orchidStateRoot")?.parsed()?, orchid)
}

fn add_account(delta: &mut StateDelta, account: &Value) -> Result<(), CaseFailure> {
    let key = account_key(&account.member("addr")?.bytes()?);
    if account.member("contract")?.boolean()? {
        delta.writes.insert(mark_key_of(&key), Some(MARK.to_vec().into()));
    }
    if let Some(code) = account.optional("code") {
        delta.writes.insert(code_key_of(&key), Some(code.bytes()?.into()));
    }
    for entry in account.member("storage")?.items()? {
        if let [slot, stored] = entry.items()? {
            let slot = B256::left_padding_from(&slot.bytes()?);
            delta.writes.insert(storage_key_of(&key, &slot), Some(stored.bytes()?.into()));
        }
    }
    let state = AccountState {
        nonce: account.member("nonce")?.parsed::<U256>()?,
        balance: account.member("balance")?.parsed::<I256>()?,
        flags: 0,
    };
    delta.writes.insert(key, Some(state.encode()));
    Ok(())
}
