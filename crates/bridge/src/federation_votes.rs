//! Votes for a federation up to its commit, and views of the pending federation (docs/spec/bridge.md, 8.3 and 9.4).

use crate::context::CallContext;
use crate::election::{self, VoteOutcome};
use crate::error::{MethodFailure, Result};
use crate::federation;
use crate::federation_change;
use crate::public_key::{CompressedKey, compressed, encoded};
use crate::return_value::ReturnValue;
use crate::slots::election::VoteSpec;
use crate::slots::pending_federation::FederationMember;
use crate::storage::Storage;
use rhizome_primitives::Log;

const SUCCESS: i64 = 1;
const NOT_VOTED: i64 = -10;
const NO_PENDING: i64 = -1;
const PENDING_EXISTS: i64 = -1;
const FEDERATION_PROPOSED: i64 = -4;
const ACTIVATION_PENDING: i64 = -2;
const FEDERATION_RETIRING: i64 = -3;
const KEY_IN_USE: i64 = -2;
const TOO_FEW_MEMBERS: i64 = -2;
const DIFFERENT_HASH: i64 = -3;
/// Minimum number of members of a federation.
const MINIMUM_SIZE: usize = 2;

/// The use of a key of a member.
#[derive(Clone, Copy)]
pub(crate) enum KeyType {
    Bitcoin,
    Rsk,
    Mst,
}

impl KeyType {
    pub(crate) fn parse(text: &[u8]) -> Result<KeyType> {
        match text {
            b"btc" => Ok(KeyType::Bitcoin),
            b"rsk" => Ok(KeyType::Rsk),
            b"mst" => Ok(KeyType::Mst),
            _ => Err(MethodFailure::Rejected),
        }
    }

    /// Returns the key of a member for this use.
    pub(crate) fn of_member(self, member: &FederationMember) -> &CompressedKey {
        match self {
            KeyType::Bitcoin => &member.bitcoin,
            KeyType::Rsk => &member.rsk,
            KeyType::Mst => &member.mst,
        }
    }
}

/// A vote with its arguments decoded.
enum FederationVote {
    Create,
    Add(FederationMember),
    Commit([u8; 32]),
    Rollback,
}

pub(crate) fn vote_create(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
) -> Result<ReturnValue> {
    vote(storage, ctx, logs, b"create", &[])
}

/// Votes to add a member: one key for everything, or a key for each use.
pub(crate) fn vote_add(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    keys: &[&[u8]],
) -> Result<ReturnValue> {
    let function: &[u8] = if keys.len() == 1 { b"add" } else { b"add-multi" };
    vote(storage, ctx, logs, function, keys)
}

pub(crate) fn vote_commit(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    hash: &[u8],
) -> Result<ReturnValue> {
    vote(storage, ctx, logs, b"commit", &[hash])
}

pub(crate) fn vote_rollback(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
) -> Result<ReturnValue> {
    vote(storage, ctx, logs, b"rollback", &[])
}

fn vote(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    function: &'static [u8],
    arguments: &[&[u8]],
) -> Result<ReturnValue> {
    let authorizer = &ctx.constants.federation_change;
    if !authorizer.contains(&ctx.caller()) {
        return Ok(ReturnValue::code(NOT_VOTED));
    }
    let Some(vote) = decode_vote(function, arguments)? else { return Ok(ReturnValue::code(NOT_VOTED)) };
    let result = dry_run(storage, ctx, &vote)?;
    if result != SUCCESS {
        return Ok(ReturnValue::code(result));
    }
    let spec = VoteSpec { function, arguments: arguments.iter().map(|argument| argument.to_vec()).collect() };
    let outcome = election::vote(&mut storage.federation_election, &mut storage.slots, ctx, authorizer, &spec)?;
    if outcome == VoteOutcome::AlreadyVoted {
        return Ok(ReturnValue::code(NOT_VOTED));
    }
    if outcome == VoteOutcome::Won {
        match vote {
            FederationVote::Create => {
                storage.pending.set(Some(Default::default()));
                storage.federation_election.get_mut(&mut storage.slots)?.clear();
            }
            FederationVote::Add(member) => {
                let pending = storage.pending.get_mut(&mut storage.slots)?.get_or_insert_default();
                pending.members.push(member);
                pending.members.sort_unstable();
                storage.federation_election.get_mut(&mut storage.slots)?.remove(&spec);
            }
            FederationVote::Commit(_) => {
                let pending = storage.pending.get(&mut storage.slots)?.clone().unwrap_or_default();
                federation_change::commit(storage, ctx, logs, &pending)?;
                storage.federation_election.get_mut(&mut storage.slots)?.remove(&spec);
            }
            FederationVote::Rollback => {
                storage.pending.set(None);
                storage.federation_election.get_mut(&mut storage.slots)?.clear();
            }
        }
    }
    Ok(ReturnValue::code(SUCCESS))
}

/// Returns `None` if a key is malformed. A hash of a wrong length is a call error.
fn decode_vote(function: &[u8], arguments: &[&[u8]]) -> Result<Option<FederationVote>> {
    Ok(match (function, arguments) {
        (b"create", _) => Some(FederationVote::Create),
        (b"rollback", _) => Some(FederationVote::Rollback),
        (b"add", [key]) => compressed(key).map(|key| FederationVote::Add(FederationMember::with_one_key(key))),
        (_, [hash]) => Some(FederationVote::Commit((*hash).try_into().map_err(|_length| MethodFailure::Rejected)?)),
        (_, [bitcoin, rsk, mst]) => match (compressed(bitcoin), compressed(rsk), compressed(mst)) {
            (Some(bitcoin), Some(rsk), Some(mst)) => Some(FederationVote::Add(FederationMember { bitcoin, rsk, mst })),
            _ => None,
        },
        _ => None,
    })
}

/// Returns the code of a vote as if it won now.
fn dry_run(storage: &mut Storage<'_>, ctx: &CallContext<'_>, vote: &FederationVote) -> Result<i64> {
    let pending = storage.pending.get(&mut storage.slots)?;
    Ok(match (vote, pending) {
        (FederationVote::Create, Some(_)) => PENDING_EXISTS,
        (FederationVote::Create, None) => {
            if federation::proposed(storage, ctx)?.is_some() {
                FEDERATION_PROPOSED
            } else if federation::is_activation_pending(storage, ctx)? {
                ACTIVATION_PENDING
            } else if federation::retiring(storage, ctx)?.is_some() {
                FEDERATION_RETIRING
            } else {
                SUCCESS
            }
        }
        (_, None) => NO_PENDING,
        (FederationVote::Rollback, Some(_)) => SUCCESS,
        (FederationVote::Add(member), Some(pending)) => {
            let is_used = pending.members.iter().any(|other| other.shares_key(member));
            if is_used { KEY_IN_USE } else { SUCCESS }
        }
        (FederationVote::Commit(_), Some(pending)) if pending.members.len() < MINIMUM_SIZE => TOO_FEW_MEMBERS,
        (FederationVote::Commit(hash), Some(pending)) => {
            if pending.hash() == *hash {
                SUCCESS
            } else {
                DIFFERENT_HASH
            }
        }
    })
}

pub(crate) fn pending_hash(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    let pending = storage.pending.get(&mut storage.slots)?;
    Ok(ReturnValue::Bytes(pending.as_ref().map(|pending| pending.hash().to_vec()).unwrap_or_default()))
}

pub(crate) fn pending_size(storage: &mut Storage<'_>) -> Result<ReturnValue> {
    let pending = storage.pending.get(&mut storage.slots)?;
    Ok(ReturnValue::code(pending.as_ref().map_or(-1, |pending| pending.members.len() as i64)))
}

pub(crate) fn pending_key(storage: &mut Storage<'_>, index: i32, key: KeyType) -> Result<ReturnValue> {
    let Some(pending) = storage.pending.get(&mut storage.slots)? else { return Ok(ReturnValue::Bytes(Vec::new())) };
    let member = usize::try_from(index).ok().and_then(|index| pending.members.get(index));
    let member = member.ok_or(MethodFailure::Rejected)?;
    Ok(ReturnValue::Bytes(encoded(key.of_member(member)).to_vec()))
}
