//! The fee per kilobyte and its votes (docs/spec/bridge.md, 9.5).

use crate::constants::MAXIMUM_FEE_PER_KB;
use crate::context::CallContext;
use crate::election::{self, VoteOutcome};
use crate::error::Result;
use crate::return_value::ReturnValue;
use crate::slots::election::VoteSpec;
use crate::storage::Storage;
use rhizome_primitives::{I256, rlp};

const SUCCESS: i64 = 1;
const NOT_AUTHORIZED: i64 = -10;
const NOT_POSITIVE: i64 = -1;
const ALREADY_VOTED: i64 = -1;
const TOO_HIGH: i64 = -2;

/// Returns the fee in satoshis for 1000 bytes.
pub(crate) fn fee_per_kb(storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<u64> {
    Ok(storage.fee_per_kb.get(&mut storage.slots)?.unwrap_or(ctx.constants.fee_per_kb))
}

pub(crate) fn vote(storage: &mut Storage<'_>, ctx: &CallContext<'_>, fee: I256) -> Result<ReturnValue> {
    let authorizer = &ctx.constants.fee_change;
    let Ok(fee) = i64::try_from(fee) else { return Ok(ReturnValue::code(NOT_AUTHORIZED)) };
    if !authorizer.contains(&ctx.caller()) {
        return Ok(ReturnValue::code(NOT_AUTHORIZED));
    }
    let positive = u64::try_from(fee).ok().filter(|fee| *fee > 0);
    let Some(positive) = positive else { return Ok(ReturnValue::code(NOT_POSITIVE)) };
    if fee > MAXIMUM_FEE_PER_KB {
        return Ok(ReturnValue::code(TOO_HIGH));
    }
    let mut argument = Vec::new();
    rlp::put_u64(&mut argument, positive);
    let spec = VoteSpec { function: b"setFeePerKb", arguments: vec![argument] };
    let outcome = election::vote(&mut storage.fee_election, &mut storage.slots, ctx, authorizer, &spec)?;
    if outcome == VoteOutcome::Won {
        storage.fee_per_kb.set(Some(positive));
        storage.fee_election.get_mut(&mut storage.slots)?.clear();
    }
    Ok(ReturnValue::code(if outcome == VoteOutcome::AlreadyVoted { ALREADY_VOTED } else { SUCCESS }))
}
