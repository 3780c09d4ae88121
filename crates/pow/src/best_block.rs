//! The choice between two tips.

use rhizome_primitives::{B256, U256};

/// The values that decide between two tips. Blocks below the tips do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// Sum of the difficulties of the branch and its uncles, genesis included.
    pub total_difficulty: U256,
    /// Paid fees in the header.
    pub paid_fees: U256,
    /// Block hash.
    pub hash: B256,
}

/// Returns true if `new` replaces `current`. More total difficulty wins. With equal difficulty, more than twice the fees
/// win; if neither tip has these, the smaller hash. A tip without fees never wins a tie.
pub fn is_better(new: &Tip, current: &Tip) -> bool {
    if new.total_difficulty != current.total_difficulty {
        return new.total_difficulty > current.total_difficulty;
    }
    exceeds_double(new.paid_fees, current.paid_fees)
        || (is_below_double(current.paid_fees, new.paid_fees) && new.hash < current.hash)
}

/// Returns `a > 2b`, without overflow.
fn exceeds_double(a: U256, b: U256) -> bool {
    b.checked_mul(U256::from(2)).is_some_and(|double| a > double)
}

/// Returns `a < 2b`, without overflow.
fn is_below_double(a: U256, b: U256) -> bool {
    b.checked_mul(U256::from(2)).is_none_or(|double| a < double)
}
