//! A connection with at most one request in flight.

use crate::channel::{Channel, ChannelEvent};
use crate::plan::{Entry, Ids};
use crate::protocol::Protocol;
use mio::{Registry, Token};
use std::io::Result;
use std::net::SocketAddr;
use std::time::Instant;

/// The request in flight.
struct Sent<'a> {
    entry: &'a Entry,
    first_id: u32,
    at: Instant,
}

pub struct Connection<'a> {
    channel: Channel,
    sent: Option<Sent<'a>>,
    /// The server closes the connection: the next request needs another connection.
    is_over: bool,
}

/// Result of a read.
pub enum ConnectionEvent {
    /// No complete answer.
    Idle,
    /// An answer: the time of its request, and the fault if it is wrong.
    Answer(Instant, Option<String>),
    /// Invalid bytes, or an answer without a request.
    Invalid(String),
    /// The connection has closed.
    Closed(String),
}

impl<'a> Connection<'a> {
    pub fn open(address: SocketAddr, protocol: &Protocol, registry: &Registry, token: Token) -> Result<Self> {
        Ok(Self { channel: Channel::open(address, protocol, registry, token)?, sent: None, is_over: false })
    }

    /// Sends a request; `flush` writes the rest if the socket is full.
    pub fn send(&mut self, entry: &'a Entry, ids: &mut Ids) -> Result<()> {
        let first_id = entry.write(self.channel.outgoing(), ids);
        self.sent = Some(Sent { entry, first_id, at: Instant::now() });
        self.flush()
    }

    /// Writes bytes that the socket did not accept before.
    pub fn flush(&mut self) -> Result<()> {
        self.channel.flush()
    }

    /// Whether the server has sent the last answer of this connection.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Time of the request in flight.
    pub fn waits_since(&self) -> Option<Instant> {
        self.sent.as_ref().map(|sent| sent.at)
    }

    /// Returns the next event. Call it until it returns `Idle`.
    pub fn receive(&mut self) -> ConnectionEvent {
        match self.channel.next() {
            ChannelEvent::Idle => ConnectionEvent::Idle,
            ChannelEvent::Invalid(reason) => ConnectionEvent::Invalid(reason),
            ChannelEvent::Closed(reason) => ConnectionEvent::Closed(reason),
            ChannelEvent::Answer(answer) => {
                let Some(Sent { entry, first_id, at }) = self.sent.take() else {
                    return ConnectionEvent::Invalid("an answer without a request".to_owned());
                };
                self.is_over = answer.is_last;
                ConnectionEvent::Answer(at, entry.fault(answer.status, self.channel.body(&answer), first_id))
            }
        }
    }
}
