use std::io;

use rhizome_primitives::{B256, DecodeError};

/// Failures between a fork and the remote node.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The URL is not one of a node.
    #[error("not the http or https URL of a node: {reason}")]
    Url {
        /// Fault of the URL.
        reason: String,
    },
    /// The header for the remote node is not a header.
    #[error("not a header in the form NAME=VALUE")]
    Header,
    /// The HTTP client cannot be made.
    #[error("no HTTP client: {reason}")]
    Client {
        /// Reason.
        reason: String,
    },
    /// The remote node does not answer.
    #[error("the remote node {host} does not answer: {reason}")]
    Away {
        /// Host of the remote node.
        host: String,
        /// The last failure.
        reason: String,
    },
    /// The remote node refuses the request.
    #[error("the remote node {host} answers with HTTP status {status}")]
    Status {
        /// Host of the remote node.
        host: String,
        /// HTTP status.
        status: u16,
    },
    /// The answer is not one of JSON-RPC.
    #[error("the remote node {host} answers {what}")]
    NotJsonRpc {
        /// Host of the remote node.
        host: String,
        /// Kind of the fault.
        what: &'static str,
    },
    /// The answer to a call is an error.
    #[error("the remote node refuses {method}: {message} ({code})")]
    Refused {
        /// Method of the call.
        method: String,
        /// Error code of the remote node.
        code: i64,
        /// Message of the remote node.
        message: String,
    },
    /// The result of a call has another form than the method has.
    #[error("the remote node answers {method} with a malformed result: {reason}")]
    Result {
        /// Method of the call.
        method: String,
        /// Kind of the fault.
        reason: String,
    },
    /// The remote node is not one of Rootstock.
    #[error(
        "chain id {chain_id} is not one of Rootstock: 30 is mainnet, 31 testnet, 33 regtest; describe another chain with a chain file"
    )]
    NotRootstock {
        /// Chain id of the remote node.
        chain_id: u64,
    },
    /// The remote node has the chain id of a network, and another genesis block.
    #[error("the remote node has chain id {chain_id} of {network} and another genesis block: {genesis}")]
    Genesis {
        /// Chain id of the remote node.
        chain_id: u64,
        /// Network with this chain id.
        network: String,
        /// Hash of its block 0.
        genesis: B256,
    },
    /// The chain file is for another chain.
    #[error("the chain file has chain id {expected}, the remote node {found}")]
    ChainId {
        /// Chain id of the chain file.
        expected: u8,
        /// Chain id of the remote node.
        found: u64,
    },
    /// The remote node does not have the block.
    #[error("the remote node has no block {block}")]
    NoBlock {
        /// Number or hash of the block.
        block: String,
    },
    /// The block cannot be forked.
    #[error("a fork begins at block 1 or later")]
    GenesisBlock,
    /// The fields of a header do not have its hash.
    #[error("the header of block {number} from the remote node does not have the hash {hash}")]
    HeaderHash {
        /// Number of the block.
        number: u64,
        /// Hash that the remote node states.
        hash: B256,
    },
    /// A header cannot be read.
    #[error("the header of block {number} from the remote node cannot be read: {reason}")]
    HeaderField {
        /// Number of the block.
        number: u64,
        /// Reason.
        reason: DecodeError,
    },
    /// The transactions of a block do not have the hashes that the block states.
    #[error("the transactions of block {number} from the remote node do not have the hashes that the block states")]
    Transactions {
        /// Number of the block.
        number: u64,
    },
    /// The block is not on the chain that the fork continues.
    #[error("block {number} {hash} is not on the chain that the fork continues")]
    BesideChain {
        /// Number of the block.
        number: u64,
        /// Hash of the block.
        hash: B256,
    },
    /// The remote node has another block at the height now.
    #[error("the remote node has block {found} at height {number} instead of {expected}: its chain has changed")]
    Changed {
        /// Height.
        number: u64,
        /// Hash of the block before.
        expected: B256,
        /// Hash of the block now.
        found: B256,
    },
    /// A node in the place of the remote node has another chain.
    #[error("the node has another chain than the fork: its block {number} is {found} instead of {expected}")]
    OtherChain {
        /// Height of the compared blocks.
        number: u64,
        /// Hash in the fork's chain.
        expected: B256,
        /// Hash in the node's chain.
        found: B256,
    },
    /// A node in the place of the remote node does not serve what that one did.
    #[error("the node does not serve {what}, which the current one does; begin a fork with it instead")]
    ServesLess {
        /// The missing part.
        what: &'static str,
    },
    /// The remote node does not serve storage slots of the Bridge.
    #[error(
        "the remote node does not serve the storage of the Bridge (rsk_getStorageBytesAt): Rhizome serves it with [modules.rsk] deny = \
         [\"rsk_shutdown\", \"rsk_flush\"], rskj without it in rpc.modules.rsk.methods.disabled"
    )]
    BridgeStorage,
    /// The value is not in the cache, and the thread must not wait for the remote node.
    #[error("the value is not in the cache yet")]
    NotCached,
    /// The cache cannot be used.
    #[error("the cache {file} cannot be used: {source}")]
    Cache {
        /// Path of the file or folder.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
}
