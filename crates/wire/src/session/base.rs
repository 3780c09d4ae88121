//! Messages of the base protocol (docs/spec/p2p.md, 5.1 and 5.2).

use rhizome_primitives::DecodeError;
use rhizome_primitives::rlp::{decode_list, list, put_bytes, put_list_header, put_u64};

use super::fields;
use super::identity::NodeId;

/// Version that we declare. Version 5 makes the reference send chunked frames.
const BASE_VERSION: u32 = 4;

/// Number of capabilities read from one Hello; the others are ignored.
const MAX_CAPABILITIES: usize = 64;

/// Payload of Ping and Pong.
pub const EMPTY_LIST: [u8; 1] = [0xc0];

/// Subprotocol that a node offers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Capability {
    /// Short ASCII name.
    pub name: String,
    /// Version.
    pub version: u32,
}

impl Capability {
    /// Returns the subprotocol of the chain, required on both sides.
    pub fn rsk() -> Capability {
        Capability { name: "rsk".to_owned(), version: 62 }
    }

    /// Returns the mark of a node that serves snap synchronization. It has no message codes.
    pub fn snap() -> Capability {
        Capability { name: "snap".to_owned(), version: 1 }
    }

    /// Returns the subprotocol between nodes of this project, which the reference ignores.
    pub fn rhizome() -> Capability {
        Capability { name: "rhz".to_owned(), version: 1 }
    }
}

/// First message in each direction, code 0x00.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// Version of the base protocol.
    pub version: u32,
    /// Name and version of the program.
    pub client: String,
    /// Offered subprotocols, repetitions included.
    pub capabilities: Vec<Capability>,
    /// TCP port of the listener; not verified.
    pub port: u16,
    /// Node id; not verified.
    pub id: NodeId,
}

impl Hello {
    /// Returns our Hello.
    pub fn new(client: String, capabilities: Vec<Capability>, port: u16, id: NodeId) -> Hello {
        Hello { version: BASE_VERSION, client, capabilities, port, id }
    }

    /// Returns the payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut capabilities = Vec::new();
        for capability in &self.capabilities {
            let mut pair = Vec::with_capacity(16);
            put_bytes(&mut pair, capability.name.as_bytes());
            put_u64(&mut pair, u64::from(capability.version));
            capabilities.extend_from_slice(&list(&pair));
        }
        let mut fields = Vec::with_capacity(128);
        put_u64(&mut fields, u64::from(self.version));
        put_bytes(&mut fields, self.client.as_bytes());
        put_list_header(&mut fields, capabilities.len());
        fields.extend_from_slice(&capabilities);
        put_u64(&mut fields, u64::from(self.port));
        put_bytes(&mut fields, &self.id.0);
        list(&fields)
    }

    /// Decodes a payload; more elements are ignored.
    pub fn decode(payload: &[u8]) -> Result<Hello, DecodeError> {
        let mut elements = decode_list(payload)?.elements("Hello")?;
        let version = fields::number(&mut elements, "p2p version")?;
        let client = fields::text(&mut elements, "client id")?;
        let mut capabilities = Vec::new();
        for capability in fields::list(&mut elements, "capabilities")?.take(MAX_CAPABILITIES) {
            let mut pair = capability?.elements("capability")?;
            capabilities.push(Capability {
                name: fields::text(&mut pair, "capability")?,
                version: fields::number(&mut pair, "capability version")?,
            });
        }
        let port = fields::number(&mut elements, "port")?;
        let id = fields::node_id(&mut elements, "node id")?;
        Ok(Hello { version, client, capabilities, port, id })
    }
}

macro_rules! disconnect_reasons {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+) => {
        /// Reason of a Disconnect, code 0x01.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum DisconnectReason {
            $($(#[doc = $doc])+ $name = $code,)+
        }

        impl DisconnectReason {
            /// Returns the reason of a code; codes without a meaning are [`DisconnectReason::Unknown`].
            pub fn from_code(code: u8) -> DisconnectReason {
                match code {
                    $($code => DisconnectReason::$name,)+
                    _ => DisconnectReason::Unknown,
                }
            }
        }
    };
}

disconnect_reasons! {
    /// The other side ends the connection without a fault.
    Requested = 0x00,
    /// Failure of the connection below the protocol.
    TcpError = 0x01,
    /// A message that breaks the protocol.
    BadProtocol = 0x02,
    /// The peer has nothing to offer.
    UselessPeer = 0x03,
    /// No slot is free.
    TooManyPeers = 0x04,
    /// The node is connected already.
    DuplicatePeer = 0x05,
    /// No common version.
    IncompatibleProtocol = 0x06,
    /// Another network: the reference sends this one for a wrong network id.
    NullIdentity = 0x07,
    /// The other side shuts down.
    Quitting = 0x08,
    /// Node id of the Hello and key of the handshake differ.
    UnexpectedIdentity = 0x09,
    /// A connection to itself.
    LocalIdentity = 0x0a,
    /// No Pong in time.
    PingTimeout = 0x0b,
    /// A reason of the subprotocol.
    UserReason = 0x10,
    /// Another genesis block.
    UnexpectedGenesis = 0x11,
    /// Any other reason.
    Unknown = 0xff,
}

impl DisconnectReason {
    /// Returns the payload of a Disconnect.
    pub fn encode(self) -> Vec<u8> {
        let mut reason = Vec::with_capacity(2);
        put_u64(&mut reason, u64::from(self as u8));
        list(&reason)
    }

    /// Decodes the payload of a Disconnect. Never fails: the connection ends in any case.
    pub fn decode(payload: &[u8]) -> DisconnectReason {
        let code = || -> Result<u8, DecodeError> {
            fields::number(&mut decode_list(payload)?.elements("Disconnect")?, "reason")
        };
        code().map_or(DisconnectReason::Unknown, DisconnectReason::from_code)
    }
}
