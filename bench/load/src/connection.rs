//! One connection with at most one request on its way.

use crate::channel::{Channel, Received};
use crate::plan::{Entry, Ids};
use crate::protocol::Protocol;
use mio::{Registry, Token};
use std::io::Result;
use std::net::SocketAddr;
use std::time::Instant;

/// The request that waits for its answer.
struct Sent<'a> {
    entry: &'a Entry,
    first_id: u32,
    at: Instant,
}

pub struct Connection<'a> {
    channel: Channel,
    sent: Option<Sent<'a>>,
    /// The server closes it: a next request needs another one.
    is_over: bool,
}

/// What a readable connection had to tell.
pub enum Told {
    /// Nothing more for now.
    Nothing,
    /// The answer to a request that was sent at this time, and what is wrong with it.
    Answer(Instant, Option<String>),
    /// What nobody can read, or nobody asked for.
    Nonsense(String),
    /// The connection has ended.
    End(String),
}

impl<'a> Connection<'a> {
    pub fn open(address: SocketAddr, protocol: &Protocol, registry: &Registry, token: Token) -> Result<Self> {
        Ok(Self { channel: Channel::open(address, protocol, registry, token)?, sent: None, is_over: false })
    }

    /// Sends a request; what cannot be written now goes with `flush`.
    pub fn send(&mut self, entry: &'a Entry, ids: &mut Ids) -> Result<()> {
        let first_id = entry.write(self.channel.outgoing(), ids);
        self.sent = Some(Sent { entry, first_id, at: Instant::now() });
        self.flush()
    }

    /// Writes what could not be written before.
    pub fn flush(&mut self) -> Result<()> {
        self.channel.flush()
    }

    /// Whether its last answer has come.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Since when an answer is awaited.
    pub fn waits_since(&self) -> Option<Instant> {
        self.sent.as_ref().map(|sent| sent.at)
    }

    /// The next thing that has come. To be called until there is nothing.
    pub fn receive(&mut self) -> Told {
        match self.channel.next() {
            Received::Nothing => Told::Nothing,
            Received::Nonsense(reason) => Told::Nonsense(reason),
            Received::End(reason) => Told::End(reason),
            Received::Answer(answer) => {
                let Some(Sent { entry, first_id, at }) = self.sent.take() else {
                    return Told::Nonsense("an answer that nobody asked for".to_owned());
                };
                self.is_over = answer.is_last;
                Told::Answer(at, entry.fault(answer.status, self.channel.body(&answer), first_id))
            }
        }
    }
}
