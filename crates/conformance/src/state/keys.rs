//! `keys.json`: keys, account values, storage slots.

use rhizome_primitives::{B256, I256, U256, hex};
use rhizome_trie::keys::{
    KeyPart, StateKey, account_key, code_key, decode_slot_value, encode_slot_value, mark_key, storage_key,
};
use rhizome_trie::{AccountState, list_key};
use serde_json::Value;

use crate::report::{CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for account in json.member("accounts")?.items()? {
        let name = format!("account {}", account.member("addr")?.text()?);
        report.case(&name, || check_account(account));
    }
    for slot in json.member("storage")?.items()? {
        let name = format!("slot {} {}", slot.member("addr")?.text()?, slot.member("slot")?.text()?);
        report.case(&name, || check_slot(slot));
    }
    for value in json.member("values")?.items()? {
        let name = format!("word {}", value.member("word")?.text()?);
        report.case(&name, || check_word(value));
    }
    for state in json.member("accountStates")?.items()? {
        let name = format!("account state {}", state.member("rlp")?.text()?);
        report.case(&name, || check_state(state));
    }
    for key in json.member("listIndex")?.items()? {
        let index = key.member("index")?.number()?;
        report.case(&format!("index {index}"), || same_hex("key", key.member("key")?, &list_key(index)));
    }
    Ok(())
}

fn same_hex(what: &str, expected: &Value, got: &[u8]) -> CaseResult {
    equal(what, hex::encode(expected.bytes()?), hex::encode(got))
}

fn check_account(account: &Value) -> CaseResult {
    let address = account.member("addr")?.bytes()?;
    let keys = [
        ("accountKey", account_key(&address), KeyPart::Account),
        ("codeKey", code_key(&address), KeyPart::Code),
        ("storagePrefix", mark_key(&address), KeyPart::Mark),
    ];
    for (name, key, part) in keys {
        if let Some(expected) = account.optional(name) {
            same_hex(name, expected, &key)?;
        }
        equal("key read back", Some(StateKey { address: &address, part }), StateKey::parse(&key))?;
    }
    Ok(())
}

fn check_slot(case: &Value) -> CaseResult {
    let address = case.member("addr")?.bytes()?;
    let slot: B256 = case.member("slot")?.parsed()?;
    let key = storage_key(&address, &slot);
    same_hex("key", case.member("key")?, &key)?;
    let parsed = StateKey { address: &address, part: KeyPart::Slot(slot) };
    equal("key read back", Some(parsed), StateKey::parse(&key))
}

fn check_word(value: &Value) -> CaseResult {
    let word = U256::from_be_slice(&value.member("word")?.bytes()?);
    let stored = encode_slot_value(word);
    let expected = value.optional("stored").map(VectorFields::bytes).transpose()?;
    equal("stored", expected.as_ref().map(hex::encode), stored.as_ref().map(hex::encode))?;
    equal("word read back", Some(word), decode_slot_value(&stored.unwrap_or_default()))
}

fn check_state(state: &Value) -> CaseResult {
    let account = AccountState {
        nonce: state.member("nonce")?.parsed::<U256>()?,
        balance: state.member("balance")?.parsed::<I256>()?,
        flags: state.member("flags")?.number()?,
    };
    let rlp = account.encode();
    same_hex("rlp", state.member("rlp")?, &rlp)?;
    equal("read back", account, AccountState::decode(&rlp).map_err(|error| broken("decode", error))?)
}
