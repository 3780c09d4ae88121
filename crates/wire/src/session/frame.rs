//! Frames: one message each, encrypted and authenticated (docs/spec/p2p.md, 4).

use std::fmt;

use aes::Aes256;
use aes::cipher::{KeyIvInit, StreamCipher};
use ctr::Ctr128BE;
use rhizome_primitives::rlp::{Item, put_byte, read_u64};

use super::error::FrameError;
use super::mac::{MAC_LENGTH, RunningMac, is_same_mac};

/// Maximum size of a frame body in bytes, message code included. The reference reads larger sizes as negative.
pub const MAX_FRAME_BODY: usize = (1 << 23) - 1;

/// Maximum size of a frame body before the Status of the other side is accepted (docs/spec/p2p-additions.md, F).
pub const MAX_FRAME_BODY_BEFORE_STATUS: usize = 4_096;

/// First capacity of the buffer of a long body, which grows as bytes arrive.
const FIRST_CAPACITY: usize = 16 * 1_024;

const BLOCK: usize = 16;
const HEADER: usize = BLOCK + MAC_LENGTH;
/// RLP of `[0]`, after the size in each header.
const HEADER_LIST: [u8; 2] = [0xc1, 0x80];

type Stream = Ctr128BE<Aes256>;

fn stream(key: &[u8; 32]) -> Stream {
    Stream::new(key.into(), &[0; BLOCK].into())
}

/// Outgoing direction of a connection. Each message becomes one frame.
pub struct FrameEncoder {
    cipher: Stream,
    mac: RunningMac,
}

impl FrameEncoder {
    pub(super) fn new(key: &[u8; 32], mac: RunningMac) -> FrameEncoder {
        FrameEncoder { cipher: stream(key), mac }
    }

    /// Appends the frame of a message to `out`. Fails for messages above [`MAX_FRAME_BODY`], without an effect on the
    /// stream.
    pub fn encode(&mut self, code: u8, payload: &[u8], out: &mut Vec<u8>) -> Result<(), FrameError> {
        let code_length = if code < 0x80 { 1 } else { 2 };
        let size = code_length + payload.len();
        if size > MAX_FRAME_BODY {
            return Err(FrameError::TooLarge { size, limit: MAX_FRAME_BODY });
        }
        let padded = size.next_multiple_of(BLOCK);
        out.reserve(HEADER + padded + MAC_LENGTH);

        let mut header = [0; BLOCK];
        header[..3].copy_from_slice(&(size as u32).to_be_bytes()[1..]);
        header[3..5].copy_from_slice(&HEADER_LIST);
        self.cipher.apply_keystream(&mut header);
        out.extend_from_slice(&header);
        out.extend_from_slice(&self.mac.header(&header));

        let start = out.len();
        put_byte(out, code);
        out.extend_from_slice(payload);
        out.resize(start + padded, 0);
        self.cipher.apply_keystream(&mut out[start..]);
        self.mac.update(&out[start..]);
        out.extend_from_slice(&self.mac.body());
        Ok(())
    }
}

/// Received message: code and payload, authenticated. `Debug` prints the length of the payload only.
#[derive(Clone, PartialEq, Eq)]
pub struct DecodedFrame {
    /// Message code.
    pub code: u8,
    body: Vec<u8>,
    payload_start: usize,
}

impl DecodedFrame {
    fn new(body: Vec<u8>) -> Result<DecodedFrame, FrameError> {
        let (item, rest) = Item::first(&body).or(Err(FrameError::Code))?;
        if item.is_list() {
            return Err(FrameError::Code);
        }
        let code = read_u64(item.bytes(), u64::from(u8::MAX), "message code").or(Err(FrameError::Code))?;
        let payload_start = body.len() - rest.len();
        Ok(DecodedFrame { code: code as u8, body, payload_start })
    }

    /// Returns the bytes after the message code.
    pub fn payload(&self) -> &[u8] {
        &self.body[self.payload_start..]
    }
}

impl fmt::Debug for DecodedFrame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DecodedFrame(code {:#04x}, {} bytes)", self.code, self.payload().len())
    }
}

/// Incoming direction of a connection. Memory grows with the bytes received, not with the size that a header states,
/// up to the limit of a body.
pub struct FrameDecoder {
    cipher: Stream,
    mac: RunningMac,
    max_body: usize,
    header: [u8; HEADER],
    header_filled: usize,
    /// Size of the body that is being read, `None` while a header is being read.
    size: Option<usize>,
    body: Vec<u8>,
    tag: [u8; MAC_LENGTH],
    tag_filled: usize,
    fault: Option<FrameError>,
}

impl FrameDecoder {
    pub(super) fn new(key: &[u8; 32], mac: RunningMac) -> FrameDecoder {
        FrameDecoder {
            cipher: stream(key),
            mac,
            max_body: MAX_FRAME_BODY_BEFORE_STATUS,
            header: [0; HEADER],
            header_filled: 0,
            size: None,
            body: Vec::new(),
            tag: [0; MAC_LENGTH],
            tag_filled: 0,
            fault: None,
        }
    }

    /// Raises the limit of a body from [`MAX_FRAME_BODY_BEFORE_STATUS`] to [`MAX_FRAME_BODY`]; for the moment when the
    /// Status of the other side is accepted.
    pub fn allow_large_frames(&mut self) {
        self.max_body = MAX_FRAME_BODY;
    }

    /// Returns whether a frame has begun and is not complete, for the time limits of the caller.
    pub fn is_inside_frame(&self) -> bool {
        self.header_filled > 0
    }

    /// Takes bytes from the front of `input` up to the end of a frame. Returns `None` if all bytes are taken and the
    /// frame is not complete. After a fault every call fails with the same one.
    pub fn decode(&mut self, input: &mut &[u8]) -> Result<Option<DecodedFrame>, FrameError> {
        match self.fault {
            Some(fault) => Err(fault),
            None => self.read(input).inspect_err(|&fault| self.fail(fault)),
        }
    }

    fn fail(&mut self, fault: FrameError) {
        self.fault = Some(fault);
        self.body = Vec::new();
    }

    fn read(&mut self, input: &mut &[u8]) -> Result<Option<DecodedFrame>, FrameError> {
        let size = match self.size {
            Some(size) => size,
            None => {
                self.header_filled += fill(&mut self.header[self.header_filled..], input);
                if self.header_filled < HEADER {
                    return Ok(None);
                }
                let size = self.read_header()?;
                self.size = Some(size);
                size
            }
        };
        self.read_body(size.next_multiple_of(BLOCK), input);
        self.tag_filled += fill(&mut self.tag[self.tag_filled..], input);
        if self.tag_filled < MAC_LENGTH {
            return Ok(None);
        }
        if !is_same_mac(&self.mac.body(), &self.tag) {
            return Err(FrameError::BodyMac);
        }
        let mut body = std::mem::take(&mut self.body);
        body.truncate(size);
        self.size = None;
        self.header_filled = 0;
        self.tag_filled = 0;
        DecodedFrame::new(body).map(Some)
    }

    /// Checks the header and returns the size of the body.
    fn read_header(&mut self) -> Result<usize, FrameError> {
        let mut header = [0; BLOCK];
        let mut tag = [0; MAC_LENGTH];
        header.copy_from_slice(&self.header[..BLOCK]);
        tag.copy_from_slice(&self.header[BLOCK..]);
        if !is_same_mac(&self.mac.header(&header), &tag) {
            return Err(FrameError::HeaderMac);
        }
        self.cipher.apply_keystream(&mut header);
        let [high, middle, low, list @ ..] = header;
        let size = u32::from_be_bytes([0, high, middle, low]) as usize;
        if size == 0 {
            return Err(FrameError::Empty);
        }
        if size > self.max_body {
            return Err(FrameError::TooLarge { size, limit: self.max_body });
        }
        check_header_list(&list)?;
        Ok(size)
    }

    /// Takes what `input` has of the encrypted body, decrypts it in place, and returns with `input` at the MAC or at its
    /// end.
    fn read_body(&mut self, padded: usize, input: &mut &[u8]) {
        let start = self.body.len();
        let (part, rest) = input.split_at(input.len().min(padded - start));
        *input = rest;
        if self.body.capacity() - start < part.len() {
            // Doubles, but never beyond the end of the body.
            let more = part.len().max(start).max(FIRST_CAPACITY).min(padded - start);
            self.body.reserve_exact(more);
        }
        self.mac.update(part);
        self.body.extend_from_slice(part);
        self.cipher.apply_keystream(&mut self.body[start..]);
    }
}

/// Refuses parts of a chunked message: `[0, context id, total size]` for the first and `[0, context id]` for the others.
/// Other implementations write `[0, 0]` before whole messages.
fn check_header_list(list: &[u8]) -> Result<(), FrameError> {
    let (item, _) = Item::first(list).or(Err(FrameError::HeaderList))?;
    if !item.is_list() {
        return Ok(());
    }
    let mut elements = item.list("frame header").or(Err(FrameError::HeaderList))?.into_iter().skip(1);
    let is_in_context = elements.next().is_some_and(|context| context.bytes().iter().any(|&byte| byte != 0));
    if is_in_context || elements.next().is_some() { Err(FrameError::Chunked) } else { Ok(()) }
}

/// Moves bytes from the front of `input` to `target` and returns their number.
fn fill(target: &mut [u8], input: &mut &[u8]) -> usize {
    let (part, rest) = input.split_at(input.len().min(target.len()));
    target[..part.len()].copy_from_slice(part);
    *input = rest;
    part.len()
}

#[cfg(test)]
mod tests;
