//! Search for the block that changed a state for good.

use crate::error::{ErrorCode, RpcError};
use crate::node::Node;
use rhizome_evm::Deadline;
use rhizome_trie::StateReader;

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundBlock {
    /// The condition does not hold at the head.
    Never,
    /// The condition holds in all kept states.
    BeforeAll {
        /// Number of the oldest block whose state is kept.
        oldest: u64,
    },
    /// The condition holds after this block, and not before it.
    At(u64),
}

/// Returns the first block of the best chain after which a condition holds, which must stay true; otherwise one of the blocks that
/// made it true. The number of read states is the logarithm of the number of kept ones.
pub(crate) fn first_block(
    node: &Node,
    deadline: &Deadline,
    holds: impl Fn(&dyn StateReader) -> Result<bool, RpcError>,
) -> Result<FoundBlock, RpcError> {
    let chain = node.chain();
    let holds_after = |number: u64| -> Result<bool, RpcError> {
        if deadline.has_passed() {
            return Err(RpcError::timed_out());
        }
        let record = chain.main_block(number)?;
        let record =
            record.ok_or_else(|| RpcError::new(ErrorCode::ServerError, format!("block {number} is unknown")))?;
        holds(&*node.state_at(&record)?)
    };
    let (mut low, mut high) = (chain.oldest_state(), chain.head().number());
    if !holds_after(high)? {
        return Ok(FoundBlock::Never);
    }
    if holds_after(low)? {
        return Ok(FoundBlock::BeforeAll { oldest: low });
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds_after(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(FoundBlock::At(high))
}
