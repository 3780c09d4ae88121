//! Slots of which there are many of a kind, each under the hash of its name and id (docs/spec/bridge.md, 3.1 and 3.2).

use super::access::{SlotAccess, decode_elements};
use super::keys::{
    coinbase_word, flyover_federation_word, flyover_used_word, outpoint_values_word, peg_out_index_word, processed_word,
};
use crate::error::{MethodFailure, Result};
use crate::storage::Storage;
use rhizome_bitcoin::Digest;
use rhizome_bitcoin::varint::{put_varint, read_varints};
use rhizome_primitives::{B256, Rule, U256, rlp};
use std::collections::BTreeMap;

/// The value of a mark.
const MARK: u8 = 1;

/// Values that the call has set. The save writes them; a read sees them.
#[derive(Default)]
pub(crate) struct CompoundSlots(BTreeMap<U256, Vec<u8>>);

/// The federation behind a flyover address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlyoverFederation {
    /// The hash that the redeem script of the address begins with.
    pub(crate) derivation: B256,
    /// Hash in the output script of the federation.
    pub(crate) federation_hash: [u8; 20],
}

impl FlyoverFederation {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let items = decode_elements(bytes)?;
        let [derivation, hash] = items.as_slice() else { return None };
        Some(Self { derivation: derivation.bytes().try_into().ok()?, federation_hash: hash.bytes().try_into().ok()? })
    }
}

impl CompoundSlots {
    /// Writes the values that the call has set.
    pub(crate) fn save(self, slots: &mut SlotAccess<'_>) -> Result<()> {
        self.0.into_iter().try_for_each(|(word, value)| slots.write_word(word, value))
    }
}

impl Storage<'_> {
    /// Returns the decoded value of a slot, or the value that the call has set.
    fn compound<T>(&mut self, word: &U256, decode: impl FnOnce(&[u8]) -> Option<T>) -> Result<Option<T>> {
        match self.compound.0.get(word) {
            Some(value) => decode(value).map(Some).ok_or(MethodFailure::Rejected),
            None => self.slots.decoded(word, decode),
        }
    }

    fn has_mark(&mut self, word: &U256) -> Result<bool> {
        Ok(self.compound(word, |value| Some(value == [MARK]))?.unwrap_or_default())
    }

    /// Marks a Bitcoin transaction as processed in the executing block. `id` in display order.
    pub(crate) fn set_processed(&mut self, id: &B256, height: u64) -> Result<()> {
        if !self.slots.has(Rule::Rskip134) {
            self.processed.get_mut(&mut self.slots)?.insert(id.0, height);
            return Ok(());
        }
        let mut value = Vec::new();
        rlp::put_u64(&mut value, height);
        self.compound.0.insert(processed_word(&id.0), value);
        Ok(())
    }

    /// Sets the witness root of a Bitcoin block. `block` in display order.
    pub(crate) fn set_witness_root(&mut self, block: &B256, root: &[u8; 32]) {
        let mut item = Vec::new();
        rlp::put_bytes(&mut item, root);
        self.compound.0.insert(coinbase_word(block), rlp::list(&item));
    }

    /// Returns true if a flyover used a Bitcoin transaction. `transaction` in display order.
    pub(crate) fn is_flyover_used(&mut self, transaction: &B256, derivation: &B256) -> Result<bool> {
        self.has_mark(&flyover_used_word(transaction, derivation))
    }

    pub(crate) fn mark_flyover_used(&mut self, transaction: &B256, derivation: &B256) {
        self.compound.0.insert(flyover_used_word(transaction, derivation), vec![MARK]);
    }

    /// Returns the federation behind a flyover address.
    pub(crate) fn flyover_federation(&mut self, script_hash: &[u8; 20]) -> Result<Option<FlyoverFederation>> {
        self.compound(&flyover_federation_word(script_hash), FlyoverFederation::decode)
    }

    pub(crate) fn set_flyover_federation(&mut self, script_hash: &[u8; 20], federation: &FlyoverFederation) {
        let mut items = Vec::new();
        rlp::put_bytes(&mut items, federation.derivation.as_slice());
        rlp::put_bytes(&mut items, &federation.federation_hash);
        self.compound.0.insert(flyover_federation_word(script_hash), rlp::list(&items));
    }

    /// Returns true if the Bridge made a peg-out with this index hash (docs/spec/bridge.md, 6.2).
    pub(crate) fn is_peg_out(&mut self, index: &Digest) -> Result<bool> {
        self.has_mark(&peg_out_index_word(index))
    }

    /// Adds a peg-out to the index. A peg-out that is there is a call error.
    pub(crate) fn index_peg_out(&mut self, index: Digest) -> Result<()> {
        let word = peg_out_index_word(&index);
        if self.slots.read_word(&word)?.is_some() {
            return Err(MethodFailure::Rejected);
        }
        self.compound.0.insert(word, vec![MARK]);
        Ok(())
    }

    /// Returns the values of the coins that a transaction spends, in satoshis, in the order of its inputs; `None` if they
    /// were not recorded. `txid` in display order.
    pub(crate) fn outpoint_values(&mut self, txid: &B256) -> Result<Option<Vec<u64>>> {
        self.compound(&outpoint_values_word(txid), |bytes| read_varints(bytes).ok())
    }

    /// Records the values of the coins that a transaction spends. A second record is a call error.
    pub(crate) fn set_outpoint_values(&mut self, txid: B256, values: &[i64]) -> Result<()> {
        let word = outpoint_values_word(&txid);
        if self.compound(&word, |_values| Some(()))?.is_some() {
            return Err(MethodFailure::Rejected);
        }
        let mut bytes = Vec::new();
        values.iter().for_each(|value| put_varint(&mut bytes, *value as u64));
        self.compound.0.insert(word, bytes);
        Ok(())
    }
}
