//! The choice between two tips.

use rhizome_pow::{Tip, is_better};
use rhizome_primitives::{B256, Header, U256};

use crate::archive::record::BlockRecord;

/// Whether a block with this header and total difficulty replaces `head` as the best block. Needs no execution: the fees in
/// the header are compared with the result when the block is executed.
pub(crate) fn replaces(hash: B256, header: &Header, total_difficulty: U256, head: &BlockRecord) -> bool {
    let current =
        Tip { total_difficulty: head.total_difficulty, paid_fees: head.block.header.paid_fees, hash: head.hash };
    is_better(&Tip { total_difficulty, paid_fees: header.paid_fees, hash }, &current)
}
