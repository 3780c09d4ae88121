//! Committed federations (docs/spec/bridge.md, 3.3.2).

use super::access::{SlotAccess, decode_elements};
use super::keys::{self, SlotKey};
use super::pending_federation::FederationMember;
use super::slot::SlotEncoding;
use crate::error::{MethodFailure, Result};
use crate::federation::{Federation, FederationVersion};
use crate::public_key::{encoded, stored};
use rhizome_primitives::{Rule, rlp};
use std::rc::Rc;

/// A slot that holds a federation, or nothing.
pub(crate) type StoredFederation = Option<Rc<Federation>>;

impl SlotEncoding for StoredFederation {
    fn load(slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<Self> {
        let Some(bytes) = slots.read(key)? else { return Ok(None) };
        // Until RSKIP-123 there are no versions.
        let version = if slots.has(Rule::Rskip123) { slots.read_number(&keys::version_of(key))? } else { None };
        let version = version.map(|number| FederationVersion::of_number(u64::try_from(number).unwrap_or(u64::MAX)));
        let federation = decode(&bytes, version).ok_or(MethodFailure::Rejected)?;
        Ok(Some(Rc::new(federation)))
    }

    fn save(&self, slots: &mut SlotAccess<'_>, key: &SlotKey) -> Result<()> {
        let has_three_keys = slots.has(Rule::Rskip123);
        let version = match self {
            Some(federation) => Some(federation.version),
            // The slot of an absent old federation has the version of a standard multisig.
            None if *key == keys::OLD_FEDERATION => Some(FederationVersion::Standard),
            None if *key == keys::PROPOSED_FEDERATION => None,
            None => return Ok(()),
        };
        if has_three_keys {
            let mut encoded = Vec::new();
            if let Some(version) = version {
                rlp::put_u64(&mut encoded, version.number());
            }
            slots.write(&keys::version_of(key), encoded)?;
        }
        slots.write(key, self.as_ref().map(|federation| encode(federation, has_three_keys)).unwrap_or_default())
    }
}

fn encode(federation: &Federation, has_three_keys: bool) -> Vec<u8> {
    let mut members = Vec::new();
    for member in &federation.members {
        if !has_three_keys {
            rlp::put_bytes(&mut members, encoded(&member.bitcoin));
            continue;
        }
        rlp::put_bytes(&mut members, &member.encode());
    }
    let mut items = Vec::new();
    rlp::put_u64(&mut items, federation.creation_time as u64);
    rlp::put_u64(&mut items, federation.creation_block);
    items.extend(rlp::list(&members));
    rlp::list(&items)
}

/// `version`: `None` for a federation from before RSKIP-123, whose members use one key for everything.
fn decode(bytes: &[u8], version: Option<FederationVersion>) -> Option<Federation> {
    let items = decode_elements(bytes)?;
    let [time, block, members] = items.as_slice() else { return None };
    let member = |item: &rlp::Item<'_>| {
        if version.is_none() {
            return stored(item.bytes()).map(FederationMember::with_one_key);
        }
        FederationMember::decode(&decode_elements(item.bytes())?)
    };
    let mut members = members.list("members").ok()?.iter().map(member).collect::<Option<Vec<_>>>()?;
    members.sort_unstable();
    // The reference cannot read a zero: regtest with a fixed clock begins with blocks at time 0.
    let number = |item: &rlp::Item<'_>, name| rlp::read_u64(item.bytes(), u64::MAX, name).ok().filter(|&it| it > 0);
    Some(Federation {
        version: version.unwrap_or(FederationVersion::Standard),
        members,
        creation_time: number(time, "time")? as i64,
        creation_block: number(block, "block")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn federations_survive_a_round_trip() {
        let member = |key| FederationMember { rsk: [9; 33], ..FederationMember::with_one_key([key; 33]) };
        let federation = Federation {
            version: FederationVersion::P2shErp,
            members: vec![member(2), member(3)],
            creation_time: 1_700_000_000,
            creation_block: 77,
        };
        let decoded = decode(&encode(&federation, true), Some(FederationVersion::P2shErp));
        assert_eq!(decoded, Some(federation.clone()));
        let old = decode(&encode(&federation, false), None).unwrap();
        assert_eq!(old.version, FederationVersion::Standard);
        assert_eq!(old.members[0], FederationMember::with_one_key([2; 33]));
        assert_eq!(decode(&encode(&federation, false), Some(FederationVersion::Standard)), None);
    }

    #[test]
    fn federations_of_time_zero_cannot_be_read() {
        let members = vec![FederationMember::with_one_key([2; 33])];
        let federation =
            Federation { version: FederationVersion::P2wshErp, members, creation_time: 0, creation_block: 77 };
        assert_eq!(decode(&encode(&federation, true), Some(FederationVersion::P2wshErp)), None);
    }
}
