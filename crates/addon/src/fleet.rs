//! Starts the part of the open node in a fleet. It stops with the node.

use crate::node_role::NodeRole;
use crate::process;
use crate::reply::refusal;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::{Node, RpcError, fleet};
use rhizome_fleet::{Credentials, Fleet, FleetOptions, TlsFiles};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Argument of `startFleet`. Not `Debug`: the URL may have a password.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FleetConfig {
    role: NodeRole,
    url: String,
    /// File with user and password, or a token.
    credentials: Option<PathBuf>,
    tls_authorities: Option<PathBuf>,
    tls_certificate: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    requires_tls: bool,
    name: String,
    version: String,
    block_retention_seconds: u64,
    stream_copies: usize,
}

impl FleetConfig {
    fn options(self) -> std::result::Result<FleetOptions, RpcError> {
        let credentials = match &self.credentials {
            Some(path) => Credentials::read(path).map_err(RpcError::internal)?,
            None => Credentials::Url,
        };
        Ok(FleetOptions {
            role: self.role.into(),
            url: self.url,
            credentials,
            tls: TlsFiles {
                authorities: self.tls_authorities,
                client: self.tls_certificate.zip(self.tls_key),
                is_required: self.requires_tls,
            },
            name: self.name,
            version: self.version,
            block_retention: Duration::from_secs(self.block_retention_seconds),
            stream_copies: self.stream_copies,
        })
    }
}

fn start(config: FleetConfig, node: &Arc<Node>) -> std::result::Result<Fleet, RpcError> {
    // Weak: the node owns its fleet.
    let taker = Arc::downgrade(node);
    let sink = move |transaction| taker.upgrade().is_some_and(|node| fleet::take_transaction(&node, transaction));
    Fleet::start(config.options()?, Arc::clone(node.chain()), sink).map_err(RpcError::internal)
}

/// Joins a fleet. Takes settings as JSON. A server that is away is no failure.
#[napi(catch_unwind)]
pub fn start_fleet(config: String) -> Result<()> {
    let config: FleetConfig =
        serde_json::from_str(&config).map_err(|error| refusal(RpcError::internal(format!("startFleet: {error}"))))?;
    let running = process::running().map_err(refusal)?;
    let node = running.node();
    node.attach_fleet(start(config, &node).map_err(refusal)?);
    Ok(())
}

/// Returns number and hash of the block of the tag latest, separated by a space.
#[napi(catch_unwind)]
pub fn latest_block() -> Result<String> {
    let running = process::running().map_err(refusal)?;
    fleet::latest_text(&running.node()).map_err(refusal)
}
