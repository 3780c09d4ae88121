//! A peer that a test controls, over a blocking socket.

use crate::support::{GENESIS, NETWORK};
use rhizome_net::{NodeId, NodeKey};
use rhizome_primitives::rlp::{list, put_bytes, put_u64};
use rhizome_wire::session::{
    Capability, DecodedFrame, DisconnectReason, EstablishedSession, FrameDecoder, FrameEncoder, HandshakeEntropy,
    Hello, Initiator, codes,
};
use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longest time that a peer waits for a byte.
const PATIENCE: Duration = Duration::from_secs(10);

/// The peer after its handshake.
pub(crate) struct ScriptedPeer {
    pub(crate) socket: TcpStream,
    encoder: FrameEncoder,
    decoder: FrameDecoder,
    input: Vec<u8>,
    key: NodeKey,
}

pub(crate) fn entropy() -> HandshakeEntropy {
    let mut random = [0; HandshakeEntropy::LENGTH];
    getrandom::fill(&mut random).unwrap();
    HandshakeEntropy::from_random(&random).unwrap()
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    try_connect(address).unwrap()
}

/// [`connect`] that may be refused.
pub(crate) fn try_connect(address: SocketAddr) -> io::Result<TcpStream> {
    with_patience(TcpStream::connect(address)?)
}

/// Connects from one of the addresses 127.0.0.0/8.
pub(crate) fn connect_from(source: [u8; 4], address: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((source, 0)).into()).unwrap();
    socket.connect(&address.into()).unwrap();
    with_patience(socket.into()).unwrap()
}

fn with_patience(socket: TcpStream) -> io::Result<TcpStream> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Waits until the other side closes a connection without a byte.
pub(crate) fn is_closed(socket: &mut TcpStream) -> bool {
    match socket.read(&mut [0; 1]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

pub(crate) fn status(version: u64, network: u64, genesis: &[u8]) -> Vec<u8> {
    let mut fields = Vec::new();
    put_u64(&mut fields, version);
    put_u64(&mut fields, network);
    put_u64(&mut fields, 1);
    put_bytes(&mut fields, GENESIS.as_slice());
    put_bytes(&mut fields, genesis);
    list(&fields)
}

impl ScriptedPeer {
    /// Handshake over an open socket.
    pub(crate) fn shake(socket: TcpStream, key: &NodeKey, remote: NodeId) -> ScriptedPeer {
        ScriptedPeer::try_shake(socket, key, remote).unwrap()
    }

    fn try_shake(mut socket: TcpStream, key: &NodeKey, remote: NodeId) -> io::Result<ScriptedPeer> {
        let mut initiator = Initiator::new(key.clone(), remote, entropy()).unwrap();
        socket.write_all(initiator.auth())?;
        let session = loop {
            let mut byte = [0];
            socket.read_exact(&mut byte)?;
            if let Some(session) = initiator.read(&mut &byte[..]).unwrap() {
                break session;
            }
        };
        let EstablishedSession { encoder, mut decoder, .. } = session;
        decoder.allow_large_frames();
        Ok(ScriptedPeer { socket, encoder, decoder, input: Vec::new(), key: key.clone() })
    }

    /// Handshake, Hello and Status. Returns after the other side's.
    pub(crate) fn join(socket: TcpStream, key: &NodeKey, remote: NodeId) -> ScriptedPeer {
        ScriptedPeer::join_with(socket, key, remote, &[Capability::rsk()], GENESIS.as_slice())
    }

    /// [`ScriptedPeer::join`] with other capabilities and another genesis block.
    pub(crate) fn join_with(
        socket: TcpStream,
        key: &NodeKey,
        remote: NodeId,
        capabilities: &[Capability],
        genesis: &[u8],
    ) -> ScriptedPeer {
        ScriptedPeer::try_join(socket, key, remote, capabilities, genesis).unwrap()
    }

    /// [`ScriptedPeer::join_with`] that may be refused.
    pub(crate) fn try_join(
        socket: TcpStream,
        key: &NodeKey,
        remote: NodeId,
        capabilities: &[Capability],
        genesis: &[u8],
    ) -> io::Result<ScriptedPeer> {
        let mut peer = ScriptedPeer::try_shake(socket, key, remote)?;
        peer.hello(4, capabilities);
        peer.send(codes::STATUS, &status(62, NETWORK, genesis));
        for code in [codes::HELLO, codes::STATUS, codes::RSK] {
            if peer.receive().is_none_or(|frame| frame.code != code) {
                return Err(ErrorKind::ConnectionRefused.into());
            }
        }
        Ok(peer)
    }

    pub(crate) fn hello(&mut self, version: u32, capabilities: &[Capability]) {
        let hello = Hello::new("scripted/1".to_owned(), capabilities.to_vec(), 0, self.key.id());
        self.send(codes::HELLO, &Hello { version, ..hello }.encode());
    }

    /// Returns the bytes of a message.
    pub(crate) fn frame(&mut self, code: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encoder.encode(code, payload, &mut bytes).unwrap();
        bytes
    }

    /// Sends a message. A closed connection is not a fault.
    pub(crate) fn send(&mut self, code: u8, payload: &[u8]) {
        let bytes = self.frame(code, payload);
        let _ = self.socket.write_all(&bytes);
    }

    /// Waits for the next message, `None` at the end of the connection.
    pub(crate) fn receive(&mut self) -> Option<DecodedFrame> {
        loop {
            let mut input = &self.input[..];
            let frame = self.decoder.decode(&mut input).unwrap();
            self.input = input.to_vec();
            if frame.is_some() {
                return frame;
            }
            let mut buffer = [0; 4_096];
            match self.socket.read(&mut buffer) {
                Ok(0) => return None,
                Ok(read) => self.input.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("waited for a message: {error}"),
            }
        }
    }

    /// Returns a message if one has arrived. Fails at the end of the connection.
    pub(crate) fn poll(&mut self) -> Result<Option<DecodedFrame>, ErrorKind> {
        let mut input = &self.input[..];
        let frame = self.decoder.decode(&mut input).unwrap();
        self.input = input.to_vec();
        if frame.is_some() {
            return Ok(frame);
        }
        let mut buffer = [0; 65_536];
        match self.socket.read(&mut buffer) {
            Ok(0) => Err(ErrorKind::UnexpectedEof),
            Ok(read) => {
                self.input.extend_from_slice(&buffer[..read]);
                Ok(None)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(None),
            Err(error) => Err(error.kind()),
        }
    }

    /// Waits for the end of the connection. Returns the reason of a Disconnect.
    pub(crate) fn end(&mut self) -> Option<DisconnectReason> {
        while let Some(frame) = self.receive() {
            if frame.code == codes::DISCONNECT {
                return Some(DisconnectReason::decode(frame.payload()));
            }
        }
        None
    }
}
