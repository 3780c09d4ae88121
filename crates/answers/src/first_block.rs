//! Search for the block that changed a state for good.

use crate::error::{ErrorCode, RpcError};
use crate::node::Node;
use rhizome_evm::Deadline;
use rhizome_trie::StateReader;

/// Returns the first block of the best chain after which a condition holds, which must stay true; otherwise one of the blocks that
/// made it true. `None` if it does not hold at the head, or has held since genesis. `what` became true with the block: fails with
/// -32000 if that is below the oldest kept state. The number of read states is the logarithm of the number of kept ones.
pub(crate) fn first_block(
    node: &Node,
    what: &str,
    deadline: &Deadline,
    holds: impl Fn(&dyn StateReader) -> Result<bool, RpcError>,
) -> Result<Option<u64>, RpcError> {
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
        return Ok(None);
    }
    if holds_after(low)? {
        let message = format!("the {what} is not above block {low}, the oldest one whose state is kept");
        return if low == 0 { Ok(None) } else { Err(RpcError::server(message)) };
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds_after(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}
