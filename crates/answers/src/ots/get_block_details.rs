//! `ots_getBlockDetails` and `ots_getBlockDetailsByHash`.

use crate::block_id::{BlockId, BlockRef};
use crate::error::Answer;
use crate::json::{self, JsonWriter};
use crate::lookup;
use crate::node::Node;
use crate::objects::block;
use rhizome_primitives::U256;

/// Returns a block without transactions and bloom, the number of its transactions, and the fees that its senders paid in wei; `null`
/// for an unknown block. The issuance is zero: blocks of Rootstock issue no coins. -32602 at `pending`.
pub fn answer(node: &Node, at: &BlockId<'_>) -> Answer {
    let Some(BlockRef::Mined(record)) = at.refuse_pending("ots_getBlockDetails")?.find_stored(node)? else {
        return Ok(json::null());
    };
    let Some(receipts) = node.chain().receipts(&record.hash)? else { return Ok(json::null()) };
    let paid = record.block.transactions.iter().zip(receipts.iter());
    let fee = |price: U256, gas: u64| price.saturating_mul(U256::from(gas));
    let fees =
        paid.fold(U256::ZERO, |sum, (mined, receipt)| sum.saturating_add(fee(mined.gas_price(), receipt.gas_used)));
    let mut json = JsonWriter::with_capacity(2048);
    json.begin_object();
    let count = lookup::transaction_count(node, &record);
    block::write_summary(json.key("block"), &record, count, None, node.options().transaction_form);
    json.key("issuance").begin_object();
    for name in ["blockReward", "uncleReward", "issuance"] {
        json.key(name).quantity(0);
    }
    json.end_object();
    json.key("totalFees").quantity_wide(&fees);
    json.end_object();
    Ok(json.finish())
}
