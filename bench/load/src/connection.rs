//! One connection with at most one request on its way.

use crate::answer::{Body, Missing, first};
use crate::plan::{Entry, Ids};
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Instant;

/// The request that waits for its answer.
struct Sent<'a> {
    entry: &'a Entry,
    first_id: u32,
    at: Instant,
}

pub struct Connection<'a> {
    stream: TcpStream,
    outgoing: Vec<u8>,
    written: usize,
    incoming: Vec<u8>,
    filled: usize,
    sent: Option<Sent<'a>>,
    /// The server closes it: a next request needs another one.
    is_over: bool,
}

/// What a readable connection had to tell.
pub enum Told {
    /// Nothing yet.
    Nothing,
    /// The answer to a request that was sent at this time, and what is wrong with it.
    Answer(Instant, Option<String>),
    /// What nobody can read, or nobody asked for.
    Nonsense(String),
    /// The connection has ended.
    End(String),
}

impl<'a> Connection<'a> {
    pub fn open(address: SocketAddr, registry: &Registry, token: Token) -> std::io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let incoming = vec![0; 16 << 10];
        Ok(Self { stream, outgoing: Vec::new(), written: 0, incoming, filled: 0, sent: None, is_over: false })
    }

    /// Sends a request; what cannot be written now goes with `flush`.
    pub fn send(&mut self, entry: &'a Entry, ids: &mut Ids) -> std::io::Result<()> {
        let first_id = entry.write(&mut self.outgoing, ids);
        self.written = 0;
        self.sent = Some(Sent { entry, first_id, at: Instant::now() });
        self.flush()
    }

    /// Writes what could not be written before.
    pub fn flush(&mut self) -> std::io::Result<()> {
        while self.written < self.outgoing.len() {
            match self.stream.write(&self.outgoing[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether its last answer has come.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Since when an answer is awaited.
    pub fn waits_since(&self) -> Option<Instant> {
        self.sent.as_ref().map(|sent| sent.at)
    }

    /// Reads what has come.
    pub fn receive(&mut self) -> Told {
        loop {
            if self.filled == self.incoming.len() {
                self.incoming.resize(self.filled * 2, 0);
            }
            let room = self.incoming.len() - self.filled;
            match self.stream.read(&mut self.incoming[self.filled..]) {
                Ok(0) => return Told::End("the server closed the connection".to_owned()),
                Ok(count) => {
                    self.filled += count;
                    match self.take() {
                        Told::Nothing => {}
                        told => return told,
                    }
                    // A read that leaves room has taken everything: the next bytes are told of anew.
                    if count < room {
                        return Told::Nothing;
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    return Told::Nothing;
                }
                Err(error) => return Told::End(error.to_string()),
            }
        }
    }

    fn take(&mut self) -> Told {
        let bytes = &self.incoming[..self.filled];
        let answer = match first(bytes) {
            Ok(answer) => answer,
            Err(Missing::Bytes) => return Told::Nothing,
            Err(Missing::Sense) => return Told::Nonsense("no HTTP answer of known length".to_owned()),
        };
        let Some(Sent { entry, first_id, at }) = self.sent.take() else {
            return Told::Nonsense("an answer that nobody asked for".to_owned());
        };
        if answer.end != bytes.len() {
            return Told::Nonsense("bytes after the answer".to_owned());
        }
        let fault = match &answer.body {
            Body::At(start, end) => entry.fault(answer.status, &bytes[*start..*end], first_id),
            Body::Pieces(body) => entry.fault(answer.status, body, first_id),
        };
        self.filled = 0;
        self.is_over = answer.is_last;
        Told::Answer(at, fault)
    }
}
