//! Writes state changes in the form of OpenEthereum's `stateDiff`: `"="` for an unchanged value, `{"+": new}`,
//! `{"-": old}` and `{"*": {"from", "to"}}`.

use super::prestate::amount;
use crate::json::JsonWriter;
use rhizome_evm::tracing::{AccountChange, AccountView, SlotChange};
use rhizome_primitives::U256;

/// Writes the accounts that are different, by address.
pub fn write(json: &mut JsonWriter, changes: &[AccountChange]) {
    json.begin_object();
    for change in changes {
        match (&change.before, &change.after) {
            (None, None) => {}
            (None, Some(after)) => one_sided(json, change, after, "+", |cell| cell.after),
            (Some(before), None) => one_sided(json, change, before, "-", |cell| cell.before),
            (Some(before), Some(after)) => both_sided(json, change, before, after),
        }
    }
    json.end_object();
}

/// An account that came or went.
fn one_sided(
    json: &mut JsonWriter,
    change: &AccountChange,
    view: &AccountView,
    sign: &str,
    word: impl Fn(&SlotChange) -> U256,
) {
    json.data_key(change.address.as_slice()).begin_object();
    signed(json, "balance", sign, |json| json.quantity_wide(&amount(view.balance)));
    signed(json, "code", sign, |json| json.data(&view.code));
    signed(json, "nonce", sign, |json| json.quantity_wide(&view.nonce));
    json.key("storage").begin_object();
    for cell in change.slots.iter().filter(|cell| !word(cell).is_zero()) {
        json.data_key(&cell.slot.to_be_bytes::<32>()).begin_object();
        json.key(sign).word(&word(cell));
        json.end_object();
    }
    json.end_object();
    json.end_object();
}

fn signed(json: &mut JsonWriter, name: &str, sign: &str, write: impl FnOnce(&mut JsonWriter)) {
    json.key(name).begin_object();
    json.key(sign);
    write(json);
    json.end_object();
}

fn both_sided(json: &mut JsonWriter, change: &AccountChange, before: &AccountView, after: &AccountView) {
    let cells: Vec<&SlotChange> = change.slots.iter().filter(|cell| cell.before != cell.after).collect();
    if before == after && cells.is_empty() {
        return;
    }
    json.data_key(change.address.as_slice()).begin_object();
    let balances = (amount(before.balance), amount(after.balance));
    moved(json, "balance", balances.0 == balances.1, |json, is_new| {
        json.quantity_wide(if is_new { &balances.1 } else { &balances.0 });
    });
    moved(json, "code", before.code == after.code, |json, is_new| {
        json.data(if is_new { &after.code } else { &before.code });
    });
    moved(json, "nonce", before.nonce == after.nonce, |json, is_new| {
        json.quantity_wide(if is_new { &after.nonce } else { &before.nonce });
    });
    json.key("storage").begin_object();
    for cell in cells {
        json.data_key(&cell.slot.to_be_bytes::<32>()).begin_object();
        json.key("*").begin_object();
        json.key("from").word(&cell.before);
        json.key("to").word(&cell.after);
        json.end_object();
        json.end_object();
    }
    json.end_object();
    json.end_object();
}

fn moved(json: &mut JsonWriter, name: &str, is_same: bool, write: impl Fn(&mut JsonWriter, bool)) {
    json.key(name);
    if is_same {
        return json.text("=");
    }
    json.begin_object();
    json.key("*").begin_object();
    json.key("from");
    write(json, false);
    json.key("to");
    write(json, true);
    json.end_object();
    json.end_object();
}
