//! Writes the accounts that an execution touched, as the `prestateTracer` of geth does.

use super::options::TraceOptions;
use crate::json::JsonWriter;
use rhizome_evm::tracing::{AccountChange, AccountView, SlotChange};
use rhizome_primitives::{I256, U256};

/// Writes the state before, or in diff mode what changed.
pub fn write(json: &mut JsonWriter, changes: &[AccountChange], options: &TraceOptions) {
    if options.is_diff {
        return write_diff(json, changes, options);
    }
    json.begin_object();
    for change in changes {
        let Some(before) = &change.before else { continue };
        json.data_key(change.address.as_slice()).begin_object();
        write_view(json, before, options);
        if !options.hides_storage {
            write_storage(json, change.slots.iter().map(|cell| (&cell.slot, &cell.before)));
        }
        json.end_object();
    }
    json.end_object();
}

/// `pre` holds what changed as it was, `post` only the members that are different.
fn write_diff(json: &mut JsonWriter, changes: &[AccountChange], options: &TraceOptions) {
    let changed: Vec<&AccountChange> = changes.iter().filter(|change| has_changed(change)).collect();
    json.begin_object();
    json.key("post").begin_object();
    for change in &changed {
        let Some(after) = &change.after else { continue };
        let before = change.before.clone().unwrap_or_default();
        json.data_key(change.address.as_slice()).begin_object();
        if after.balance != before.balance {
            json.key("balance").quantity_wide(&amount(after.balance));
        }
        if after.nonce != before.nonce {
            json.key("nonce").number(after.nonce.saturating_to());
        }
        if after.code != before.code && !options.hides_code {
            json.key("code").data(&after.code);
        }
        if !options.hides_storage {
            write_storage(json, present(differing(&change.slots).map(|cell| (&cell.slot, &cell.after))));
        }
        json.end_object();
    }
    json.end_object();
    json.key("pre").begin_object();
    for change in &changed {
        let Some(before) = &change.before else { continue };
        json.data_key(change.address.as_slice()).begin_object();
        write_view(json, before, options);
        if !options.hides_storage {
            write_storage(json, present(differing(&change.slots).map(|cell| (&cell.slot, &cell.before))));
        }
        json.end_object();
    }
    json.end_object();
    json.end_object();
}

fn has_changed(change: &AccountChange) -> bool {
    change.before != change.after || differing(&change.slots).next().is_some()
}

fn differing(cells: &[SlotChange]) -> impl Iterator<Item = &SlotChange> {
    cells.iter().filter(|cell| cell.before != cell.after)
}

/// Writes the members of an account. Empty members except the balance are omitted.
fn write_view(json: &mut JsonWriter, view: &AccountView, options: &TraceOptions) {
    json.key("balance").quantity_wide(&amount(view.balance));
    if !view.nonce.is_zero() {
        json.key("nonce").number(view.nonce.saturating_to());
    }
    if !view.code.is_empty() && !options.hides_code {
        json.key("code").data(&view.code);
    }
}

/// Returns the slots that are not zero.
fn present<'c>(cells: impl Iterator<Item = (&'c U256, &'c U256)>) -> impl Iterator<Item = (&'c U256, &'c U256)> {
    cells.filter(|(_, word)| !word.is_zero())
}

/// Writes the storage. The member is omitted if there are no slots.
fn write_storage<'c>(json: &mut JsonWriter, cells: impl Iterator<Item = (&'c U256, &'c U256)>) {
    let mut cells = cells.peekable();
    if cells.peek().is_none() {
        return;
    }
    json.key("storage").begin_object();
    for (slot, word) in cells {
        json.data_key(&slot.to_be_bytes::<32>()).word(word);
    }
    json.end_object();
}

/// Returns the balance; zero if it is negative. Senders of calls may have negative balances.
pub(super) fn amount(balance: I256) -> U256 {
    if balance.is_negative() { U256::ZERO } else { balance.into_raw() }
}
