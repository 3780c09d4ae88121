//! The pending federation (docs/spec/bridge.md, 3.3.3 and 8.3).

use super::access::{SlotAccess, decode_elements};
use super::keys::{PENDING_VERSION, SlotKey};
use super::slot::SlotEncoding;
use crate::error::{MethodFailure, Result};
use crate::public_key::{CompressedKey, encoded, stored};
use rhizome_primitives::{Rule, keccak256, rlp};

/// The value of the version slot of every pending federation.
const VERSION: u64 = 1000;

/// The keys of a federation member for Bitcoin, for Rootstock and for other uses. Members are sorted by these fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FederationMember {
    pub(crate) bitcoin: CompressedKey,
    pub(crate) rsk: CompressedKey,
    pub(crate) mst: CompressedKey,
}

impl FederationMember {
    /// A member that uses one key for everything.
    pub(crate) fn with_one_key(key: CompressedKey) -> FederationMember {
        FederationMember { bitcoin: key, rsk: key, mst: key }
    }

    /// Returns true if a key is equal to the key of `other` for the same use.
    pub(crate) fn shares_key(&self, other: &FederationMember) -> bool {
        self.bitcoin == other.bitcoin || self.rsk == other.rsk || self.mst == other.mst
    }

    /// Returns the list of the keys.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut keys = Vec::new();
        [&self.bitcoin, &self.rsk, &self.mst].into_iter().for_each(|key| rlp::put_bytes(&mut keys, encoded(key)));
        rlp::list(&keys)
    }

    pub(crate) fn decode(keys: &[rlp::Item<'_>]) -> Option<Self> {
        let [bitcoin, rsk, mst] = keys else { return None };
        let key = |item: &rlp::Item<'_>| stored(item.bytes());
        Some(Self { bitcoin: key(bitcoin)?, rsk: key(rsk)?, mst: key(mst)? })
    }
}

/// A federation before its commit; members in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PendingFederation {
    pub(crate) members: Vec<FederationMember>,
}

impl PendingFederation {
    /// Returns the hash that a commit names.
    pub(crate) fn hash(&self) -> [u8; 32] {
        keccak256(self.encode_keys()).0
    }

    fn encode_keys(&self) -> Vec<u8> {
        let mut items = Vec::new();
        self.members.iter().for_each(|member| rlp::put_bytes(&mut items, encoded(&member.bitcoin)));
        rlp::list(&items)
    }

    fn encode_members(&self) -> Vec<u8> {
        let mut items = Vec::new();
        for member in &self.members {
            items.extend(member.encode());
        }
        rlp::list(&items)
    }

    /// Until RSKIP-123 the list has one key for each member.
    fn decode(bytes: &[u8], has_three_keys: bool) -> Option<Self> {
        let member = |item: &rlp::Item<'_>| {
            if !has_three_keys {
                return stored(item.bytes()).map(FederationMember::with_one_key);
            }
            FederationMember::decode(&item.list("member").ok()?)
        };
        let members = decode_elements(bytes)?.iter().map(member).collect::<Option<_>>()?;
        Some(Self { members })
    }
}

/// The pending federation, if there is one.
impl SlotEncoding for Option<PendingFederation> {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        let Some(bytes) = slots.read(key)? else { return Ok(None) };
        let has_three_keys = slots.has(Rule::Rskip123) && slots.read(&PENDING_VERSION)?.is_some();
        PendingFederation::decode(&bytes, has_three_keys).map(Some).ok_or(MethodFailure::Rejected)
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        let has_three_keys = slots.has(Rule::Rskip123);
        if has_three_keys {
            let mut version = Vec::new();
            rlp::put_u64(&mut version, VERSION);
            slots.write(&PENDING_VERSION, version)?;
        }
        let value = match self {
            None => Vec::new(),
            Some(pending) if has_three_keys => pending.encode_members(),
            Some(pending) => pending.encode_keys(),
        };
        slots.write(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_federations_survive_a_round_trip() {
        let (key, other) = ([2; 33], [3; 33]);
        let members = vec![
            FederationMember { rsk: other, ..FederationMember::with_one_key(key) },
            FederationMember::with_one_key(other),
        ];
        let pending = PendingFederation { members };
        assert_eq!(PendingFederation::decode(&pending.encode_members(), true), Some(pending.clone()));
        let plain = PendingFederation {
            members: vec![FederationMember::with_one_key(key), FederationMember::with_one_key(other)],
        };
        assert_eq!(PendingFederation::decode(&pending.encode_keys(), false), Some(plain));
        assert_eq!(PendingFederation::decode(&[0xc0], true), Some(PendingFederation::default()));
        assert_eq!(PendingFederation::decode(&[0xc1, 1], true), None);
    }
}
