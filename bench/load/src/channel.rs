//! A TCP connection with its buffers: bytes on one side, requests and answers on the other.

use crate::protocol::{Answer, Body, Item, Protocol, ReadError, Reader};
use crate::websocket;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{ErrorKind, Read, Result, Write};
use std::net::SocketAddr;

pub struct Channel {
    stream: TcpStream,
    reader: Reader,
    outgoing: Vec<u8>,
    written: usize,
    /// Length of the handshake while the server has not accepted it; later bytes wait.
    held: Option<usize>,
    incoming: Vec<u8>,
    /// Start of the unread bytes of `incoming`.
    from: usize,
    filled: usize,
    /// The last read emptied the socket; the poll reports the next bytes.
    is_drained: bool,
}

/// Result of a read.
pub enum ChannelEvent {
    /// No complete item.
    Idle,
    /// `Channel::body` returns its bytes until the next read.
    Answer(Answer),
    /// The bytes violate the protocol.
    Invalid(String),
    /// The connection has closed.
    Closed(String),
}

impl Channel {
    pub fn open(address: SocketAddr, protocol: &Protocol, registry: &Registry, token: Token) -> Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let outgoing = protocol.handshake();
        Ok(Self {
            stream,
            reader: protocol.reader(),
            held: (!outgoing.is_empty()).then_some(outgoing.len()),
            outgoing,
            written: 0,
            incoming: vec![0; 16 << 10],
            from: 0,
            filled: 0,
            is_drained: false,
        })
    }

    /// Buffer of bytes to send; `flush` writes appended bytes.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        if self.written == self.outgoing.len() && self.held.is_none() {
            self.outgoing.clear();
            self.written = 0;
        }
        &mut self.outgoing
    }

    /// Writes as many bytes as the socket accepts.
    pub fn flush(&mut self) -> Result<()> {
        let end = self.held.unwrap_or(self.outgoing.len());
        while self.written < end {
            match self.stream.write(&self.outgoing[self.written..end]) {
                Ok(count) => self.written += count,
                Err(error) if is_too_early(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the next event. Call it until it returns `Idle`.
    pub fn next(&mut self) -> ChannelEvent {
        loop {
            match self.reader.first(&self.incoming[self.from..self.filled]) {
                Ok((item, length)) => {
                    let start = self.take(length);
                    let result = match item {
                        Item::Answer(answer) => return ChannelEvent::Answer(shifted(answer, start)),
                        Item::Close(reason) => return ChannelEvent::Closed(reason),
                        Item::Partial => Ok(()),
                        Item::Opened => {
                            self.held = None;
                            self.flush()
                        }
                        Item::Ping(range) => {
                            let payload = self.incoming[start + range.start..start + range.end].to_vec();
                            websocket::write_pong(&payload, self.outgoing());
                            self.flush()
                        }
                    };
                    if let Err(error) = result {
                        return ChannelEvent::Closed(error.to_string());
                    }
                }
                Err(ReadError::Invalid(reason)) => return ChannelEvent::Invalid(reason),
                Err(ReadError::Incomplete) if self.is_drained => {
                    self.is_drained = false;
                    return ChannelEvent::Idle;
                }
                Err(ReadError::Incomplete) => match self.read() {
                    Ok(0) => return ChannelEvent::Closed("the server closed the connection".to_owned()),
                    Ok(_) => {}
                    Err(error) if is_too_early(&error) => return ChannelEvent::Idle,
                    Err(error) => return ChannelEvent::Closed(error.to_string()),
                },
            }
        }
    }

    pub fn body<'a>(&'a self, answer: &'a Answer) -> &'a [u8] {
        match &answer.body {
            Body::At(range) => &self.incoming[range.clone()],
            Body::Joined(body) => body,
        }
    }

    /// Marks `length` bytes as read and returns their start.
    fn take(&mut self, length: usize) -> usize {
        let start = self.from;
        self.from += length;
        if self.from == self.filled {
            self.from = 0;
            self.filled = 0;
        }
        start
    }

    fn read(&mut self) -> Result<usize> {
        if self.filled == self.incoming.len() {
            self.incoming.copy_within(self.from.., 0);
            self.filled -= self.from;
            self.from = 0;
            if self.filled > self.incoming.len() / 2 {
                self.incoming.resize(self.incoming.len() * 2, 0);
            }
        }
        let free = &mut self.incoming[self.filled..];
        let count = self.stream.read(free)?;
        self.is_drained = count < free.len();
        self.filled += count;
        Ok(count)
    }
}

fn is_too_early(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}

fn shifted(mut answer: Answer, start: usize) -> Answer {
    if let Body::At(range) = &mut answer.body {
        *range = start + range.start..start + range.end;
    }
    answer
}
