//! Vectors of handshake, frames, base protocol and discovery.

mod base;
mod discovery;
mod enode;
mod handshake;
mod whole_session;

use rhizome_primitives::hex;
use rhizome_wire::session::{NodeId, NodeKey};
use serde_json::Value;

fn vectors(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("no list {name}"))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no text {name}"))
}

fn bytes(value: &Value, name: &str) -> Vec<u8> {
    hex::decode(text(value, name)).unwrap()
}

fn number<N: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value, name: &str) -> N {
    value[name].as_u64().unwrap_or_else(|| panic!("no number {name}")).try_into().unwrap()
}

fn node_key(value: &Value, name: &str) -> NodeKey {
    text(value, name).parse().unwrap()
}

fn node_id(value: &Value, name: &str) -> NodeId {
    text(value, name).parse().unwrap()
}
