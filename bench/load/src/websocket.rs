//! WebSocket (RFC 6455): the handshake and the frames.

use crate::http;
use crate::protocol::{Answer, Body, Missing, Part};

/// The key of the RFC's example, and what it has to be answered with: nobody stands in between here.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;
const MASKED: u8 = 0x80;
/// No longer payload in a frame of control.
const SHORT: usize = 125;

pub fn handshake(host: &str, path: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    .into_bytes()
}

/// One frame with the whole text.
pub fn message(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + 14);
    write_frame(TEXT, text, &mut bytes);
    bytes
}

/// Puts the answer to a ping behind what waits to be sent.
pub fn write_pong(payload: &[u8], bytes: &mut Vec<u8>) {
    write_frame(PONG, payload, bytes);
}

/// Clients have to mask: with zero, so that the payload stays as it is.
fn write_frame(opcode: u8, payload: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(FINAL | opcode);
    let length = payload.len();
    // Lengths have to take as few bytes as they can.
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short), _) if length <= SHORT => bytes.push(MASKED | short),
        (_, Ok(medium)) => {
            bytes.push(MASKED | 126);
            bytes.extend_from_slice(&medium.to_be_bytes());
        }
        _ => {
            bytes.push(MASKED | 127);
            bytes.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(payload);
}

/// Reads what a server sends on one connection.
#[derive(Default)]
pub struct Reader {
    is_open: bool,
    /// Of a message that comes in several frames.
    pieces: Option<Vec<u8>>,
}

impl Reader {
    /// The first part of `bytes`, and where the next one begins.
    pub fn first(&mut self, bytes: &[u8]) -> Result<(Part, usize), Missing> {
        if self.is_open {
            return self.frame(bytes);
        }
        let head = http::head(bytes)?;
        if head.status != 101 || head.value(b"sec-websocket-accept:") != Some(ACCEPT) {
            return Err(Missing::Sense(format!("the handshake was answered with status {}", head.status)));
        }
        self.is_open = true;
        Ok((Part::Opened, head.end))
    }

    fn frame(&mut self, bytes: &[u8]) -> Result<(Part, usize), Missing> {
        let &[first, size, ..] = bytes else { return Err(Missing::Bytes) };
        let (start, length) = match size {
            126 => (4, u64::from(u16::from_be_bytes(number(bytes)?))),
            127 => (10, u64::from_be_bytes(number(bytes)?)),
            _ if size & MASKED != 0 => return Err(Missing::sense("a frame with a mask")),
            _ => (2, u64::from(size)),
        };
        let end = usize::try_from(length).ok().and_then(|length| length.checked_add(start));
        let end = end.ok_or_else(|| Missing::sense("a frame longer than any memory"))?;
        let payload = bytes.get(start..end).ok_or(Missing::Bytes)?;
        let is_final = first & FINAL != 0;
        let part = match first & !FINAL {
            opcode @ (TEXT | CONTINUATION) => self.message(opcode, payload, start..end, is_final)?,
            opcode if opcode & RESERVED != 0 => return Err(Missing::sense("a frame with reserved bits")),
            CLOSE | PING | PONG if !is_final || payload.len() > SHORT => {
                return Err(Missing::sense("a frame of control that is not short and whole"));
            }
            CLOSE => Part::Close(reason(payload)),
            PING => Part::Ping(start..end),
            PONG => Part::Piece,
            opcode => return Err(Missing::Sense(format!("a frame with opcode {opcode}"))),
        };
        Ok((part, end))
    }

    fn message(
        &mut self,
        opcode: u8,
        payload: &[u8],
        place: std::ops::Range<usize>,
        is_final: bool,
    ) -> Result<Part, Missing> {
        let body = match (opcode, self.pieces.take()) {
            (TEXT, None) if is_final => Body::At(place),
            (TEXT, None) => Body::Pieces(payload.to_vec()),
            (CONTINUATION, Some(mut pieces)) => {
                pieces.extend_from_slice(payload);
                Body::Pieces(pieces)
            }
            _ => return Err(Missing::sense("a piece of another message than the one that has begun")),
        };
        match body {
            Body::Pieces(pieces) if !is_final => {
                self.pieces = Some(pieces);
                Ok(Part::Piece)
            }
            body => Ok(Part::Answer(Answer { status: 200, body, is_last: false })),
        }
    }
}

/// The length behind the first two bytes.
fn number<const SIZE: usize>(bytes: &[u8]) -> Result<[u8; SIZE], Missing> {
    bytes[2..].first_chunk().copied().ok_or(Missing::Bytes)
}

fn reason(payload: &[u8]) -> String {
    let (code, text) = payload.split_at(payload.len().min(2));
    let code = code.first_chunk().map_or(1005, |&code| u16::from_be_bytes(code));
    format!("the server closed the connection: {code} {}", String::from_utf8_lossy(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGREED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

    /// What a server sends: without a mask, and with a length that takes as many bytes as told.
    fn frame(first: u8, payload: &[u8], length_bytes: usize) -> Vec<u8> {
        let length = (payload.len() as u64).to_be_bytes();
        let mut bytes = vec![first];
        match length_bytes {
            1 => bytes.push(length[7]),
            2 => bytes.extend([&[126], &length[6..]].concat()),
            _ => bytes.extend([&[127], &length[..]].concat()),
        }
        bytes.extend_from_slice(payload);
        bytes
    }

    fn open() -> Reader {
        Reader { is_open: true, pieces: None }
    }

    /// Everything told of `bytes` when they come in two parts, cut at `cut`.
    fn told(bytes: &[u8], cut: usize) -> Vec<String> {
        let (mut reader, mut from, mut told) = (Reader::default(), 0, Vec::new());
        for end in [cut, bytes.len()] {
            loop {
                let rest = &bytes[from..end];
                match reader.first(rest) {
                    Ok((part, length)) => {
                        told.push(match part {
                            Part::Answer(Answer { body: Body::At(place), .. }) => text(&rest[place]),
                            Part::Answer(Answer { body: Body::Pieces(body), .. }) => text(&body),
                            Part::Ping(place) => format!("ping {}", text(&rest[place])),
                            part => format!("{part:?}"),
                        });
                        from += length;
                    }
                    Err(Missing::Bytes) => break,
                    Err(Missing::Sense(reason)) => panic!("{reason}"),
                }
            }
        }
        assert_eq!(from, bytes.len());
        told
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[test]
    fn messages_pieces_and_control_cut_at_every_byte() {
        let medium = "m".repeat(300);
        let long = "l".repeat(70_000);
        let bytes = [
            AGREED.as_bytes().to_vec(),
            frame(FINAL | TEXT, b"short", 1),
            frame(FINAL | TEXT, b"", 1),
            frame(TEXT, b"a", 1),
            frame(FINAL | PING, b"!", 1),
            frame(CONTINUATION, b"", 1),
            frame(CONTINUATION, b"b", 2),
            frame(FINAL | PONG, b"", 1),
            frame(FINAL | CONTINUATION, b"c", 8),
            frame(FINAL | TEXT, medium.as_bytes(), 2),
            frame(FINAL | TEXT, long.as_bytes(), 8),
            frame(FINAL | CLOSE, b"\x03\xe9bye", 1),
        ]
        .concat();
        let close = "Close(\"the server closed the connection: 1001 bye\")";
        let expected =
            ["Opened", "short", "", "Piece", "ping !", "Piece", "Piece", "Piece", "abc", &medium, &long, close];
        // In the middle of the long one a cut is like the next.
        let middle = bytes.len() - 60_000..bytes.len() - 100;
        for cut in (0..=bytes.len()).filter(|cut| !middle.contains(cut)) {
            assert_eq!(told(&bytes, cut), expected, "{cut}");
        }
    }

    #[test]
    fn what_is_sent_has_a_mask_of_zero_and_the_shortest_length() {
        assert_eq!(message(b"ab"), [0x81, 0x82, 0, 0, 0, 0, b'a', b'b']);
        assert_eq!(message(&[b'x'; 125])[..2], [0x81, 0xfd]);
        assert_eq!(message(&[b'x'; 126])[..8], [0x81, 0xfe, 0, 126, 0, 0, 0, 0]);
        assert_eq!(message(&[b'x'; 65_535])[..4], [0x81, 0xfe, 0xff, 0xff]);
        assert_eq!(message(&[b'x'; 65_536])[..14], [0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        let mut bytes = vec![1];
        write_pong(b"!", &mut bytes);
        assert_eq!(bytes, [1, 0x8a, 0x81, 0, 0, 0, 0, b'!']);
    }

    #[test]
    fn a_handshake_that_is_refused_or_not_meant_for_us() {
        for answer in [
            AGREED.replace("101", "200"),
            AGREED.replace("s3p", "S3p"),
            "HTTP/1.1 503 Service Unavailable\r\n\r\n".to_owned(),
        ] {
            assert!(matches!(Reader::default().first(answer.as_bytes()), Err(Missing::Sense(_))), "{answer}");
        }
        assert!(handshake("a:1", "/b").starts_with(b"GET /b HTTP/1.1\r\nHost: a:1\r\n"));
    }

    #[test]
    fn frames_that_no_server_may_send() {
        for (name, bytes) in [
            ("a mask", message(b"ab")),
            ("reserved bits", frame(FINAL | 0x40 | TEXT, b"", 1)),
            ("bytes, no text", frame(FINAL | 2, b"", 1)),
            ("a ping in pieces", frame(PING, b"", 1)),
            ("a long ping", frame(FINAL | PING, &[0; 126], 2)),
            ("a continuation of nothing", frame(FINAL | CONTINUATION, b"", 1)),
            ("a length that no memory has", [vec![FINAL | TEXT, 127], vec![0xff; 8]].concat()),
        ] {
            assert!(matches!(open().first(&bytes), Err(Missing::Sense(_))), "{name}");
        }
        let mut reader = open();
        assert!(reader.first(&frame(TEXT, b"a", 1)).is_ok());
        assert!(matches!(reader.first(&frame(FINAL | TEXT, b"b", 1)), Err(Missing::Sense(_))));
    }

    #[test]
    fn a_close_without_a_reason() {
        assert_eq!(reason(b""), "the server closed the connection: 1005 ");
    }
}
