//! `rsk_getTransactionReceiptNodesByHash`.

use crate::error::{Answer, RpcError};
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_primitives::{B256, Bytes};
use rhizome_trie::{list_key, list_trie};

/// Returns the nodes from a receipt to the root of the receipts trie of its block, leaf first, as they are hashed
/// (docs/spec/state.md, 6.1). `null` if the block or the transaction in it is unknown.
pub fn answer(node: &Node, block: &B256, transaction: &B256) -> Answer {
    let Some(receipts) = node.chain().receipts(block)? else { return Ok(json::null()) };
    let hashes = receipts.transaction_hashes();
    let Some(index) = hashes.iter().position(|hash| hash == transaction) else { return Ok(json::null()) };
    let trie = list_trie(receipts.iter().map(|receipt| Bytes::from(receipt.encode()))).map_err(RpcError::internal)?;
    let nodes = trie.get_nodes(&list_key(index as u64)).map_err(RpcError::internal)?;
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_array();
    nodes.iter().flatten().for_each(|message| json.data(message));
    json.end_array();
    Ok(json.finish())
}
