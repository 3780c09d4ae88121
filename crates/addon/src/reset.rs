//! `hardhat_reset`: replaces the node by a fork of another chain, or by that of the start.
//!
//! A new node opens beside the answering one and replaces it at once: requests that have begun end on the old one. A remote node that
//! fails leaves everything as it is.

use crate::executors::pooled;
use crate::forking;
use crate::node;
use crate::process::{self, Running};
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use rhizome_answers::{Answer, ForkedChain, Node, RpcError, evm, fork};
use rhizome_fork::ForkTarget;
use serde::Deserialize;
use std::path::Path;
use std::result;
use std::sync::Arc;
use std::time::Duration;

/// Pause between two looks at a replaced node that is still in use.
const CLOSING_PAUSE: Duration = Duration::from_millis(5);

/// Option `forking` of `hardhat_reset`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Forking {
    /// URL of the remote node; `None`: that of the current fork.
    json_rpc_url: Option<String>,
    /// Block of the remote chain; `None`: the best one, or with no URL that of the current fork.
    block_number: Option<u64>,
}

/// Answers `hardhat_reset`. `forking`: JSON; `None` leads to a chain that is no fork.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn hardhat_reset(env: &Env, forking: Option<String>, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |_node, _limit| {
        let forking = forking.map(|text| serde_json::from_str(&text)).transpose().map_err(RpcError::internal)?;
        reset(&*process::running()?, forking)
    })
}

/// Answers `anvil_setRpcUrl`.
#[napi(catch_unwind, ts_return_type = "Promise<string | Buffer>")]
pub fn anvil_set_rpc_url(env: &Env, url: String, deadline_ms: i64, token: i64) -> Result<Object<'_>> {
    pooled(env, deadline_ms, token, move |node, _limit| {
        let running = process::running()?;
        let _resetting = running.resetting.lock();
        fork::set_remote(node, &forking::remote_address(&running.config, &url)?)
    })
}

fn reset(running: &Running, forking: Option<Forking>) -> Answer {
    let _resetting = running.resetting.lock();
    let node = running.node();
    node.require_no_fleet("hardhat_reset")?;
    let Some(Forking { json_rpc_url, block_number }) = forking else {
        let is_fork = node.fork().is_some();
        let own = if is_fork { replace(running, own_node(running)?) } else { node };
        return evm::reset::answer(&own);
    };
    if json_rpc_url.is_none() && block_number.is_none() {
        return evm::reset::answer(&node);
    }
    if node.network().is_some() {
        return Err(RpcError::server("a node with peers cannot become a fork"));
    }
    let (config, target) = (&running.config, block_number.map_or(ForkTarget::Latest, ForkTarget::Number));
    let other = match (json_rpc_url, node.fork()) {
        (Some(url), _) => forking::of_remote(config, forking::remote_address(config, &url)?, target)?,
        (None, Some(ForkedChain::Remote(remote))) => forking::of_remote(config, remote.address(), target)?,
        (None, Some(ForkedChain::Local { dir, .. })) => forking::of_directory(config, Path::new(dir), &target)?,
        (None, None) => {
            return Err(RpcError::invalid_params(
                "Invalid options: forking.jsonRpcUrl is missing, this node is no fork",
            ));
        }
    };
    let fork = node::open(config, Some(other), Some(Arc::clone(node.mining())))?;
    evm::reset::answer(&replace(running, Arc::new(fork)))
}

/// Returns the node of the start. If that was a fork, opens one with an empty chain of the network of the settings.
fn own_node(running: &Running) -> result::Result<Arc<Node>, RpcError> {
    if let Some(home) = &running.home {
        return Ok(Arc::clone(home));
    }
    let own = node::open(&running.config, None, Some(Arc::clone(running.node().mining())))?;
    match own.chain().spec().is_development() {
        true => Ok(Arc::new(own)),
        false => Err(RpcError::server("the chain file of this node does not describe a development network")),
    }
}

/// Replaces the answering node. The old one closes when its requests have ended, unless it is that of the start.
fn replace(running: &Running, node: Arc<Node>) -> Arc<Node> {
    let old = running.current.swap(Arc::clone(&node));
    if !running.home.as_ref().is_some_and(|home| Arc::ptr_eq(home, &old)) {
        // Closing a database takes time that a worker does not have.
        let _thread = std::thread::Builder::new().name("rhizome-close".into()).spawn(move || {
            while Arc::strong_count(&old) > 1 {
                std::thread::sleep(CLOSING_PAUSE);
            }
        });
    }
    let process = process::process();
    process.notify_heads();
    process.pending.notify();
    node
}
