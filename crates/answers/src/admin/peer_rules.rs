//! Peers that the operator dials or bans, for the operator's page and the command line.

use crate::error::{Answer, RpcError};
use crate::json::{self, JsonWriter};
use crate::node::Node;
use rhizome_net::{BanTarget, Enode, PeerNetwork};
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns `dialled`, URLs of the nodes that are always dialled, and `bans` in force: `target`, a node id or addresses, and `until` in
/// seconds since 1970, null without an end.
pub fn list(node: &Node) -> Answer {
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("dialled").begin_array();
    for enode in node.network().map(PeerNetwork::static_peers).unwrap_or_default() {
        json.text(&enode.to_string());
    }
    json.end_array();
    json.key("bans").begin_array();
    for (target, end) in node.standing().bans() {
        json.begin_object();
        json.key("target").text(&target.to_string());
        match end {
            Some(end) => json.key("until").number(end.cast_signed()),
            None => json.key("until").null(),
        }
        json.end_object();
    }
    json.end_array();
    json.end_object();
    Ok(json.finish())
}

/// Bans a node by its id or URL, an address, or a block of addresses, for some seconds or without end. Closes its connections.
pub fn ban(node: &Node, text: &str, seconds: Option<u64>) -> Answer {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    node.standing().ban(target(text)?, seconds.map(|seconds| now.saturating_add(seconds)))?;
    Ok(json::boolean(true))
}

/// Lifts a ban. Returns whether there was one.
pub fn unban(node: &Node, text: &str) -> Answer {
    let target = target(text)?;
    let is_banned = node.standing().bans().iter().any(|(banned, _end)| *banned == target);
    node.standing().unban(&target)?;
    Ok(json::boolean(is_banned))
}

fn target(text: &str) -> Result<BanTarget, RpcError> {
    let parsed = match text.parse::<Enode>() {
        Ok(enode) => Ok(BanTarget::Node(enode.id)),
        Err(_not_a_url) => text.parse(),
    };
    parsed.map_err(|_refused| {
        RpcError::invalid_params(
            "expected a node id, an enode URL, or an address of another machine, also as 203.0.113.0/24",
        )
    })
}
