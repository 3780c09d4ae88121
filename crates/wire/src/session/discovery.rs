//! Packets of node discovery over UDP (docs/spec/p2p.md, 2.1 and 2.2): hash, signature, type and RLP body.

use std::fmt;

use rhizome_primitives::rlp::{Elements, Item, list, put_bytes, put_list_header, put_u64};
use rhizome_primitives::{B256, DecodeError, keccak256};

use super::fields;
use super::identity::{IdentityError, NodeId, NodeKey, SIGNATURE_LENGTH};

/// Maximum length of a packet in bytes, the receive buffer of the reference.
pub const MAX_DISCOVERY_PACKET: usize = 8_192;

const HASH: usize = 32;
const TYPE_AT: usize = HASH + SIGNATURE_LENGTH;

const PING: u8 = 1;
const PONG: u8 = 2;
const FIND_NODE: u8 = 3;
const NEIGHBORS: u8 = 4;

/// Reasons to drop a packet, without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// Fewer than 98 bytes, or more than [`MAX_DISCOVERY_PACKET`].
    #[error("a packet of {0} bytes")]
    Length(usize),
    /// The hash at the start is not the hash of the rest.
    #[error("the hash of the packet is wrong")]
    Mdc,
    /// A type other than 1 to 4.
    #[error("packet type {0}")]
    Type(u8),
    /// A body without the required fields.
    #[error("malformed body: {0}")]
    Body(#[from] DecodeError),
    /// A message id that is not the text of a version 4 UUID.
    #[error("the message id is not a version 4 UUID")]
    Id,
}

/// Text of a version 4 UUID, which relates an answer to a request. An answer repeats the bytes of the request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PacketId([u8; 36]);

impl PacketId {
    /// Makes an id of random bytes.
    pub fn from_random(mut random: [u8; 16]) -> PacketId {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        random[6] = (random[6] & 0x0f) | 0x40;
        random[8] = (random[8] & 0x3f) | 0x80;
        let mut text = [b'-'; 36];
        let mut digits = random.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
        for (at, place) in text.iter_mut().enumerate() {
            if !is_hyphen(at)
                && let Some(digit) = digits.next()
            {
                *place = DIGITS[usize::from(digit)];
            }
        }
        PacketId(text)
    }

    /// Takes the text of an id.
    pub fn from_text(text: &[u8]) -> Result<PacketId, DiscoveryError> {
        let text: [u8; 36] = text.try_into().or(Err(DiscoveryError::Id))?;
        let is_form = text
            .iter()
            .enumerate()
            .all(|(at, byte)| if is_hyphen(at) { *byte == b'-' } else { byte.is_ascii_hexdigit() });
        if is_form && text[14] == b'4' { Ok(PacketId(text)) } else { Err(DiscoveryError::Id) }
    }

    /// Returns the text.
    pub fn as_bytes(&self) -> &[u8; 36] {
        &self.0
    }
}

impl fmt::Debug for PacketId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PacketId({})", String::from_utf8_lossy(&self.0))
    }
}

fn is_hyphen(at: usize) -> bool {
    matches!(at, 8 | 13 | 18 | 23)
}

/// Address as a node states it. Nodes are recorded under the source of their datagrams instead.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeEndpoint {
    /// Name, or address as text.
    pub host: String,
    /// UDP port.
    pub udp_port: u16,
    /// TCP port; the reference always uses the same number.
    pub tcp_port: u16,
}

/// Entry of Neighbors. The id is a claim until a Pong proves it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeRecord {
    /// Address.
    pub endpoint: NodeEndpoint,
    /// Claimed id.
    pub id: NodeId,
}

/// Message of discovery, without sender and signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryMessage {
    /// Id of the request, repeated in the answer.
    pub id: PacketId,
    /// Network id; `None` if the packet does not have one, which we always send.
    pub network: Option<u64>,
    /// Content by type.
    pub content: DiscoveryContent,
}

/// Content of a [`DiscoveryMessage`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscoveryContent {
    /// Request for a Pong, with the address of the sender. The layout has two endpoints: the sender writes its own into
    /// both, and the first is not read.
    Ping(NodeEndpoint),
    /// Answer to a Ping, in the same layout.
    Pong(NodeEndpoint),
    /// Request for Neighbors. The reference ignores the target and returns nodes near the sender.
    FindNode(NodeId),
    /// Answer to a FindNode: nodes ordered by distance to the requesting node.
    Neighbors(Vec<NodeRecord>),
}

impl DiscoveryMessage {
    /// Returns the signed packet.
    pub fn encode(&self, key: &NodeKey) -> Vec<u8> {
        let mut packet = vec![0; TYPE_AT];
        let mut fields = Vec::with_capacity(256);
        packet.push(match &self.content {
            DiscoveryContent::Ping(endpoint) => {
                put_endpoint_twice(&mut fields, endpoint);
                PING
            }
            DiscoveryContent::Pong(endpoint) => {
                put_endpoint_twice(&mut fields, endpoint);
                PONG
            }
            DiscoveryContent::FindNode(target) => {
                put_bytes(&mut fields, &target.0);
                FIND_NODE
            }
            DiscoveryContent::Neighbors(nodes) => {
                let entries: Vec<u8> = nodes.iter().flat_map(encode_node).collect();
                put_list_header(&mut fields, entries.len());
                fields.extend_from_slice(&entries);
                NEIGHBORS
            }
        });
        put_bytes(&mut fields, self.id.as_bytes());
        if let Some(network) = self.network {
            put_u64(&mut fields, network);
        }
        packet.extend_from_slice(&list(&fields));
        let signature = key.sign(keccak256(&packet[TYPE_AT..]).0);
        packet[HASH..TYPE_AT].copy_from_slice(&signature);
        let mdc = keccak256(&packet[HASH..]);
        packet[..HASH].copy_from_slice(mdc.as_slice());
        packet
    }

    fn decode(kind: u8, body: &[u8]) -> Result<DiscoveryMessage, DiscoveryError> {
        // Bytes after the list are ignored, like more elements.
        let mut elements = Item::first(body)?.0.elements("discovery packet")?;
        let content = match kind {
            PING => DiscoveryContent::Ping(read_second_endpoint(&mut elements)?),
            PONG => DiscoveryContent::Pong(read_second_endpoint(&mut elements)?),
            FIND_NODE => DiscoveryContent::FindNode(fields::node_id(&mut elements, "target")?),
            NEIGHBORS => {
                let nodes = fields::list(&mut elements, "nodes")?;
                DiscoveryContent::Neighbors(nodes.map(|node| read_node(node?)).collect::<Result<_, DecodeError>>()?)
            }
            _ => return Err(DiscoveryError::Type(kind)),
        };
        let id = PacketId::from_text(fields::item(&mut elements, "message id")?.bytes())?;
        let network = elements.next().transpose()?.map(|item| fields::to_number(item, "network id")).transpose()?;
        Ok(DiscoveryMessage { id, network, content })
    }
}

/// Received packet with a valid hash and body. Whether the signature is valid is known after [`DiscoveryPacket::sender`],
/// which costs far more than all other checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryPacket {
    /// Hash at the start of the packet, to recognize repetitions.
    pub mdc: B256,
    /// Content.
    pub message: DiscoveryMessage,
    signature: [u8; SIGNATURE_LENGTH],
    signed_hash: B256,
}

impl DiscoveryPacket {
    /// Checks length and hash and decodes the body.
    pub fn decode(packet: &[u8]) -> Result<DiscoveryPacket, DiscoveryError> {
        let length = || DiscoveryError::Length(packet.len());
        if packet.len() > MAX_DISCOVERY_PACKET {
            return Err(length());
        }
        let (mdc, covered) = packet.split_first_chunk::<HASH>().ok_or_else(length)?;
        let (signature, signed) = covered.split_first_chunk().ok_or_else(length)?;
        let (&kind, body) = signed.split_first().ok_or_else(length)?;
        if keccak256(covered).0 != *mdc {
            return Err(DiscoveryError::Mdc);
        }
        let message = DiscoveryMessage::decode(kind, body)?;
        Ok(DiscoveryPacket { mdc: B256::new(*mdc), message, signature: *signature, signed_hash: keccak256(signed) })
    }

    /// Recovers the id of the sender.
    pub fn sender(&self) -> Result<NodeId, IdentityError> {
        NodeId::recover(self.signed_hash.0, &self.signature)
    }
}

fn put_endpoint_twice(fields: &mut Vec<u8>, endpoint: &NodeEndpoint) {
    let mut parts = Vec::with_capacity(64);
    put_endpoint(&mut parts, endpoint);
    let endpoint = list(&parts);
    fields.extend_from_slice(&endpoint);
    fields.extend_from_slice(&endpoint);
}

fn encode_node(node: &NodeRecord) -> Vec<u8> {
    let mut parts = Vec::with_capacity(128);
    put_endpoint(&mut parts, &node.endpoint);
    put_bytes(&mut parts, &node.id.0);
    list(&parts)
}

fn put_endpoint(parts: &mut Vec<u8>, endpoint: &NodeEndpoint) {
    put_bytes(parts, endpoint.host.as_bytes());
    put_u64(parts, u64::from(endpoint.udp_port));
    put_u64(parts, u64::from(endpoint.tcp_port));
}

fn read_second_endpoint(elements: &mut Elements<'_>) -> Result<NodeEndpoint, DecodeError> {
    fields::item(elements, "endpoint")?;
    let mut parts = fields::list(elements, "endpoint")?;
    Ok(NodeEndpoint {
        host: fields::text(&mut parts, "host")?,
        udp_port: fields::number(&mut parts, "UDP port")?,
        tcp_port: fields::number(&mut parts, "TCP port")?,
    })
}

/// Reads host, ports and id; with three elements both ports are the same.
fn read_node(node: Item<'_>) -> Result<NodeRecord, DecodeError> {
    let mut parts = node.elements("node")?;
    let host = fields::text(&mut parts, "host")?;
    let udp_port = fields::number(&mut parts, "UDP port")?;
    let third = fields::item(&mut parts, "node id")?;
    let (tcp_port, id) = match parts.next() {
        Some(fourth) => (fields::to_number(third, "TCP port")?, fields::to_node_id(fourth?, "node id")?),
        None => (udp_port, fields::to_node_id(third, "node id")?),
    };
    Ok(NodeRecord { endpoint: NodeEndpoint { host, udp_port, tcp_port }, id })
}
