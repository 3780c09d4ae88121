//! Packets of node discovery over UDP (docs/spec/p2p.md, 2.1 and 2.2): hash, signature, type and RLP body.

use rhizome_primitives::rlp::{Elements, Item, list, put_bytes, put_list_header, put_u64, read_u64};
use rhizome_primitives::{B256, DecodeError, keccak256};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// Content of a packet. `network` is `None` if the packet does not name a network; we always do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscoveryMessage {
    /// Request for a Pong. The layout has two endpoints: the sender writes its own into both, and the first is not read.
    Ping {
        /// Address of the sender.
        endpoint: NodeEndpoint,
        /// Id of the request.
        id: PacketId,
        /// Network id.
        network: Option<u64>,
    },
    /// Answer to a Ping, in the same layout.
    Pong {
        /// Address of the sender.
        endpoint: NodeEndpoint,
        /// Id of the request.
        id: PacketId,
        /// Network id.
        network: Option<u64>,
    },
    /// Request for Neighbors.
    FindNode {
        /// Ignored by the reference, which returns nodes near the sender.
        target: NodeId,
        /// Id of the request.
        id: PacketId,
        /// Network id.
        network: Option<u64>,
    },
    /// Answer to a FindNode.
    Neighbors {
        /// Nodes, ordered by distance to the requesting node.
        nodes: Vec<NodeRecord>,
        /// Id of the request.
        id: PacketId,
        /// Network id.
        network: Option<u64>,
    },
}

impl DiscoveryMessage {
    /// Returns the id of the request.
    pub fn id(&self) -> PacketId {
        match self {
            DiscoveryMessage::Ping { id, .. }
            | DiscoveryMessage::Pong { id, .. }
            | DiscoveryMessage::FindNode { id, .. }
            | DiscoveryMessage::Neighbors { id, .. } => *id,
        }
    }

    /// Returns the network id if the packet has one.
    pub fn network(&self) -> Option<u64> {
        match self {
            DiscoveryMessage::Ping { network, .. }
            | DiscoveryMessage::Pong { network, .. }
            | DiscoveryMessage::FindNode { network, .. }
            | DiscoveryMessage::Neighbors { network, .. } => *network,
        }
    }

    /// Returns the signed packet.
    pub fn encode(&self, key: &NodeKey) -> Vec<u8> {
        let mut packet = vec![0; TYPE_AT];
        let mut fields = Vec::with_capacity(256);
        packet.push(match self {
            DiscoveryMessage::Ping { endpoint, .. } => put_endpoint_twice(&mut fields, endpoint, PING),
            DiscoveryMessage::Pong { endpoint, .. } => put_endpoint_twice(&mut fields, endpoint, PONG),
            DiscoveryMessage::FindNode { target, .. } => {
                put_bytes(&mut fields, &target.0);
                FIND_NODE
            }
            DiscoveryMessage::Neighbors { nodes, .. } => {
                let entries: Vec<u8> = nodes.iter().flat_map(encode_node).collect();
                put_list_header(&mut fields, entries.len());
                fields.extend_from_slice(&entries);
                NEIGHBORS
            }
        });
        put_bytes(&mut fields, self.id().as_bytes());
        if let Some(network) = self.network() {
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
        let mut fields = Item::first(body)?.0.elements("discovery packet")?;
        match kind {
            PING | PONG => {
                field(&mut fields, "endpoint")?;
                let endpoint = read_endpoint(&mut field(&mut fields, "endpoint")?.elements("endpoint")?)?;
                let (id, network) = read_tail(&mut fields)?;
                Ok(if kind == PING {
                    DiscoveryMessage::Ping { endpoint, id, network }
                } else {
                    DiscoveryMessage::Pong { endpoint, id, network }
                })
            }
            FIND_NODE => {
                let target = read_node_id(field(&mut fields, "target")?)?;
                let (id, network) = read_tail(&mut fields)?;
                Ok(DiscoveryMessage::FindNode { target, id, network })
            }
            NEIGHBORS => {
                let nodes = field(&mut fields, "nodes")?.elements("nodes")?;
                let nodes = nodes.map(|node| read_node(node?)).collect::<Result<_, DiscoveryError>>()?;
                let (id, network) = read_tail(&mut fields)?;
                Ok(DiscoveryMessage::Neighbors { nodes, id, network })
            }
            _ => Err(DiscoveryError::Type(kind)),
        }
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

fn put_endpoint_twice(fields: &mut Vec<u8>, endpoint: &NodeEndpoint, kind: u8) -> u8 {
    let mut parts = Vec::with_capacity(64);
    put_endpoint(&mut parts, endpoint);
    let endpoint = list(&parts);
    fields.extend_from_slice(&endpoint);
    fields.extend_from_slice(&endpoint);
    kind
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

fn field<'a>(fields: &mut Elements<'a>, name: &'static str) -> Result<Item<'a>, DecodeError> {
    fields.next().ok_or(DecodeError::Missing(name))?
}

fn read_port(item: Item<'_>) -> Result<u16, DecodeError> {
    // The limit makes the conversion exact.
    read_u64(item.bytes(), u64::from(u16::MAX), "port").map(|port| port as u16)
}

fn read_host(item: Item<'_>) -> String {
    String::from_utf8_lossy(item.bytes()).into_owned()
}

fn read_endpoint(parts: &mut Elements<'_>) -> Result<NodeEndpoint, DecodeError> {
    Ok(NodeEndpoint {
        host: read_host(field(parts, "host")?),
        udp_port: read_port(field(parts, "UDP port")?)?,
        tcp_port: read_port(field(parts, "TCP port")?)?,
    })
}

fn read_node_id(item: Item<'_>) -> Result<NodeId, DecodeError> {
    let id = item.bytes();
    NodeId::from_slice(id).ok_or(DecodeError::FieldLength { field: "node id", got: id.len() })
}

/// Reads host, ports and id; with three elements both ports are the same.
fn read_node(node: Item<'_>) -> Result<NodeRecord, DiscoveryError> {
    let mut parts = node.elements("node")?;
    let host = read_host(field(&mut parts, "host")?);
    let udp_port = read_port(field(&mut parts, "UDP port")?)?;
    let third = field(&mut parts, "node id")?;
    let (tcp_port, id) = match parts.next() {
        Some(fourth) => (read_port(third)?, read_node_id(fourth?)?),
        None => (udp_port, read_node_id(third)?),
    };
    Ok(NodeRecord { endpoint: NodeEndpoint { host, udp_port, tcp_port }, id })
}

/// Reads the fields that all packets end with.
fn read_tail(fields: &mut Elements<'_>) -> Result<(PacketId, Option<u64>), DiscoveryError> {
    let id = PacketId::from_text(field(fields, "message id")?.bytes())?;
    let network = fields.next().transpose()?;
    let network = network.map(|item| read_u64(item.bytes(), u64::MAX, "network id")).transpose()?;
    Ok((id, network))
}
