//! A typed slot: read on first use, held in memory, written by the save.

use super::access::{SlotAccess, decode_elements, decode_item};
use super::keys::SlotKey;
use crate::error::Result;
use rhizome_bitcoin::BitcoinTransaction;
use rhizome_primitives::{Address, B256, Bytes, Rule, U256, rlp};

/// A value with its storage format. Some values occupy two slots; `key` is the first one.
pub(crate) trait SlotEncoding: Sized {
    /// Reads the value.
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self>;

    /// Writes the value.
    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()>;
}

/// When the save writes a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SaveCondition {
    /// If the call read or changed it.
    Loaded,
    /// If the call changed it.
    Changed,
}

/// A slot of a call in progress.
pub(crate) struct Slot<T> {
    key: SlotKey,
    condition: SaveCondition,
    /// The rule that must be active for a write.
    rule: Option<Rule>,
    value: Option<T>,
    is_changed: bool,
}

impl<T: SlotEncoding> Slot<T> {
    /// A slot that the save writes even if the call only reads it.
    pub(crate) fn saved_if_loaded(key: SlotKey) -> Self {
        Self { key, condition: SaveCondition::Loaded, rule: None, value: None, is_changed: false }
    }

    /// A slot that the save writes only after [`Slot::set`] or [`Slot::get_mut`].
    pub(crate) fn saved_if_changed(key: SlotKey) -> Self {
        Self { condition: SaveCondition::Changed, ..Self::saved_if_loaded(key) }
    }

    /// The same slot, written only while `rule` is active.
    pub(crate) fn since(self, rule: Rule) -> Self {
        Self { rule: Some(rule), ..self }
    }

    /// Returns the value. Reads it on first use.
    pub(crate) fn get(&mut self, slots: &mut SlotAccess<'_>) -> Result<&T> {
        Ok(self.load(slots)?)
    }

    /// Returns the value for a change.
    pub(crate) fn get_mut(&mut self, slots: &mut SlotAccess<'_>) -> Result<&mut T> {
        self.is_changed = true;
        self.load(slots)
    }

    pub(crate) fn set(&mut self, value: T) {
        self.value = Some(value);
        self.is_changed = true;
    }

    /// Writes the value if its condition and its rule require it.
    pub(crate) fn save(&self, slots: &mut SlotAccess<'_>) -> Result<()> {
        let is_due = self.condition == SaveCondition::Loaded || self.is_changed;
        match &self.value {
            Some(value) if is_due && self.rule.is_none_or(|rule| slots.has(rule)) => value.save(slots, &self.key),
            _ => Ok(()),
        }
    }

    fn load(&mut self, slots: &mut SlotAccess<'_>) -> Result<&mut T> {
        match &mut self.value {
            Some(value) => Ok(value),
            empty => Ok(empty.insert(T::load(slots, &self.key)?)),
        }
    }
}

/// An RLP integer of 64 bits, if present.
impl SlotEncoding for Option<u64> {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        slots.read_u64_at(&key.word())
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        let Some(number) = self else { return Ok(()) };
        let mut value = Vec::new();
        rlp::put_u64(&mut value, *number);
        slots.write(key, value)
    }
}

/// An RLP integer of 256 bits, if present.
impl SlotEncoding for Option<U256> {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        slots.read_number(key)
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        let Some(number) = self else { return Ok(()) };
        let mut value = Vec::new();
        rlp::put_value(&mut value, number);
        slots.write(key, value)
    }
}

/// A flag as an RLP integer, if present.
impl SlotEncoding for Option<bool> {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        Ok(slots.read_number(key)?.map(|number| !number.is_zero()))
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        self.map(|flag| U256::from(flag)).save(slots, key)
    }
}

/// An address as an RLP string, if present.
impl SlotEncoding for Option<Address> {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        slots.decoded(&key.word(), |bytes| Address::try_from(decode_item(bytes)?).ok())
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        let Some(address) = self else { return Ok(()) };
        let mut value = Vec::new();
        rlp::put_bytes(&mut value, address.as_slice());
        slots.write(key, value)
    }
}

/// Raw bytes. Empty bytes delete the slot.
impl SlotEncoding for Bytes {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        Ok(slots.read(key)?.unwrap_or_default())
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        slots.write(key, self.to_vec())
    }
}

/// A hash as an RLP string. An absent hash deletes the slot.
impl SlotEncoding for Option<B256> {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        slots.decoded(&key.word(), |bytes| B256::try_from(decode_item(bytes)?).ok())
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        let mut value = Vec::new();
        if let Some(hash) = self {
            rlp::put_bytes(&mut value, hash.as_slice());
        }
        slots.write(key, value)
    }
}

/// A Bitcoin transaction as an RLP string. An absent transaction deletes the slot.
impl SlotEncoding for Option<BitcoinTransaction> {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        slots.decoded(&key.word(), |bytes| BitcoinTransaction::parse(decode_item(bytes)?).ok())
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        let mut value = Vec::new();
        if let Some(transaction) = self {
            rlp::put_bytes(&mut value, &transaction.serialize());
        }
        slots.write(key, value)
    }
}

/// A height that the save deletes if it was cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClearableHeight(pub(crate) Option<u64>);

impl SlotEncoding for ClearableHeight {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        Option::<u64>::load(slots, key).map(Self)
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        match self.0 {
            Some(_) => self.0.save(slots, key),
            None => slots.write(key, Vec::new()),
        }
    }
}

/// An output script as the only element of an RLP list, if present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredScript(pub(crate) Option<Vec<u8>>);

impl SlotEncoding for StoredScript {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        slots.decoded(&key.word(), |bytes| Some(decode_elements(bytes)?.first()?.bytes().to_vec())).map(Self)
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        let Some(script) = &self.0 else { return Ok(()) };
        let mut item = Vec::new();
        rlp::put_bytes(&mut item, script);
        slots.write(key, rlp::list(&item))
    }
}

/// A Bitcoin transaction that waits for signatures, and the RSK transaction that made it. Absence deletes the slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SvpSpend(pub(crate) Option<(B256, BitcoinTransaction)>);

impl SvpSpend {
    /// Returns the hash and the transaction as an RLP list.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let (hash, transaction) = self.0.as_ref()?;
        let mut items = Vec::new();
        rlp::put_bytes(&mut items, hash.as_slice());
        rlp::put_bytes(&mut items, &transaction.serialize());
        Some(rlp::list(&items))
    }

    fn decode(bytes: &[u8]) -> Option<(B256, BitcoinTransaction)> {
        let items = decode_elements(bytes)?;
        let [hash, transaction] = items.as_slice() else { return None };
        let transaction = BitcoinTransaction::parse(transaction.bytes()).ok()?;
        Some((B256::try_from(hash.bytes()).ok()?, transaction))
    }
}

impl SlotEncoding for SvpSpend {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        slots.decoded(&key.word(), Self::decode).map(Self)
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        slots.write(key, self.encode().unwrap_or_default())
    }
}
