//! Votes in elections (docs/spec/bridge.md, 9.1).

use crate::constants::Authorizer;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::slots::access::SlotAccess;
use crate::slots::election::{Election, VoteSpec};
use crate::slots::slot::Slot;

/// The outcome of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VoteOutcome {
    /// The caller has already voted for the spec.
    AlreadyVoted,
    /// The vote was registered, and more votes are required.
    Registered,
    /// The vote was registered, and the spec has the required number of votes.
    Won,
}

/// Registers the vote of the caller. A stored voter that is not authorized is a call error.
pub(crate) fn vote(
    election: &mut Slot<Election>,
    slots: &mut SlotAccess<'_>,
    ctx: &CallContext<'_>,
    authorizer: &Authorizer,
    spec: &VoteSpec,
) -> Result<VoteOutcome> {
    let election = election.get_mut(slots)?;
    if !election.all_voters(|voter| authorizer.contains(voter)) {
        return Err(MethodFailure::Rejected);
    }
    Ok(match (election.vote(spec, ctx.caller()), election.is_won(spec, authorizer.required)) {
        (false, _) => VoteOutcome::AlreadyVoted,
        (true, false) => VoteOutcome::Registered,
        (true, true) => VoteOutcome::Won,
    })
}
