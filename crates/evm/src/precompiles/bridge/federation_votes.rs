//! Votes for a new federation, up to its commit (bridge chapters 8.3 and 9.4).

use super::cells;
use super::election::Spec;
use super::federation::{Role, code};
use super::invocation::Invocation;
use super::{Answer, Failure, Result};
use k256::elliptic_curve::sec1::{FromEncodedPoint, ToEncodedPoint};
use k256::{AffinePoint, EncodedPoint};
use rhizome_primitives::{Bytes, Rule, keccak256, rlp};

const SUCCESS: i64 = 1;
const NOT_VOTED: i64 = -10;
const NO_PENDING: i64 = -1;
const PENDING_EXISTS: i64 = -1;
const KEY_IN_USE: i64 = -2;
const TOO_FEW_MEMBERS: i64 = -2;
const OTHER_HASH: i64 = -3;
/// Members that a federation has at least.
const MINIMUM_SIZE: usize = 2;
/// What the version cell of a pending federation always says.
const VERSION: u64 = 1000;

type Key = [u8; 33];

/// Which of a member's keys.
#[derive(Clone, Copy)]
pub(super) enum KeyType {
    Bitcoin,
    Rsk,
    Mst,
}

impl KeyType {
    pub(super) fn parse(text: &[u8]) -> Result<KeyType> {
        match text {
            b"btc" => Ok(KeyType::Bitcoin),
            b"rsk" => Ok(KeyType::Rsk),
            b"mst" => Ok(KeyType::Mst),
            _ => Err(Failure::Call),
        }
    }
}

/// A member: its keys for Bitcoin, for Rootstock and for the rest. The order of members is that of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    bitcoin: Key,
    rsk: Key,
    mst: Key,
}

impl Member {
    fn with_one_key(key: Key) -> Member {
        Member { bitcoin: key, rsk: key, mst: key }
    }

    fn has_key_of(&self, other: &Member) -> bool {
        self.bitcoin == other.bitcoin || self.rsk == other.rsk || self.mst == other.mst
    }
}

/// The federation that is being put together; members in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pending(Vec<Member>);

impl Pending {
    fn hash(&self) -> [u8; 32] {
        keccak256(self.encode_keys()).0
    }

    fn encode_keys(&self) -> Vec<u8> {
        let mut items = Vec::new();
        self.0.iter().for_each(|member| rlp::put_bytes(&mut items, &member.bitcoin));
        rlp::list(&items)
    }

    fn encode_members(&self) -> Vec<u8> {
        let mut items = Vec::new();
        for member in &self.0 {
            let mut keys = Vec::new();
            [&member.bitcoin, &member.rsk, &member.mst].into_iter().for_each(|key| rlp::put_bytes(&mut keys, key));
            items.extend(rlp::list(&keys));
        }
        rlp::list(&items)
    }

    /// The form of before RSKIP-123 has one key for each member.
    fn decode(bytes: &[u8], has_three_keys: bool) -> Option<Pending> {
        let member = |item: &rlp::Item<'_>| {
            if !has_three_keys {
                return Some(Member::with_one_key(item.bytes().try_into().ok()?));
            }
            let keys = item.list("member").ok()?;
            let [bitcoin, rsk, mst] = keys.as_slice() else { return None };
            let key = |item: &rlp::Item<'_>| item.bytes().try_into().ok();
            Some(Member { bitcoin: key(bitcoin)?, rsk: key(rsk)?, mst: key(mst)? })
        };
        let members = cells::elements(bytes)?.iter().map(member).collect::<Option<_>>()?;
        Some(Pending(members))
    }
}

/// A federation vote, read from its spec.
enum Vote {
    Create,
    Add(Member),
    Commit([u8; 32]),
    Rollback,
}

impl Invocation<'_, '_> {
    pub(super) fn vote_create(&mut self) -> Result<Answer> {
        self.vote_federation(b"create", Vec::new())
    }

    pub(super) fn vote_add(&mut self, keys: Vec<&[u8]>) -> Result<Answer> {
        let function: &[u8] = if keys.len() == 1 { b"add" } else { b"add-multi" };
        self.vote_federation(function, keys.into_iter().map(<[u8]>::to_vec).collect())
    }

    pub(super) fn vote_commit(&mut self, hash: &[u8]) -> Result<Answer> {
        self.vote_federation(b"commit", vec![hash.to_vec()])
    }

    pub(super) fn vote_rollback(&mut self) -> Result<Answer> {
        self.vote_federation(b"rollback", Vec::new())
    }

    fn vote_federation(&mut self, function: &'static [u8], arguments: Vec<Vec<u8>>) -> Result<Answer> {
        let authorizer = &self.constants.federation_change;
        if !authorizer.knows(&self.sender()) {
            return Ok(code(NOT_VOTED));
        }
        let spec = Spec { function, arguments };
        let Some(vote) = self.read_vote(&spec)? else { return Ok(code(NOT_VOTED)) };
        let result = self.try_vote(&vote)?;
        if result != SUCCESS {
            return Ok(code(result));
        }
        let mut election = match self.memory.federation_election.take() {
            Some(election) => election,
            None => self.read_election(cells::FEDERATION_ELECTION, authorizer)?,
        };
        let is_counted = election.vote(&spec, self.ctx.caller);
        if is_counted && election.is_won(&spec, authorizer.required) {
            match vote {
                Vote::Create => {
                    self.set_pending(Some(Pending::default()));
                    election.clear();
                }
                Vote::Add(member) => {
                    let mut pending = self.pending()?.unwrap_or_default();
                    pending.0.push(member);
                    pending.0.sort_unstable();
                    self.set_pending(Some(pending));
                    election.remove(&spec);
                }
                Vote::Commit(_) => return Err(self.missing("commitFederation", 7)),
                Vote::Rollback => {
                    self.set_pending(None);
                    election.clear();
                }
            }
        }
        self.memory.federation_election = Some(election);
        Ok(code(if is_counted { SUCCESS } else { NOT_VOTED }))
    }

    /// None if a key is malformed; a hash that is none is a call error.
    fn read_vote(&self, spec: &Spec) -> Result<Option<Vote>> {
        Ok(match (spec.function, spec.arguments.as_slice()) {
            (b"create", _) => Some(Vote::Create),
            (b"rollback", _) => Some(Vote::Rollback),
            (_, [key]) if spec.function == b"add" => {
                self.read_key(key)?.map(|key| Vote::Add(Member::with_one_key(key)))
            }
            (_, [hash]) => Some(Vote::Commit(hash.as_slice().try_into().map_err(|_length| Failure::Call)?)),
            (_, [bitcoin, rsk, mst]) => match (self.read_key(bitcoin)?, self.read_key(rsk)?, self.read_key(mst)?) {
                (Some(bitcoin), Some(rsk), Some(mst)) => Some(Vote::Add(Member { bitcoin, rsk, mst })),
                _ => None,
            },
            _ => None,
        })
    }

    /// A public key in any encoding, compressed.
    fn read_key(&self, bytes: &[u8]) -> Result<Option<Key>> {
        if bytes == [0] {
            // The reference takes the point at infinity for a key.
            return Err(self.missing("a federation key that is no point", 7));
        }
        Ok(compressed(bytes))
    }

    /// What a vote would lead to if it won now.
    fn try_vote(&mut self, vote: &Vote) -> Result<i64> {
        let pending = self.pending()?;
        Ok(match (vote, pending) {
            (Vote::Create, Some(_)) => PENDING_EXISTS,
            (Vote::Create, None) => {
                self.require_no(Role::Proposed)?;
                self.require_no(Role::Retiring)?;
                SUCCESS
            }
            (_, None) => NO_PENDING,
            (Vote::Rollback, Some(_)) => SUCCESS,
            (Vote::Add(member), Some(pending)) => {
                let is_used = pending.0.iter().any(|other| other.has_key_of(member));
                if is_used { KEY_IN_USE } else { SUCCESS }
            }
            (Vote::Commit(_), Some(pending)) if pending.0.len() < MINIMUM_SIZE => TOO_FEW_MEMBERS,
            (Vote::Commit(hash), Some(pending)) => {
                if pending.hash() == *hash {
                    SUCCESS
                } else {
                    OTHER_HASH
                }
            }
        })
    }

    pub(super) fn pending_hash(&mut self) -> Result<Answer> {
        Ok(Answer::Bytes(self.pending()?.map(|pending| pending.hash().to_vec()).unwrap_or_default()))
    }

    pub(super) fn pending_size(&mut self) -> Result<Answer> {
        Ok(code(self.pending()?.map_or(-1, |pending| pending.0.len() as i64)))
    }

    pub(super) fn pending_key(&mut self, index: i32, key: KeyType) -> Result<Answer> {
        let Some(pending) = self.pending()? else { return Ok(Answer::Bytes(Vec::new())) };
        let member = usize::try_from(index).ok().and_then(|index| pending.0.get(index)).ok_or(Failure::Call)?;
        Ok(Answer::Bytes(match key {
            KeyType::Bitcoin => member.bitcoin.to_vec(),
            KeyType::Rsk => member.rsk.to_vec(),
            KeyType::Mst => member.mst.to_vec(),
        }))
    }

    fn pending(&mut self) -> Result<Option<Pending>> {
        if let Some(pending) = &self.memory.pending {
            return Ok(pending.clone());
        }
        let pending = match self.read(&cells::PENDING.key)? {
            None => None,
            Some(bytes) => Some(self.read_pending(&bytes)?),
        };
        self.memory.pending = Some(pending.clone());
        Ok(pending)
    }

    fn read_pending(&mut self, bytes: &Bytes) -> Result<Pending> {
        let has_three_keys = self.has(Rule::Rskip123) && self.read(&cells::PENDING_VERSION.key)?.is_some();
        Pending::decode(bytes, has_three_keys).ok_or_else(|| self.missing(cells::PENDING.name, cells::PENDING.stage))
    }

    fn set_pending(&mut self, pending: Option<Pending>) {
        self.memory.pending = Some(pending);
        self.memory.is_pending_set = true;
    }

    pub(super) fn save_pending(&mut self, pending: Option<&Pending>) -> Result<()> {
        let has_three_keys = self.has(Rule::Rskip123);
        if has_three_keys {
            let mut version = Vec::new();
            rlp::put_u64(&mut version, VERSION);
            self.write(cells::PENDING_VERSION.key, version)?;
        }
        let value = match pending {
            None => Vec::new(),
            Some(pending) if has_three_keys => pending.encode_members(),
            Some(pending) => pending.encode_keys(),
        };
        self.write(cells::PENDING.key, value)
    }
}

/// The compressed form of a public key, compressed, uncompressed or hybrid; none if it is no point of the curve.
fn compressed(bytes: &[u8]) -> Option<Key> {
    let mut plain = bytes.to_vec();
    match bytes {
        [2 | 3, rest @ ..] if rest.len() == 32 => {}
        [4, rest @ ..] if rest.len() == 64 => {}
        // The hybrid form says in its first byte whether y is odd.
        [mark @ (6 | 7), rest @ ..] if rest.len() == 64 && rest.last().is_some_and(|last| last & 1 == mark & 1) => {
            if let Some(first) = plain.first_mut() {
                *first = 4;
            }
        }
        _ => return None,
    }
    let point = AffinePoint::from_encoded_point(&EncodedPoint::from_bytes(plain).ok()?);
    Option::<AffinePoint>::from(point)?.to_encoded_point(true).as_bytes().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::hex;

    const KEY: Key = hex!("02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1");

    #[test]
    fn keys_of_every_form() {
        let point = AffinePoint::from_encoded_point(&EncodedPoint::from_bytes(KEY).unwrap()).unwrap();
        let whole = point.to_encoded_point(false);
        let with_mark = |mark: u8| [&[mark], &whole.as_bytes()[1..]].concat();
        assert_eq!(compressed(&KEY), Some(KEY));
        assert_eq!(compressed(whole.as_bytes()), Some(KEY));
        assert_eq!(compressed(&with_mark(6)), Some(KEY));
        for bad in [with_mark(7), with_mark(5), vec![], vec![2; 32], vec![0; 33], vec![4; 65]] {
            assert_eq!(compressed(&bad), None, "{bad:?}");
        }
    }

    #[test]
    fn pending_federations_are_read_back() {
        let mut other = KEY;
        other[32] = 0;
        let pending = Pending(vec![Member::with_one_key(other), Member { rsk: other, ..Member::with_one_key(KEY) }]);
        assert_eq!(Pending::decode(&pending.encode_members(), true), Some(pending.clone()));
        let plain = Pending(vec![Member::with_one_key(other), Member::with_one_key(KEY)]);
        assert_eq!(Pending::decode(&pending.encode_keys(), false), Some(plain));
        assert_eq!(Pending::decode(&[0xc0], true), Some(Pending::default()));
        assert_eq!(Pending::decode(&[0xc1, 1], true), None);
    }
}
