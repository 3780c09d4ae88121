//! The lock whitelist (docs/spec/bridge.md, 3.3.9). Addresses are identified by their hash only.

use super::access::{SlotAccess, decode_elements};
use super::keys::{SlotKey, UNLIMITED_WHITELIST};
use super::slot::SlotEncoding;
use crate::error::{MethodFailure, Result};
use rhizome_primitives::{Rule, rlp};
use std::collections::BTreeMap;

/// The disable height of a whitelist that stays enabled.
pub(crate) const NEVER: i32 = i32::MAX;

/// Size of the hash in a list that can be read, bytes.
const HASH_SIZE: usize = 20;

/// The right of an address to lock coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhitelistEntry {
    /// Once, up to this number of satoshis.
    Once(i64),
    /// Without limit.
    Always,
}

/// The addresses that may lock coins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Whitelist {
    /// By hash. A call can add hashes of other sizes than 20 bytes, but no call can read them again.
    pub(crate) entries: BTreeMap<Vec<u8>, WhitelistEntry>,
    /// The Bitcoin height above which every address may lock coins.
    pub(crate) disable_height: i32,
}

impl Whitelist {
    fn empty() -> Whitelist {
        Whitelist { entries: BTreeMap::new(), disable_height: NEVER }
    }

    fn encode_one_off(&self) -> Vec<u8> {
        let mut items = Vec::new();
        for (hash, entry) in &self.entries {
            if let WhitelistEntry::Once(maximum) = entry {
                rlp::put_bytes(&mut items, hash);
                put_signed(&mut items, *maximum);
            }
        }
        put_signed(&mut items, i64::from(self.disable_height));
        rlp::list(&items)
    }

    fn encode_unlimited(&self) -> Vec<u8> {
        let mut items = Vec::new();
        let always = self.entries.iter().filter(|(_, entry)| **entry == WhitelistEntry::Always);
        always.for_each(|(hash, _)| rlp::put_bytes(&mut items, hash));
        rlp::list(&items)
    }

    /// Returns `None` if a slot is malformed.
    fn decode(one_off: &[u8], unlimited: Option<&[u8]>) -> Option<Whitelist> {
        let items = decode_elements(one_off)?;
        let (height, pairs) = items.split_last()?;
        let (pairs, rest) = pairs.as_chunks::<2>();
        let mut entries = BTreeMap::new();
        for [hash, maximum] in pairs {
            let maximum = rlp::read_u64(maximum.bytes(), i64::MAX as u64, "maximum").ok()?;
            entries.insert(stored_hash(hash)?, WhitelistEntry::Once(maximum as i64));
        }
        for hash in unlimited.map_or(Some(Vec::new()), decode_elements)? {
            entries.insert(stored_hash(&hash)?, WhitelistEntry::Always);
        }
        let disable_height = rlp::read_u64(height.bytes(), i32::MAX as u64, "height").ok()? as i32;
        rest.is_empty().then_some(Whitelist { entries, disable_height })
    }
}

/// Returns a hash of a list; `None` if its size is wrong.
fn stored_hash(item: &rlp::Item<'_>) -> Option<Vec<u8>> {
    Some(item.bytes()).filter(|hash| hash.len() == HASH_SIZE).map(<[u8]>::to_vec)
}

/// Writes the two's complement without the leading zero byte of positive numbers. A negative number is read as a positive one, or
/// not at all if it takes 8 bytes.
fn put_signed(out: &mut Vec<u8>, number: i64) {
    let bytes = number.to_be_bytes();
    let digits = match number {
        0.. => rlp::strip_zeros(&bytes),
        _ => {
            let redundant = bytes.windows(2).take_while(|pair| pair[0] == 0xff && pair[1] & 0x80 != 0).count();
            bytes.get(redundant..).unwrap_or_default()
        }
    };
    rlp::put_bytes(out, digits);
}

impl SlotEncoding for Whitelist {
    /// The unlimited entries are not read if the first slot is absent.
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        let Some(one_off) = slots.read(key)? else { return Ok(Self::empty()) };
        let unlimited = if slots.has(Rule::Rskip87) { slots.read(&UNLIMITED_WHITELIST)? } else { None };
        Self::decode(&one_off, unlimited.as_ref().map(AsRef::as_ref)).ok_or(MethodFailure::Rejected)
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        slots.write(key, self.encode_one_off())?;
        if slots.has(Rule::Rskip87) {
            slots.write(&UNLIMITED_WHITELIST, self.encode_unlimited())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::hex;

    #[test]
    fn numbers_lose_their_sign() {
        let written = |number| {
            let mut out = Vec::new();
            put_signed(&mut out, number);
            out
        };
        assert_eq!(written(-1), hex!("81ff"));
        assert_eq!(written(-129), hex!("82ff7f"));
        assert_eq!(written(128), hex!("8180"));
        assert_eq!(written(0), hex!("80"));
        assert_eq!(written(i64::MIN), hex!("888000000000000000"));
    }

    #[test]
    fn whitelists_survive_a_round_trip() {
        let entries = [
            (vec![3; 20], WhitelistEntry::Always),
            (vec![1; 20], WhitelistEntry::Once(7)),
            (vec![2; 20], WhitelistEntry::Once(i64::MAX)),
        ];
        let list = Whitelist { entries: entries.into_iter().collect(), disable_height: 5 };
        let read = Whitelist::decode(&list.encode_one_off(), Some(&list.encode_unlimited())).unwrap();
        assert_eq!(read, list);
        assert_eq!(Whitelist::empty().encode_one_off(), hex!("c5847fffffff"));
        for (maximum, read) in [(-1, Some(255)), (-(1 << 55), Some(1 << 55)), (-(1 << 55) - 1, None), (i64::MIN, None)]
        {
            let entries = BTreeMap::from([(vec![1; 20], WhitelistEntry::Once(maximum))]);
            let list = Whitelist::decode(&Whitelist { entries, disable_height: 5 }.encode_one_off(), None);
            assert_eq!(list.map(|list| list.entries[&[1; 20][..]]), read.map(WhitelistEntry::Once));
        }
        for (size, entry) in [0, 1, 19, 21, 100]
            .into_iter()
            .flat_map(|size| [WhitelistEntry::Always, WhitelistEntry::Once(7)].map(|entry| (size, entry)))
        {
            let list = Whitelist { entries: BTreeMap::from([(vec![1; size], entry)]), disable_height: 5 };
            assert_eq!(Whitelist::decode(&list.encode_one_off(), Some(&list.encode_unlimited())), None);
        }
        assert_eq!(Whitelist::decode(&[0xc0], None), None);
        assert_eq!(Whitelist::decode(&hex!("c28005"), None), None);
    }
}
