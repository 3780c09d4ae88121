//! Starts the part of the open node in a fleet. It stops with the node.

use crate::executors::guarded;
use crate::node_role::NodeRole;
use crate::process;
use crate::reply::refusal;
use napi::Result;
use napi_derive::napi;
use rhizome_answers::feed::FeedContent;
use rhizome_answers::replica_restore::ReplicaRestore;
use rhizome_answers::{Node, RpcError, fleet};
use rhizome_fleet::{ChangeSource, Credentials, Fleet, FleetOptions, TlsFiles};
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
    /// Contents of the stream of changes; none: this node does not publish it.
    changes: Vec<String>,
    /// Location of checkpoints for a replica that the log has passed by.
    restore: Option<RestoreConfig>,
}

/// Where a replica restores checkpoints from.
#[derive(Deserialize)]
struct RestoreConfig {
    location: String,
    /// Public key of the only accepted publisher.
    trust: String,
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
    let changes = changes(&config.changes, node)?;
    Fleet::start(config.options()?, Arc::clone(node.chain()), sink, changes).map_err(RpcError::internal)
}

/// Returns the change feed for the fleet.
fn changes(contents: &[String], node: &Arc<Node>) -> std::result::Result<Option<ChangeSource>, RpcError> {
    if contents.is_empty() {
        return Ok(None);
    }
    let content = FeedContent::parse(&serde_json::json!({ "what": contents }).to_string())?;
    let reader = Arc::downgrade(node);
    let read = move |from: Option<&str>| {
        let node = reader.upgrade().ok_or("the node has stopped")?;
        Ok(guarded(|| fleet::changes(&node, &content, from))?)
    };
    Ok(Some(ChangeSource::new(contents.join(","), read)))
}

/// Joins a fleet. Takes settings as JSON. A server that is away is no failure.
#[napi(catch_unwind)]
pub fn start_fleet(config: String) -> Result<()> {
    let config: FleetConfig =
        serde_json::from_str(&config).map_err(|error| refusal(RpcError::internal(format!("startFleet: {error}"))))?;
    let running = process::running().map_err(refusal)?;
    let node = running.node();
    let restore = match (&config.restore, config.role) {
        (Some(RestoreConfig { location, trust }), NodeRole::Replica) => {
            Some(ReplicaRestore::start(&node, location, trust).map_err(refusal)?)
        }
        _ => None,
    };
    *running.restore.lock() = restore;
    node.attach_fleet(start(config, &node).map_err(refusal)?);
    Ok(())
}

/// Returns number and hash of the block of the tag latest, separated by a space; null if its number and the first six bytes of its
/// hash are the given ones.
#[napi(catch_unwind)]
pub fn latest_block(number: i64, start: i64) -> Result<Option<String>> {
    process::ask(&|node| fleet::latest_text(node, number.cast_unsigned(), start.cast_unsigned())).map_err(refusal)
}
