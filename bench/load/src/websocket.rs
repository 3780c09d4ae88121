//! WebSocket (RFC 6455): the handshake, and frames by the codec of `tungstenite`. Payloads stay in the receive buffer: its
//! message interface copies and validates each message, which costs the generator a share of its capacity.

use crate::http;
use crate::protocol::{Answer, Body, Item, ReadError};
use std::io::Cursor;
use std::ops::Range;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

/// Key of the example in the RFC, and its answer. No proxy is between generator and server, so a constant key is enough.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// Longest payload of a control frame.
const MAX_CONTROL: usize = 125;

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
    write_frame(OpCode::Data(Data::Text), text, &mut bytes);
    bytes
}

/// Appends the answer to a ping.
pub fn write_pong(payload: &[u8], bytes: &mut Vec<u8>) {
    write_frame(OpCode::Control(Control::Pong), payload, bytes);
}

/// Clients must mask their frames. A mask of zero leaves the payload unchanged, so that ids can be written into it.
fn write_frame(opcode: OpCode, payload: &[u8], bytes: &mut Vec<u8>) {
    let header = FrameHeader { is_final: true, rsv1: false, rsv2: false, rsv3: false, opcode, mask: Some([0; 4]) };
    // Writing to a vector does not fail.
    let _ = header.format(payload.len() as u64, bytes);
    bytes.extend_from_slice(payload);
}

/// Reads the frames that a server sends on one connection.
#[derive(Default)]
pub struct Reader {
    is_open: bool,
    /// Start of a message of several frames.
    joined: Option<Vec<u8>>,
}

impl Reader {
    /// Returns the first item of `bytes` and the start of the next one.
    pub fn first(&mut self, bytes: &[u8]) -> Result<(Item, usize), ReadError> {
        if self.is_open {
            return self.frame(bytes);
        }
        let head = http::head(bytes)?;
        if head.status != 101 || head.accept.as_deref() != Some(ACCEPT) {
            return Err(ReadError::Invalid(format!("the handshake was answered with status {}", head.status)));
        }
        self.is_open = true;
        Ok((Item::Opened, head.end))
    }

    fn frame(&mut self, bytes: &[u8]) -> Result<(Item, usize), ReadError> {
        let mut cursor = Cursor::new(bytes);
        let parsed = FrameHeader::parse(&mut cursor).map_err(|error| ReadError::Invalid(error.to_string()))?;
        let (header, length) = parsed.ok_or(ReadError::Incomplete)?;
        if header.mask.is_some() {
            return Err(ReadError::invalid("a masked frame"));
        }
        if header.rsv1 || header.rsv2 || header.rsv3 {
            return Err(ReadError::invalid("a frame with reserved bits"));
        }
        let start = usize::try_from(cursor.position()).unwrap_or(usize::MAX);
        let end = usize::try_from(length).ok().and_then(|length| length.checked_add(start));
        let end = end.ok_or_else(|| ReadError::invalid("a frame above the address space"))?;
        let payload = bytes.get(start..end).ok_or(ReadError::Incomplete)?;
        let item = match header.opcode {
            OpCode::Data(data @ (Data::Text | Data::Continue)) => {
                self.data(data, payload, start..end, header.is_final)?
            }
            OpCode::Control(_) if !header.is_final || payload.len() > MAX_CONTROL => {
                return Err(ReadError::invalid("a control frame that is fragmented or too long"));
            }
            OpCode::Control(Control::Close) => Item::Close(reason(payload)),
            OpCode::Control(Control::Ping) => Item::Ping(start..end),
            OpCode::Control(Control::Pong) => Item::Partial,
            opcode => return Err(ReadError::Invalid(format!("a frame with opcode {}", u8::from(opcode)))),
        };
        Ok((item, end))
    }

    fn data(&mut self, opcode: Data, payload: &[u8], range: Range<usize>, is_final: bool) -> Result<Item, ReadError> {
        let body = match (opcode, self.joined.take()) {
            (Data::Text, None) if is_final => Body::At(range),
            (Data::Text, None) => Body::Joined(payload.to_vec()),
            (Data::Continue, Some(mut joined)) => {
                joined.extend_from_slice(payload);
                Body::Joined(joined)
            }
            _ => return Err(ReadError::invalid("a frame of another message before the end of the first")),
        };
        match body {
            Body::Joined(joined) if !is_final => {
                self.joined = Some(joined);
                Ok(Item::Partial)
            }
            body => Ok(Item::Answer(Answer { status: 200, body, is_last: false })),
        }
    }
}

fn reason(payload: &[u8]) -> String {
    let (code, text) = payload.split_at(payload.len().min(2));
    let code = code.first_chunk().map_or(1005, |&code| u16::from_be_bytes(code));
    format!("the server closed the connection: {code} {}", String::from_utf8_lossy(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINAL: u8 = 0x80;
    const CONTINUATION: u8 = 0x0;
    const TEXT: u8 = 0x1;
    const CLOSE: u8 = 0x8;
    const PING: u8 = 0x9;
    const PONG: u8 = 0xa;

    const ACCEPTED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

    /// A frame of a server: without a mask, and with a length of `length_bytes` bytes.
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
        Reader { is_open: true, joined: None }
    }

    /// All items of `bytes`, received in two parts with a border at `cut`.
    fn items(bytes: &[u8], cut: usize) -> Vec<String> {
        let (mut reader, mut from, mut items) = (Reader::default(), 0, Vec::new());
        for end in [cut, bytes.len()] {
            loop {
                let rest = &bytes[from..end];
                match reader.first(rest) {
                    Ok((item, length)) => {
                        items.push(match item {
                            Item::Answer(Answer { body: Body::At(range), .. }) => text(&rest[range]),
                            Item::Answer(Answer { body: Body::Joined(body), .. }) => text(&body),
                            Item::Ping(range) => format!("ping {}", text(&rest[range])),
                            item => format!("{item:?}"),
                        });
                        from += length;
                    }
                    Err(ReadError::Incomplete) => break,
                    Err(ReadError::Invalid(reason)) => panic!("{reason}"),
                }
            }
        }
        assert_eq!(from, bytes.len());
        items
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[test]
    fn reads_messages_fragments_and_control_frames_cut_at_every_byte() {
        let medium = "m".repeat(300);
        let long = "l".repeat(70_000);
        let bytes = [
            ACCEPTED.as_bytes().to_vec(),
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
            ["Opened", "short", "", "Partial", "ping !", "Partial", "Partial", "Partial", "abc", &medium, &long, close];
        // All cuts in the middle of the long message are alike.
        let middle = bytes.len() - 60_000..bytes.len() - 100;
        for cut in (0..=bytes.len()).filter(|cut| !middle.contains(cut)) {
            assert_eq!(items(&bytes, cut), expected, "{cut}");
        }
    }

    #[test]
    fn writes_a_zero_mask_and_the_shortest_length() {
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
    fn rejects_a_handshake_with_another_status_or_key() {
        for answer in [
            ACCEPTED.replace("101", "200"),
            ACCEPTED.replace("s3p", "S3p"),
            "HTTP/1.1 503 Service Unavailable\r\n\r\n".to_owned(),
        ] {
            assert!(matches!(Reader::default().first(answer.as_bytes()), Err(ReadError::Invalid(_))), "{answer}");
        }
        assert!(handshake("a:1", "/b").starts_with(b"GET /b HTTP/1.1\r\nHost: a:1\r\n"));
    }

    #[test]
    fn rejects_frames_that_servers_must_not_send() {
        for (name, bytes) in [
            ("a mask", message(b"ab")),
            ("reserved bits", frame(FINAL | 0x40 | TEXT, b"", 1)),
            ("bytes, no text", frame(FINAL | 2, b"", 1)),
            ("a ping in pieces", frame(PING, b"", 1)),
            ("a long ping", frame(FINAL | PING, &[0; 126], 2)),
            ("a continuation of nothing", frame(FINAL | CONTINUATION, b"", 1)),
            ("a length that no memory has", [vec![FINAL | TEXT, 127], vec![0xff; 8]].concat()),
        ] {
            assert!(matches!(open().first(&bytes), Err(ReadError::Invalid(_))), "{name}");
        }
        let mut reader = open();
        assert!(reader.first(&frame(TEXT, b"a", 1)).is_ok());
        assert!(matches!(reader.first(&frame(FINAL | TEXT, b"b", 1)), Err(ReadError::Invalid(_))));
    }

    #[test]
    fn reads_a_close_without_a_reason() {
        assert_eq!(reason(b""), "the server closed the connection: 1005 ");
    }
}
