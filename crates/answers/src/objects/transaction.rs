//! Transaction objects.

use crate::json::JsonWriter;
use crate::options::{SignatureForm, TransactionForm};
use rhizome_primitives::{Address, B256, Transaction, U256};

/// Position of a mined transaction.
#[derive(Debug, Clone, Copy)]
pub struct MinedPosition {
    /// Hash of the block.
    pub block_hash: B256,
    /// Height of the block.
    pub block_number: u64,
    /// Position in the block.
    pub index: u64,
}

/// Writes a transaction. Without a position it is pending: the members of the block are null.
pub fn write(
    json: &mut JsonWriter,
    transaction: &Transaction,
    sender: &Address,
    position: Option<&MinedPosition>,
    form: TransactionForm,
) {
    write_with_input(json, transaction, sender, position, form, transaction.data());
}

/// Does the same as [`write`] with another `input`.
pub(crate) fn write_with_input(
    json: &mut JsonWriter,
    transaction: &Transaction,
    sender: &Address,
    position: Option<&MinedPosition>,
    form: TransactionForm,
    input: &[u8],
) {
    json.begin_object();
    json.key("hash").hash(&transaction.hash());
    json.key("nonce").quantity_wide(&transaction.nonce());
    if let Some(position) = position {
        json.key("blockHash").hash(&position.block_hash);
        json.key("blockNumber").quantity(position.block_number);
        json.key("transactionIndex").quantity(position.index);
    } else {
        json.key("blockHash").null();
        json.key("blockNumber").null();
        json.key("transactionIndex").null();
    }
    json.key("from").data(sender.as_slice());
    write_recipient(json, transaction);
    json.key("gas").quantity_bytes(transaction.gas_limit_bytes());
    json.key("gasPrice").quantity_wide(&transaction.gas_price());
    json.key("value").quantity_wide(&transaction.value());
    json.key("input").data(input);
    write_signature(json, transaction, form);
    json.key("type").quantity(0);
    json.end_object();
}

/// Writes the member `to`: null for a creation.
pub fn write_recipient(json: &mut JsonWriter, transaction: &Transaction) {
    match transaction.to() {
        Some(address) => json.key("to").data(address.as_slice()),
        None => json.key("to").null(),
    }
}

/// The REMASC transaction has no signature: all three members are `0x0`, or null.
fn write_signature(json: &mut JsonWriter, transaction: &Transaction, form: TransactionForm) {
    if !transaction.is_signed() {
        for name in ["v", "r", "s"] {
            if form.has_zero_signature {
                json.key(name).quantity(0);
            } else {
                json.key(name).null();
            }
        }
        return;
    }
    json.key("v").quantity(u64::from(transaction.encoded_v()));
    write_component(json.key("r"), &transaction.r(), form.signature);
    write_component(json.key("s"), &transaction.s(), form.signature);
}

fn write_component(json: &mut JsonWriter, value: &U256, form: SignatureForm) {
    match form {
        SignatureForm::Word => json.word(value),
        SignatureForm::Quantity => json.quantity_wide(value),
    }
}
