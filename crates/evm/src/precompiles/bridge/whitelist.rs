//! The Bitcoin addresses that may lock, once or always (bridge chapter 9.6). Addresses are known by their hash alone.

use super::cells;
use super::federation::{code, word};
use super::invocation::Invocation;
use super::{Answer, Failure, Result};
use rhizome_primitives::{I256, Rule, rlp};
use std::collections::BTreeMap;

const SUCCESS: i64 = 1;
const NOT_AUTHORIZED: i64 = -10;
const MALFORMED: i64 = -2;
const KNOWN: i64 = -1;
const UNKNOWN: i64 = -1;
const DELAY_SET: i64 = -1;
const BAD_DELAY: i64 = -2;
const UNLIMITED: i64 = 0;
/// The whitelist is never switched off.
const NEVER: i32 = i32::MAX;

/// What an address may lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// Once, up to so many satoshis.
    Once(i64),
    Always,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Whitelist {
    entries: BTreeMap<[u8; 20], Entry>,
    /// The Bitcoin height above which everybody may lock.
    disable_height: i32,
}

impl Whitelist {
    fn empty() -> Whitelist {
        Whitelist { entries: BTreeMap::new(), disable_height: NEVER }
    }

    pub(super) fn encode_one_off(&self) -> Vec<u8> {
        let mut items = Vec::new();
        for (hash, entry) in &self.entries {
            if let Entry::Once(maximum) = entry {
                rlp::put_bytes(&mut items, hash);
                put_signed(&mut items, *maximum);
            }
        }
        put_signed(&mut items, i64::from(self.disable_height));
        rlp::list(&items)
    }

    pub(super) fn encode_unlimited(&self) -> Vec<u8> {
        let mut items = Vec::new();
        let always = self.entries.iter().filter(|(_, entry)| **entry == Entry::Always);
        always.for_each(|(hash, _)| rlp::put_bytes(&mut items, hash));
        rlp::list(&items)
    }

    /// None if a cell is malformed.
    fn decode(one_off: &[u8], unlimited: Option<&[u8]>) -> Option<Whitelist> {
        let items = cells::elements(one_off)?;
        let (height, pairs) = items.split_last()?;
        let (pairs, rest) = pairs.as_chunks::<2>();
        let mut entries = BTreeMap::new();
        for [hash, maximum] in pairs {
            let maximum = rlp::read_u64(maximum.bytes(), u64::MAX, "maximum").ok()?;
            entries.insert(hash.bytes().try_into().ok()?, Entry::Once(maximum as i64));
        }
        for hash in unlimited.map_or(Some(Vec::new()), cells::elements)? {
            entries.insert(hash.bytes().try_into().ok()?, Entry::Always);
        }
        let disable_height = rlp::read_u64(height.bytes(), u64::from(u32::MAX), "height").ok()? as u32 as i32;
        rest.is_empty().then_some(Whitelist { entries, disable_height })
    }
}

/// Two's complement without the zero byte that would tell a large number from a negative one.
fn put_signed(out: &mut Vec<u8>, number: i64) {
    let bytes = number.to_be_bytes();
    let kept = match number {
        0.. => rlp::strip_zeros(&bytes),
        _ => {
            let redundant = bytes.windows(2).take_while(|pair| pair[0] == 0xff && pair[1] & 0x80 != 0).count();
            bytes.get(redundant..).unwrap_or_default()
        }
    };
    rlp::put_bytes(out, kept);
}

impl Invocation<'_, '_> {
    fn whitelist(&mut self) -> Result<&mut Whitelist> {
        if self.memory.whitelist.is_none() {
            self.memory.whitelist = Some(self.read_whitelist()?);
        }
        self.memory.whitelist.as_mut().ok_or(Failure::Call)
    }

    fn read_whitelist(&mut self) -> Result<Whitelist> {
        let Some(one_off) = self.read(&cells::WHITELIST.key)? else { return Ok(Whitelist::empty()) };
        let unlimited = if self.has(Rule::Rskip87) { self.read(&cells::UNLIMITED_WHITELIST.key)? } else { None };
        let whitelist = Whitelist::decode(&one_off, unlimited.as_ref().map(AsRef::as_ref));
        whitelist.ok_or_else(|| self.missing(cells::WHITELIST.name, cells::WHITELIST.stage))
    }

    fn may_change_whitelist(&self) -> bool {
        self.constants.whitelist_change.knows(&self.sender())
    }

    pub(super) fn whitelist_size(&mut self) -> Result<Answer> {
        Ok(word(self.whitelist()?.entries.len() as u64))
    }

    pub(super) fn whitelist_address(&mut self, index: i32) -> Result<Answer> {
        let constants = self.constants;
        let entries = &self.whitelist()?.entries;
        let hash = usize::try_from(index).ok().and_then(|index| entries.keys().nth(index));
        Ok(Answer::Bytes(hash.map(|hash| constants.key_address(*hash).into_bytes()).unwrap_or_default()))
    }

    pub(super) fn whitelist_entry(&mut self, address: &[u8]) -> Result<Answer> {
        let Some(hash) = self.constants.address_hash(address) else { return Ok(code(UNKNOWN)) };
        Ok(code(match self.whitelist()?.entries.get(&hash) {
            None => UNKNOWN,
            Some(Entry::Once(maximum)) => *maximum,
            Some(Entry::Always) => UNLIMITED,
        }))
    }

    pub(super) fn add_one_off(&mut self, address: &[u8], maximum: I256) -> Result<Answer> {
        let Some(hash) = self.constants.address_hash(address) else { return Ok(code(MALFORMED)) };
        let maximum = i64::try_from(maximum).ok().ok_or(Failure::Call)?;
        self.add_entry(hash, Entry::Once(maximum))
    }

    pub(super) fn add_unlimited(&mut self, address: &[u8]) -> Result<Answer> {
        let Some(hash) = self.constants.address_hash(address) else { return Ok(code(MALFORMED)) };
        self.add_entry(hash, Entry::Always)
    }

    fn add_entry(&mut self, hash: [u8; 20], entry: Entry) -> Result<Answer> {
        if !self.may_change_whitelist() {
            return Ok(code(NOT_AUTHORIZED));
        }
        let whitelist = self.whitelist()?;
        if whitelist.entries.contains_key(&hash) {
            return Ok(code(KNOWN));
        }
        whitelist.entries.insert(hash, entry);
        Ok(code(SUCCESS))
    }

    pub(super) fn remove_entry(&mut self, address: &[u8]) -> Result<Answer> {
        if !self.may_change_whitelist() {
            return Ok(code(NOT_AUTHORIZED));
        }
        let constants = self.constants;
        let whitelist = self.whitelist()?;
        let Some(hash) = constants.address_hash(address) else { return Ok(code(MALFORMED)) };
        Ok(code(if whitelist.entries.remove(&hash).is_some() { SUCCESS } else { UNKNOWN }))
    }

    /// Opens the header store, also for those who may not set the delay.
    pub(super) fn set_disable_delay(&mut self, delay: I256) -> Result<Answer> {
        let best = self.best_header()?.height;
        if !self.may_change_whitelist() {
            return Ok(code(NOT_AUTHORIZED));
        }
        let whitelist = self.whitelist()?;
        if whitelist.disable_height != NEVER {
            return Ok(code(DELAY_SET));
        }
        let delay = i32::try_from(delay).ok().ok_or(Failure::Call)?;
        let height = best.wrapping_add(delay);
        if height <= best {
            return Ok(code(BAD_DELAY));
        }
        whitelist.disable_height = height;
        Ok(code(SUCCESS))
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
    fn lists_are_read_back() {
        let entries = [([3; 20], Entry::Always), ([1; 20], Entry::Once(7)), ([2; 20], Entry::Once(i64::MAX))];
        let list = Whitelist { entries: entries.into_iter().collect(), disable_height: 5 };
        let read = Whitelist::decode(&list.encode_one_off(), Some(&list.encode_unlimited())).unwrap();
        assert_eq!(read, list);
        assert_eq!(Whitelist::empty().encode_one_off(), hex!("c5847fffffff"));
        assert_eq!(Whitelist::decode(&[0xc0], None), None);
        assert_eq!(Whitelist::decode(&hex!("c28005"), None), None);
    }
}
