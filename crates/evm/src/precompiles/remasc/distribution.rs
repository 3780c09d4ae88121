//! The arithmetic of REMASC: the payments for a block that matures. No access to state or chain.

use crate::state::AccountId;
use rhizome_primitives::{Address, B256, RemascParams, U256};

/// A block at the matured height: the rewarded block or a sibling.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) hash: B256,
    pub(super) coinbase: AccountId,
    pub(super) paid_fees: U256,
    pub(super) uncle_count: u32,
}

/// A sibling with the block that has included it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sibling {
    pub(super) block: Candidate,
    pub(super) included_at: u64,
    pub(super) publisher: AccountId,
}

/// The stored balances of REMASC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Balances {
    pub(super) reward: U256,
    pub(super) burned: U256,
    pub(super) federation: U256,
    pub(super) is_rule_broken: bool,
}

/// The inputs of a distribution.
pub(super) struct RewardRound<'a> {
    pub(super) params: &'a RemascParams,
    /// Whether RSKIP-85 is active.
    pub(super) has_minimum_payments: bool,
    pub(super) beneficiary: Address,
    /// Members of the active federation, in the order of payment.
    pub(super) federators: &'a [Address],
    /// Minimum gas price of the executing block.
    pub(super) minimum_gas_price: U256,
    /// Height of the rewarded block.
    pub(super) height: u64,
    pub(super) rewarded: Candidate,
    /// Sorted by height of inclusion, then by position.
    pub(super) siblings: &'a [Sibling],
    pub(super) before: Balances,
}

/// The result of a distribution. `None` leaves a balance unchanged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Distribution {
    pub(super) payments: Vec<(AccountId, U256)>,
    pub(super) reward: Option<U256>,
    pub(super) burned: Option<U256>,
    pub(super) federation: Option<U256>,
    pub(super) is_rule_broken: Option<bool>,
}

impl Distribution {
    fn pay(&mut self, value: U256, to: impl Into<AccountId>) {
        self.payments.push((to.into(), value));
    }
}

/// A number exceeds 256 bits, a parameter is invalid, or a share has no receiver. The reference fails too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfRange;

impl RewardRound<'_> {
    /// Computes the payments and balances of the executing block.
    pub(super) fn distribute(&self) -> Result<Distribution, OutOfRange> {
        let mut result = Distribution::default();
        let balance = add(self.before.reward, self.rewarded.paid_fees)?;
        result.reward = Some(balance);
        if self.height < self.params.synthetic_span {
            return Ok(result);
        }

        result.is_rule_broken = Some(!self.siblings.is_empty() && self.is_selection_broken());

        let (mut reward, _) = divide(balance, self.params.synthetic_span)?;
        if self.has_minimum_payments && reward < self.price_of(self.params.minimum_payable_gas) {
            return Ok(result);
        }
        result.reward = Some(subtract(balance, reward)?);

        let (cut, _) = divide(reward, self.params.labs_divisor)?;
        result.pay(cut, self.beneficiary);
        reward = subtract(reward, cut)?;

        let (share, _) = divide(reward, self.params.federation_divisor)?;
        self.pay_federation(share, &mut result)?;
        reward = subtract(reward, share)?;

        if self.siblings.is_empty() {
            self.pay_single(reward, &mut result)?;
        } else {
            self.pay_with_siblings(reward, &mut result)?;
        }
        Ok(result)
    }

    /// Whether the fork choice should have preferred a sibling.
    fn is_selection_broken(&self) -> bool {
        let own = &self.rewarded;
        let doubled = |fees: U256| fees.saturating_mul(U256::from(2));
        let is_preferable = |sibling: &Sibling| {
            let other = &sibling.block;
            other.paid_fees > doubled(own.paid_fees)
                || own.paid_fees < doubled(other.paid_fees) && other.hash < own.hash
                || other.uncle_count > own.uncle_count
        };
        self.siblings.iter().any(is_preferable)
    }

    fn pay_federation(&self, share: U256, result: &mut Distribution) -> Result<(), OutOfRange> {
        let (last, others) = self.federators.split_last().ok_or(OutOfRange)?;
        let pot = add(self.before.federation, share)?;
        let (each, rest) = divide(pot, self.federators.len() as u64)?;
        if self.has_minimum_payments {
            if each < self.price_of(self.params.federator_minimum_payable_gas) {
                result.federation = Some(pot);
                return Ok(());
            }
            // Before RSKIP-85 the balance is paid, but not reduced.
            result.federation = Some(U256::ZERO);
        }
        for federator in others {
            result.pay(each, *federator);
        }
        result.pay(add(each, rest)?, *last);
        Ok(())
    }

    fn pay_single(&self, mut reward: U256, result: &mut Distribution) -> Result<(), OutOfRange> {
        if self.before.is_rule_broken {
            let (penalty, _) = divide(reward, self.params.punishment_divisor)?;
            reward = subtract(reward, penalty)?;
            result.burned = Some(add(self.before.burned, penalty)?);
        }
        result.pay(reward, self.rewarded.coinbase);
        Ok(())
    }

    fn pay_with_siblings(&self, reward: U256, result: &mut Distribution) -> Result<(), OutOfRange> {
        let count = self.siblings.len() as u64;
        let (publishers, _) = divide(reward, self.params.publishers_divisor)?;
        let miners = subtract(reward, publishers)?;
        let (per_publisher, publishers_rest) = divide(publishers, count)?;
        let (mut per_miner, miners_rest) = divide(miners, count + 1)?;
        let mut burned = add(add(self.before.burned, publishers_rest)?, miners_rest)?;
        if self.before.is_rule_broken {
            let (penalty, _) = divide(per_miner, self.params.punishment_divisor)?;
            per_miner = subtract(per_miner, penalty)?;
            burned = add(burned, multiply(penalty, count + 1)?)?;
        }
        for sibling in self.siblings {
            result.pay(per_publisher, sibling.publisher);
        }
        for sibling in self.siblings {
            let late = sibling.included_at.saturating_sub(self.height).saturating_sub(1);
            let (loss, _) = divide(multiply(per_miner, late)?, self.params.late_uncle_inclusion_punishment_divisor)?;
            result.pay(subtract(per_miner, loss)?, sibling.block.coinbase);
            burned = add(burned, loss)?;
        }
        result.pay(per_miner, self.rewarded.coinbase);
        result.burned = Some(burned);
        Ok(())
    }

    fn price_of(&self, gas: u64) -> U256 {
        self.minimum_gas_price.saturating_mul(U256::from(gas))
    }
}

fn add(left: U256, right: U256) -> Result<U256, OutOfRange> {
    left.checked_add(right).ok_or(OutOfRange)
}

fn subtract(left: U256, right: U256) -> Result<U256, OutOfRange> {
    left.checked_sub(right).ok_or(OutOfRange)
}

fn multiply(value: U256, factor: u64) -> Result<U256, OutOfRange> {
    value.checked_mul(U256::from(factor)).ok_or(OutOfRange)
}

/// Returns quotient and remainder.
fn divide(value: U256, divisor: u64) -> Result<(U256, U256), OutOfRange> {
    if divisor == 0 { Err(OutOfRange) } else { Ok(value.div_rem(U256::from(divisor))) }
}
