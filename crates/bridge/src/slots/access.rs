//! Reads and writes of single storage slots, through the machine that makes the call.

use super::keys::SlotKey;
use crate::error::{MethodFailure, Result};
use rhizome_primitives::{Address, Bytes, I256, Rule, Rules, U256, rlp};
use rhizome_trie::StateError;

/// The account of the Bridge in the state of the executing block.
pub trait Host {
    /// Returns the bytes of a storage slot.
    fn slot(&mut self, key: &U256) -> std::result::Result<Option<Bytes>, StateError>;

    /// Writes a storage slot. An empty value deletes it.
    fn set_slot(&mut self, key: U256, value: Bytes) -> std::result::Result<(), StateError>;

    /// Returns the balance of the Bridge in wei.
    fn balance(&mut self) -> std::result::Result<I256, StateError>;

    /// Moves `wei` from the Bridge to `to`. The balance of the Bridge may become negative.
    fn pay(&mut self, to: Address, wei: U256) -> std::result::Result<(), StateError>;

    /// Moves `wei` back to the caller of a rejected request. Unlike [`Host::pay`], traces do not show it.
    fn refund(&mut self, to: Address, wei: U256) -> std::result::Result<(), StateError> {
        self.pay(to, wei)
    }
}

/// Slots of the Bridge, and the rules that select their formats.
pub(crate) struct SlotAccess<'a> {
    host: &'a mut dyn Host,
    rules: Rules,
}

impl<'a> SlotAccess<'a> {
    pub(crate) fn new(host: &'a mut dyn Host, rules: Rules) -> Self {
        Self { host, rules }
    }

    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.rules.is_active(rule)
    }

    /// Returns the bytes of a slot; `None` if it is absent or empty.
    pub(crate) fn read_word(&mut self, word: &U256) -> Result<Option<Bytes>> {
        Ok(self.host.slot(word)?.filter(|bytes| !bytes.is_empty()))
    }

    /// Writes a slot.
    pub(crate) fn write_word(&mut self, word: U256, value: Vec<u8>) -> Result<()> {
        Ok(self.host.set_slot(word, value.into())?)
    }

    pub(crate) fn read(&mut self, key: &SlotKey) -> Result<Option<Bytes>> {
        self.read_word(&key.word())
    }

    /// Returns the decoded value of a slot; `None` if it is absent or empty. A malformed value, for which `decode` returns
    /// `None`, is a call error, as in the reference.
    pub(crate) fn decoded<T>(&mut self, word: &U256, decode: impl FnOnce(&[u8]) -> Option<T>) -> Result<Option<T>> {
        let Some(bytes) = self.read_word(word)? else { return Ok(None) };
        decode(&bytes).map(Some).ok_or(MethodFailure::Rejected)
    }

    pub(crate) fn write(&mut self, key: &SlotKey, value: Vec<u8>) -> Result<()> {
        self.write_word(key.word(), value)
    }

    /// Returns the RLP integer in a slot.
    pub(crate) fn read_number(&mut self, key: &SlotKey) -> Result<Option<U256>> {
        self.decoded(&key.word(), decode_number)
    }

    /// Returns the RLP integer of 64 bits in a slot.
    pub(crate) fn read_u64_at(&mut self, word: &U256) -> Result<Option<u64>> {
        self.decoded(word, |bytes| u64::try_from(decode_number(bytes)?).ok())
    }

    /// Returns the balance of the Bridge in wei.
    pub(crate) fn balance(&mut self) -> Result<I256> {
        Ok(self.host.balance()?)
    }

    /// Moves `wei` back to the caller of a rejected request.
    pub(crate) fn refund(&mut self, to: Address, wei: U256) -> Result<()> {
        Ok(self.host.refund(to, wei)?)
    }

    /// Moves `wei` from the Bridge to `to`.
    pub(crate) fn pay(&mut self, to: Address, wei: U256) -> Result<()> {
        Ok(self.host.pay(to, wei)?)
    }
}

/// Returns the elements of a list that fills a slot; `None` if it is malformed.
pub(crate) fn decode_elements(bytes: &[u8]) -> Option<Vec<rlp::Item<'_>>> {
    rlp::decode_list(bytes).ok()?.list("slot").ok()
}

/// Returns the first RLP item of a slot; `None` if the slot is malformed.
pub(crate) fn decode_item(bytes: &[u8]) -> Option<&[u8]> {
    Some(rlp::decode_all(bytes).ok()?.first()?.bytes())
}

/// Returns the RLP integer that fills a slot; `None` if it is malformed.
fn decode_number(bytes: &[u8]) -> Option<U256> {
    match rlp::decode_all(bytes).ok()?.as_slice() {
        [item] => rlp::read_u256(item.bytes(), "slot").ok(),
        _ => None,
    }
}
