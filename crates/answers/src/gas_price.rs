//! The price that gets a transaction into a block.

use crate::node::Node;
use rhizome_primitives::U256;

/// Wei for a unit of gas: the head's minimum with the usual margin, or what others pay while blocks are full.
pub(crate) fn suggested(node: &Node) -> U256 {
    let chain = node.chain();
    let minimum = chain.head().record.block.header.min_gas_price();
    let floor = minimum.saturating_mul(U256::from(node.options().gas_price_percent)) / U256::from(100);
    chain.pool().market_price().map_or(floor, |price| price.max(floor))
}
