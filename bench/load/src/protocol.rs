//! Common interface of HTTP and WebSocket: bytes of a request, and answers in received bytes.

use crate::{http, websocket};
use std::ops::Range;

/// Transport of the requests.
pub enum Protocol {
    Http {
        /// The `Host` header.
        host: String,
    },
    /// Every connection is upgraded to a WebSocket at this path before the first request.
    WebSocket { host: String, path: String },
}

/// Parser of the received bytes of one connection.
pub enum Reader {
    Http,
    WebSocket(websocket::Reader),
}

/// First item in a buffer.
#[derive(Debug)]
pub enum Item {
    /// The server has accepted the WebSocket.
    Opened,
    Answer(Answer),
    /// A frame without an answer: a part of a message, or a pong.
    Partial,
    /// Payload of a ping; the pong has the same bytes.
    Ping(Range<usize>),
    /// The server closes the connection, with a reason.
    Close(String),
}

#[derive(Debug)]
pub struct Answer {
    /// HTTP status; 200 over WebSocket.
    pub status: u16,
    pub body: Body,
    /// The server closes the connection after it.
    pub is_last: bool,
}

/// Location of a body.
#[derive(Debug)]
pub enum Body {
    /// Range of the receive buffer.
    At(Range<usize>),
    /// A body of several chunks or frames.
    Joined(Vec<u8>),
}

/// Reason for which a buffer has no item.
#[derive(Debug, PartialEq)]
pub enum ReadError {
    /// More bytes are needed.
    Incomplete,
    /// The bytes violate the protocol.
    Invalid(String),
}

impl ReadError {
    pub fn invalid(reason: &str) -> Self {
        Self::Invalid(reason.to_owned())
    }
}

impl Protocol {
    /// Handshake of a connection, empty for HTTP. Requests wait until the server has accepted it.
    pub fn handshake(&self) -> Vec<u8> {
        match self {
            Self::Http { .. } => Vec::new(),
            Self::WebSocket { host, path } => websocket::handshake(host, path),
        }
    }

    /// Bytes of a request. WebSocket ignores `path`.
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
    /// Returns the first item of `bytes` and the start of the next one.
    pub fn first(&mut self, bytes: &[u8]) -> Result<(Item, usize), ReadError> {
        match self {
            Self::Http => http::first(bytes).map(|(answer, end)| (Item::Answer(answer), end)),
            Self::WebSocket(reader) => reader.first(bytes),
        }
    }
}
