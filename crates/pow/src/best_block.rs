//! Which of two tips is the better one.

use rhizome_primitives::{B256, U256};

/// What the choice between two tips looks at: only the tips themselves, not their branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// Sum of the difficulties from the genesis on, uncles included.
    pub total_difficulty: U256,
    /// Paid fees of its header.
    pub paid_fees: U256,
    /// Its hash.
    pub hash: B256,
}

/// Does `new` replace `current`? More total difficulty wins; with equal difficulty more than twice the fees win, and
/// when neither has, the smaller hash. A tip without fees never wins a tie.
pub fn is_better(new: &Tip, current: &Tip) -> bool {
    if new.total_difficulty != current.total_difficulty {
        return new.total_difficulty > current.total_difficulty;
    }
    exceeds_double(new.paid_fees, current.paid_fees)
        || (is_below_double(current.paid_fees, new.paid_fees) && new.hash < current.hash)
}

/// `a > 2b` without overflow.
fn exceeds_double(a: U256, b: U256) -> bool {
    b.checked_mul(U256::from(2)).is_some_and(|double| a > double)
}

/// `a < 2b` without overflow.
fn is_below_double(a: U256, b: U256) -> bool {
    b.checked_mul(U256::from(2)).is_none_or(|double| a < double)
}
