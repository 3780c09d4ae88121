//! `eth_getBlocksByNumber`.

use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use crate::parameters;

/// Returns all known blocks at a height: hash, total difficulty, and whether the block is on the main chain.
pub fn answer(node: &Node, number: &str) -> Answer {
    let invalid = || RpcError::invalid_params(format!("invalid blocknumber {number}"));
    if number == "0x" {
        return Err(invalid());
    }
    let height = parameters::number(number).map_err(|_words| invalid())?;
    let mut json = JsonWriter::new();
    json.begin_array();
    // Heights beyond 64 bits are valid numbers at which nothing is known.
    let known = u64::try_from(height).map_or_else(|_| Ok(Vec::new()), |height| node.chain().blocks_at(height))?;
    for block in known {
        json.begin_object();
        json.key("hash").hash(&block.hash);
        json.key("totalDifficulty").quantity_wide(&block.total_difficulty);
        json.key("inMainChain").boolean(block.is_main);
        json.end_object();
    }
    json.end_array();
    Ok(json.finish())
}
