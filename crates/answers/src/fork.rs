//! Questions about the blocks up to the block that a fork begins at: the remote node has them.

use crate::block_id::BlockId;
use crate::error::{Answer, ErrorCode, RpcError};
use crate::json::{self, JsonWriter};
use crate::node::{ForkedChain, Node};
use rhizome_chain::LogFilter;
use rhizome_fork::{CacheFolder, RemoteAddress, RemoteChain};
use rhizome_primitives::B256;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::str;

/// Part of a block that a method reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockPart {
    /// Header, transactions or receipts: those of the block that the fork begins at are in the remote chain.
    Block,
    /// The state after it: that of the block that the fork begins at is in the fork.
    State,
}

/// Returns the number of the block if the remote node has the part of it that the fork does not have; else, and without a fork, null.
pub fn remote_number(node: &Node, block: &BlockId<'_>, part: BlockPart) -> Answer {
    let mut json = JsonWriter::new();
    match node.fork().map(|fork| remote_height(node, fork, block, part)).transpose()?.flatten() {
        Some(number) => json.quantity(number),
        None => json.null(),
    };
    Ok(json.finish())
}

fn remote_height(
    node: &Node,
    fork: &ForkedChain,
    block: &BlockId<'_>,
    part: BlockPart,
) -> Result<Option<u64>, RpcError> {
    let last = match part {
        BlockPart::Block => fork.number(),
        BlockPart::State => fork.number() - 1,
    };
    Ok(block.fork_height(node, fork)?.filter(|number| *number <= last))
}

/// Returns the result of the remote node for a method that reads blocks, transactions or receipts; null for blocks and
/// transactions that are not part of the chain up to the block that the fork begins at. `params`: a JSON array.
pub fn pass(node: &Node, method: &str, params: &str) -> Answer {
    let Some(fork) = node.fork().and_then(ForkedChain::remote) else { return Ok(b"null".to_vec()) };
    let result = fork.pass(method, params)?;
    let first = match serde_json::from_str::<Vec<Positioned>>(&result) {
        Ok(list) => list.into_iter().next(),
        Err(_other) => serde_json::from_str::<Positioned>(&result).ok(),
    };
    let is_part = match first.and_then(|positioned| positioned.number) {
        Some(number) => number.is_some_and(|number| is_at_most(&number, fork.number())),
        // Without a position: the caller has named the block.
        None => true,
    };
    Ok(if is_part { result.into_bytes() } else { b"null".to_vec() })
}

/// The position of a block, transaction or receipt.
#[derive(Deserialize)]
struct Positioned {
    /// `None` without such a member; null while a transaction is pending.
    #[serde(default, alias = "blockNumber", deserialize_with = "present")]
    number: Option<Option<String>>,
}

fn present<'a, D: serde::Deserializer<'a>>(member: D) -> Result<Option<Option<String>>, D::Error> {
    Deserialize::deserialize(member).map(Some)
}

fn is_at_most(quantity: &str, most: u64) -> bool {
    let digits = quantity.strip_prefix("0x").unwrap_or_default();
    u64::from_str_radix(digits, 16).is_ok_and(|number| number <= most)
}

/// Reads from another node of the same chain from now on. Returns null. Fails with -32000 without a fork, or if the node does not fit.
pub fn set_remote(node: &Node, address: &RemoteAddress) -> Answer {
    let fork = node.fork().and_then(ForkedChain::remote);
    let fork = fork.ok_or_else(|| RpcError::server("this node is no fork of a remote node"))?;
    fork.set_address(address)?;
    Ok(json::null())
}

/// Blocks of the other chain whose logs are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OlderLogs {
    /// From a number to another, both included.
    Range(u64, u64),
    /// One block.
    Block(B256),
}

/// Returns logs of the remote chain as a JSON array.
pub(crate) fn logs(fork: &RemoteChain, filter: &LogFilter, blocks: OlderLogs) -> Answer {
    let mut object = match blocks {
        OlderLogs::Range(first, last) => {
            json!({ "fromBlock": format!("{first:#x}"), "toBlock": format!("{last:#x}") })
        }
        OlderLogs::Block(hash) => json!({ "blockHash": hash.to_string() }),
    };
    let texts = |hashes: &[B256]| Value::from(hashes.iter().map(B256::to_string).collect::<Vec<_>>());
    if !filter.addresses.is_empty() {
        let addresses: Vec<String> = filter.addresses.iter().map(|address| format!("{address:#x}")).collect();
        object["address"] = addresses.into();
    }
    if !filter.topics.is_empty() {
        let topics = filter.topics.iter().map(|topics| topics.as_deref().map_or(Value::Null, texts));
        object["topics"] = topics.collect();
    }
    Ok(fork.pass("eth_getLogs", &json!([object]).to_string())?.into_bytes())
}

/// Joins two JSON arrays.
pub(crate) fn join(first: &[u8], second: Vec<u8>) -> Answer {
    let inner = |list: &[u8]| str::from_utf8(list).ok()?.strip_prefix('[')?.strip_suffix(']').map(str::to_owned);
    let (Some(left), Some(right)) = (inner(first), inner(&second)) else {
        return Err(RpcError::new(ErrorCode::ServerError, "the remote node answers eth_getLogs without a list"));
    };
    let comma = if left.is_empty() || right.is_empty() { "" } else { "," };
    Ok(format!("[{left}{comma}{right}]").into_bytes())
}

/// Fails with -32000 in a fork, whose state is not whole.
pub(crate) fn refuse(node: &Node, method: &str, reason: &str) -> Result<(), RpcError> {
    match node.fork() {
        None => Ok(()),
        Some(_) => Err(RpcError::new(ErrorCode::ServerError, format!("{method} is not served in a fork: {reason}"))),
    }
}

/// Returns the cache files of forks in a folder: `[{"chainId","number","hash","bytes"}]`.
pub fn list_cache(folder: &str) -> Answer {
    let mut json = JsonWriter::new();
    json.begin_array();
    for fork in CacheFolder::new(Path::new(folder)).list()? {
        json.begin_object();
        json.key("chainId").number(fork.chain_id.cast_signed());
        json.key("number").number(fork.number.cast_signed());
        json.key("hash").hash(&fork.hash);
        json.key("bytes").number(fork.bytes.cast_signed());
        json.end_object();
    }
    json.end_array();
    Ok(json.finish())
}

/// Deletes the cache files of forks in a folder.
pub fn clear_cache(folder: &str) -> Answer {
    CacheFolder::new(Path::new(folder)).clear()?;
    Ok(b"null".to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_objects_are_found() {
        let number = |text: &str| serde_json::from_str::<Positioned>(text).map(|found| found.number).ok();
        assert_eq!(number(r#"{"number":"0x5","hash":"0x"}"#), Some(Some(Some("0x5".into()))));
        assert_eq!(number(r#"{"blockNumber":null}"#), Some(Some(None)));
        assert_eq!(number(r#"{"other":1}"#), Some(None));
        assert_eq!(number(r#""0x5""#), None);
        assert!(is_at_most("0x5", 5) && !is_at_most("0x6", 5) && !is_at_most("5", 5));
    }

    #[test]
    fn lists_are_joined() {
        let joined = |first: &str, second: &str| {
            join(first.as_bytes(), second.into()).map(|list| String::from_utf8(list).unwrap())
        };
        assert_eq!(joined("[1,2]", "[3]").unwrap(), "[1,2,3]");
        assert_eq!((joined("[]", "[3]").unwrap(), joined("[1]", "[]").unwrap()), ("[3]".into(), "[1]".into()));
        assert!(joined("null", "[]").is_err());
    }
}
