//! Starts the network of the open node. It stops with the node.

use crate::process;
use crate::reply::{Reply, refusal};
use napi::Result;
use napi_derive::napi;
use rhizome_answers::{Node, RpcError, admin};
use rhizome_net::{NetworkOptions, NodeKey, PeerNetwork, node_key_in, random_node_key};
use serde::Deserialize;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// Argument of `startNetwork`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NetworkConfig {
    host: IpAddr,
    port: Option<u16>,
    peers: Vec<String>,
    bootnodes: Vec<String>,
    has_discovery: bool,
    max_peers: usize,
    /// Private key as hex. `None`: from the file of the data directory, or a fresh one without it.
    node_key: Option<String>,
    public_ip: Option<IpAddr>,
    serves_snap: bool,
    downloads_state: bool,
    data_dir: Option<PathBuf>,
}

impl NetworkConfig {
    fn key(&self) -> std::result::Result<NodeKey, RpcError> {
        match (&self.node_key, &self.data_dir) {
            (Some(hex), _) => hex.parse().map_err(RpcError::internal),
            (None, Some(directory)) => node_key_in(&directory.join("nodekey")).map_err(RpcError::internal),
            (None, None) => random_node_key().map_err(RpcError::internal),
        }
    }

    fn start(&self, node: &Node) -> std::result::Result<PeerNetwork, RpcError> {
        let chain = Arc::clone(node.chain());
        let genesis = chain.main_hash(0)?.ok_or_else(|| RpcError::internal("the chain has no genesis block"))?;
        let static_peers = self.peers.iter().map(|url| url.parse()).collect::<std::result::Result<_, _>>();
        let bootnodes = self.bootnodes.iter().map(|host| host.parse()).collect::<std::result::Result<_, _>>();
        let options = NetworkOptions {
            client: format!(
                "Rhizome/v{}/{}-{}/rust",
                env!("CARGO_PKG_VERSION"),
                std::env::consts::OS,
                std::env::consts::ARCH
            ),
            host: self.host,
            port: self.port,
            static_peers: static_peers.map_err(RpcError::internal)?,
            bootnodes: bootnodes.map_err(RpcError::internal)?,
            has_discovery: self.has_discovery,
            public_ip: self.public_ip,
            nodes_file: self.data_dir.as_ref().map(|directory| directory.join("nodes")),
            max_peers: self.max_peers,
            serves_snap: self.serves_snap,
            downloads_state: self.downloads_state,
            exempts_local: chain.spec().is_development(),
            expects_blocks: !chain.spec().is_development(),
            ..NetworkOptions::new(self.key()?, chain.spec().network_id.into(), genesis)
        };
        PeerNetwork::join(options, chain, Arc::clone(node.standing())).map_err(RpcError::internal)
    }
}

/// Opens the port for peers and dials. Takes settings as JSON, returns the result of `admin_nodeInfo`.
#[napi(catch_unwind, ts_return_type = "string | Buffer")]
pub fn start_network(config: String) -> Result<Reply> {
    let config: NetworkConfig =
        serde_json::from_str(&config).map_err(|error| refusal(RpcError::internal(format!("startNetwork: {error}"))))?;
    let running = process::running().map_err(refusal)?;
    running.node().attach_network(config.start(&running.node()).map_err(refusal)?);
    crate::executors::sync(admin::node_info::answer)
}
