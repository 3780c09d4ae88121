//! A connection: bytes on one side, requests and answers on the other.

use crate::protocol::{Answer, Body, Missing, Part, Protocol, Reader};
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
    /// From here on the server has to agree to a WebSocket first.
    held: Option<usize>,
    incoming: Vec<u8>,
    /// What has been told of already ends here.
    from: usize,
    filled: usize,
    /// All that had come was read: the next bytes are told of anew.
    is_drained: bool,
}

/// What a readable channel has to tell.
pub enum Received {
    /// Nothing more for now.
    Nothing,
    /// `Channel::body` has its bytes until the next one is asked for.
    Answer(Answer),
    /// What nobody can read.
    Nonsense(String),
    /// The connection has ended.
    End(String),
}

impl Channel {
    pub fn open(address: SocketAddr, protocol: &Protocol, registry: &Registry, token: Token) -> Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let outgoing = protocol.greeting();
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

    /// What is put behind these bytes goes with `flush`.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        if self.written == self.outgoing.len() && self.held.is_none() {
            self.outgoing.clear();
            self.written = 0;
        }
        &mut self.outgoing
    }

    /// Writes what can be written now.
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

    /// The next answer. To be called until there is nothing.
    pub fn next(&mut self) -> Received {
        loop {
            match self.reader.first(&self.incoming[self.from..self.filled]) {
                Ok((part, length)) => {
                    let start = self.take(length);
                    let done = match part {
                        Part::Answer(answer) => return Received::Answer(placed(answer, start)),
                        Part::Close(reason) => return Received::End(reason),
                        Part::Piece => Ok(()),
                        Part::Opened => {
                            self.held = None;
                            self.flush()
                        }
                        Part::Ping(place) => {
                            let payload = self.incoming[start + place.start..start + place.end].to_vec();
                            websocket::write_pong(&payload, self.outgoing());
                            self.flush()
                        }
                    };
                    if let Err(error) = done {
                        return Received::End(error.to_string());
                    }
                }
                Err(Missing::Sense(reason)) => return Received::Nonsense(reason),
                Err(Missing::Bytes) if self.is_drained => {
                    self.is_drained = false;
                    return Received::Nothing;
                }
                Err(Missing::Bytes) => match self.read() {
                    Ok(0) => return Received::End("the server closed the connection".to_owned()),
                    Ok(_) => {}
                    Err(error) if is_too_early(&error) => return Received::Nothing,
                    Err(error) => return Received::End(error.to_string()),
                },
            }
        }
    }

    pub fn body<'a>(&'a self, answer: &'a Answer) -> &'a [u8] {
        match &answer.body {
            Body::At(place) => &self.incoming[place.clone()],
            Body::Pieces(body) => body,
        }
    }

    /// Returns where the bytes that are taken begin.
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
        let room = &mut self.incoming[self.filled..];
        let count = self.stream.read(room)?;
        self.is_drained = count < room.len();
        self.filled += count;
        Ok(count)
    }
}

fn is_too_early(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}

fn placed(mut answer: Answer, start: usize) -> Answer {
    if let Body::At(place) = &mut answer.body {
        *place = start + place.start..start + place.end;
    }
    answer
}
