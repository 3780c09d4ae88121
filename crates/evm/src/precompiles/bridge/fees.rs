//! The fee per kilobyte: its votes, and what peg-outs are estimated to cost (bridge chapters 7.7 and 9.5).

use super::cells;
use super::constants::MAXIMUM_FEE_PER_KB;
use super::election::Spec;
use super::federation::{code, word};
use super::invocation::Invocation;
use super::{Answer, Failure, Result};
use rhizome_primitives::{I256, Rule, rlp};

const SUCCESS: i64 = 1;
const NOT_AUTHORIZED: i64 = -10;
const NOT_POSITIVE: i64 = -1;
const ALREADY_VOTED: i64 = -1;
const TOO_HIGH: i64 = -2;
/// Inputs of the peg-out that an estimate is made for.
const ESTIMATED_INPUTS: u64 = 2;

impl Invocation<'_, '_> {
    /// Satoshis for 1000 bytes.
    pub(super) fn fee_per_kb(&mut self) -> Result<u64> {
        match self.memory.fee_per_kb {
            Some(fee) => Ok(fee),
            None => Ok(self.read_u64(cells::FEE_PER_KB)?.unwrap_or(self.constants.fee_per_kb)),
        }
    }

    pub(super) fn vote_fee_per_kb(&mut self, fee: I256) -> Result<Answer> {
        let authorizer = &self.constants.fee_change;
        let Ok(fee) = i64::try_from(fee) else { return Ok(code(NOT_AUTHORIZED)) };
        if !authorizer.knows(&self.sender()) {
            return Ok(code(NOT_AUTHORIZED));
        }
        let positive = u64::try_from(fee).ok().filter(|fee| *fee > 0);
        let Some(positive) = positive else { return Ok(code(NOT_POSITIVE)) };
        if fee > MAXIMUM_FEE_PER_KB {
            return Ok(code(TOO_HIGH));
        }
        let mut argument = Vec::new();
        rlp::put_u64(&mut argument, positive);
        let spec = Spec { function: b"setFeePerKb", arguments: vec![argument] };
        let mut election = self.read_election(cells::FEE_ELECTION, authorizer)?;
        let is_counted = election.vote(&spec, self.ctx.caller);
        if is_counted && election.is_won(&spec, authorizer.required) {
            self.memory.fee_per_kb = Some(positive);
            election.clear();
        }
        self.memory.fee_election = Some(election);
        Ok(code(if is_counted { SUCCESS } else { ALREADY_VOTED }))
    }

    /// The fee of a peg-out of the estimated size, in satoshis.
    pub(super) fn estimated_fee(&mut self, outputs: u64) -> Result<u64> {
        let size = self.peg_out_size(ESTIMATED_INPUTS, outputs)?;
        let fee = self.fee_per_kb()?.checked_mul(size).ok_or(Failure::Call)?;
        Ok(fee / 1000)
    }

    /// The next batch of peg-outs with one more request. Without coins there is nothing to simulate it with.
    pub(super) fn estimate_next_batch(&mut self) -> Result<Answer> {
        let requests = self.queue()?.len() as u64;
        if requests == 0 && !self.has(Rule::Rskip385) {
            return Ok(word(0));
        }
        if self.has(Rule::Rskip305) {
            self.read_active_coins()?;
        }
        Ok(word(self.estimated_fee(requests + 2)?))
    }

    /// A peg-out of an amount of wei. Without coins there is none, whatever the amount.
    pub(super) fn estimate_for_amount(&mut self) -> Result<Answer> {
        self.queue()?;
        self.read_active_coins()?;
        Err(Failure::Argument)
    }
}
