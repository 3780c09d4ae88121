//! HTTP and WebSocket: what stands around a request, and what comes back. All else is the same for both.

use crate::{http, websocket};
use std::ops::Range;

/// How requests are sent.
pub enum Protocol {
    Http {
        /// The `Host` header.
        host: String,
    },
    /// Every connection becomes a WebSocket, opened at this path, before anything is asked.
    WebSocket { host: String, path: String },
}

/// Takes apart what comes back.
pub enum Reader {
    Http,
    WebSocket(websocket::Reader),
}

/// What stands at the beginning of a buffer.
#[derive(Debug)]
pub enum Part {
    /// The server agrees to a WebSocket.
    Opened,
    Answer(Answer),
    /// Nothing to be told of so far: the rest has to come.
    Piece,
    /// To be answered with the same bytes.
    Ping(Range<usize>),
    /// The server says why it hangs up.
    Close(String),
}

#[derive(Debug)]
pub struct Answer {
    /// 200 where the protocol has none.
    pub status: u16,
    pub body: Body,
    /// The server closes the connection after it.
    pub is_last: bool,
}

/// Where the body is.
#[derive(Debug)]
pub enum Body {
    At(Range<usize>),
    Pieces(Vec<u8>),
}

/// Why there is no part.
#[derive(Debug, PartialEq)]
pub enum Missing {
    /// More bytes have to come.
    Bytes,
    /// Nobody can read this.
    Sense(String),
}

impl Missing {
    pub fn sense(reason: &str) -> Self {
        Self::Sense(reason.to_owned())
    }
}

impl Protocol {
    /// What a connection begins with: requests wait until the server has agreed. Empty where it begins with a request.
    pub fn greeting(&self) -> Vec<u8> {
        match self {
            Self::Http { .. } => Vec::new(),
            Self::WebSocket { host, path } => websocket::handshake(host, path),
        }
    }

    /// A request. A WebSocket has one path for all.
    pub fn request(&self, path: &str, body: &[u8]) -> Vec<u8> {
        match self {
            Self::Http { host } => http::request(host, path, body),
            Self::WebSocket { .. } => websocket::message(body),
        }
    }

    pub fn reader(&self) -> Reader {
        match self {
            Self::Http { .. } => Reader::Http,
            Self::WebSocket { .. } => Reader::WebSocket(websocket::Reader::default()),
        }
    }
}

impl Reader {
    /// The first part of `bytes`, and where the next one begins.
    pub fn first(&mut self, bytes: &[u8]) -> Result<(Part, usize), Missing> {
        match self {
            Self::Http => http::first(bytes).map(|(answer, end)| (Part::Answer(answer), end)),
            Self::WebSocket(reader) => reader.first(bytes),
        }
    }
}
