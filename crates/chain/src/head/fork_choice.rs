//! Which of two tips is the best block.

use rhizome_pow::{Tip, is_better};

use crate::BlockRecord;

/// Whether `new` takes the place of `current` as the best block.
pub(crate) fn replaces(new: &BlockRecord, current: &BlockRecord) -> bool {
    is_better(&tip(new), &tip(current))
}

fn tip(record: &BlockRecord) -> Tip {
    Tip { total_difficulty: record.total_difficulty, paid_fees: record.block.header.paid_fees, hash: record.hash }
}
