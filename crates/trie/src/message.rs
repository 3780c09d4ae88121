//! Node messages: the encoding of nodes (RSKIP-107 as deployed; docs/spec/state.md, 1.2 to 1.4).

use rhizome_primitives::B256;

use crate::path::{Path, PathBits};

pub(crate) const LONG_VALUE: u8 = 0x20;
pub(crate) const HAS_PATH: u8 = 0x10;
pub(crate) const HAS_LEFT: u8 = 0x08;
pub(crate) const HAS_RIGHT: u8 = 0x04;
pub(crate) const LEFT_EMBEDDED: u8 = 0x02;
pub(crate) const RIGHT_EMBEDDED: u8 = 0x01;
const VERSION: u8 = 0x40;

/// First byte of a message in the format before RSKIP-107.
const OLD_FORMAT: u8 = 0x02;

/// Values above this length are long: the message has only their hash and length.
pub(crate) const SHORT_VALUE_LIMIT: usize = 32;
/// Bytes of a longer value in a message: its hash and its length.
pub(crate) const LONG_VALUE_BYTES: usize = 32 + 3;
/// Terminal children with messages up to this length are embedded in the message of their parent.
pub(crate) const EMBEDDING_LIMIT: usize = 44;
/// Maximum length of a value, whose field in a message has three bytes.
pub const MAX_VALUE_LENGTH: usize = 0xff_ffff;

/// Reasons to reject a node message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NodeMessageError {
    /// The bytes end inside a field.
    #[error("the message ends inside a field")]
    Truncated,
    /// A long value is followed by further bytes.
    #[error("the message continues after a long value")]
    TrailingBytes,
    /// The message is in the format used before RSKIP-107.
    #[error("the message is in the old format")]
    OldFormat,
}

/// A child in the message of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildPart<'a> {
    None,
    Hash(B256),
    Embedded(&'a [u8]),
}

/// A value in the message of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValuePart<'a> {
    None,
    Short(&'a [u8]),
    Long { hash: B256, length: u32 },
}

/// Fields of one node message.
#[derive(Debug)]
pub(crate) struct NodeMessage<'a> {
    pub(crate) path: Path,
    pub(crate) left: ChildPart<'a>,
    pub(crate) right: ChildPart<'a>,
    pub(crate) children_size: u64,
    pub(crate) value: ValuePart<'a>,
}

impl<'a> NodeMessage<'a> {
    /// Parses a message that is not embedded. Accepts non-canonical lengths and padding bits, as the reference does.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, NodeMessageError> {
        if bytes.first() == Some(&OLD_FORMAT) {
            return Err(NodeMessageError::OldFormat);
        }
        Self::parse_embedded(bytes)
    }

    /// Parses a message embedded in its parent, which is never in the old format, regardless of its first byte.
    pub(crate) fn parse_embedded(bytes: &'a [u8]) -> Result<Self, NodeMessageError> {
        let mut input = Input(bytes);
        let flags = input.byte()?;
        let has = |mask: u8| flags & mask != 0;
        let path = if has(HAS_PATH) { input.path()? } else { Path::default() };
        let left = input.child(has(HAS_LEFT), has(LEFT_EMBEDDED))?;
        let right = input.child(has(HAS_RIGHT), has(RIGHT_EMBEDDED))?;
        let has_child = has(HAS_LEFT) || has(HAS_RIGHT);
        let children_size = if has_child { input.varint()? } else { 0 };
        let value = if has(LONG_VALUE) {
            let hash = input.hash()?;
            let &[a, b, c] = input.array::<3>()?;
            if !input.0.is_empty() {
                return Err(NodeMessageError::TrailingBytes);
            }
            ValuePart::Long { hash, length: u32::from_be_bytes([0, a, b, c]) }
        } else if input.0.is_empty() {
            ValuePart::None
        } else {
            ValuePart::Short(input.0)
        };
        Ok(NodeMessage { path, left, right, children_size, value })
    }
}

/// Unread part of a message.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], NodeMessageError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(NodeMessageError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], NodeMessageError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(NodeMessageError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, NodeMessageError> {
        let &[byte] = self.array::<1>()?;
        Ok(byte)
    }

    fn hash(&mut self) -> Result<B256, NodeMessageError> {
        Ok(B256::from(self.array::<32>()?))
    }

    fn child(&mut self, is_present: bool, is_embedded: bool) -> Result<ChildPart<'a>, NodeMessageError> {
        if !is_present {
            return Ok(ChildPart::None);
        }
        if is_embedded {
            let length = usize::from(self.byte()?);
            return Ok(ChildPart::Embedded(self.take(length)?));
        }
        Ok(ChildPart::Hash(self.hash()?))
    }

    pub(crate) fn varint(&mut self) -> Result<u64, NodeMessageError> {
        Ok(match self.byte()? {
            0xfd => u64::from(u16::from_le_bytes(*self.array()?)),
            0xfe => u64::from(u32::from_le_bytes(*self.array()?)),
            0xff => u64::from_le_bytes(*self.array()?),
            small => u64::from(small),
        })
    }

    /// Reads a shared path with its length.
    pub(crate) fn path(&mut self) -> Result<Path, NodeMessageError> {
        let bits = self.path_length()?;
        let packed = self.take(bits.div_ceil(8))?;
        Ok(Path::of(packed, 0, bits))
    }

    /// Reads a path length in bits. A length beyond the address space exceeds that of any message.
    fn path_length(&mut self) -> Result<usize, NodeMessageError> {
        match self.byte()? {
            first @ 0x00..=0x1f => Ok(usize::from(first) + 1),
            first @ 0x20..=0xfe => Ok(usize::from(first) + 128),
            0xff => usize::try_from(self.varint()?).map_err(|_too_large| NodeMessageError::Truncated),
        }
    }
}

/// First byte of a message.
pub(crate) struct Flags {
    pub(crate) is_long_value: bool,
    pub(crate) has_path: bool,
    /// Presence and embedding of each child.
    pub(crate) left: (bool, bool),
    pub(crate) right: (bool, bool),
}

impl Flags {
    pub(crate) fn byte(&self) -> u8 {
        let set = |is_set: bool, mask: u8| if is_set { mask } else { 0 };
        VERSION
            | set(self.is_long_value, LONG_VALUE)
            | set(self.has_path, HAS_PATH)
            | set(self.left.0, HAS_LEFT)
            | set(self.right.0, HAS_RIGHT)
            | set(self.left.1, LEFT_EMBEDDED)
            | set(self.right.1, RIGHT_EMBEDDED)
    }
}

/// Appends the length and the bits of a shared path; nothing if it is empty.
pub(crate) fn write_path(path: PathBits<'_>, out: &mut Vec<u8>) {
    match path.len() {
        0 => return,
        // The ranges make these conversions exact.
        bits @ 1..=32 => out.push((bits - 1) as u8),
        bits @ 160..=382 => out.push((bits - 128) as u8),
        bits => {
            out.push(0xff);
            write_varint(bits as u64, out);
        }
    }
    out.extend_from_slice(path.bytes());
}

/// Returns the number of bytes that [`write_path`] appends.
pub(crate) fn path_size(path: PathBits<'_>) -> usize {
    let prefix = match path.len() {
        0 => 0,
        1..=32 | 160..=382 => 1,
        bits => 1 + varint_size(bits as u64),
    };
    prefix + path.bytes().len()
}

/// Appends a variable-length integer in the format of Bitcoin (little-endian).
pub(crate) fn write_varint(number: u64, out: &mut Vec<u8>) {
    let bytes = number.to_le_bytes();
    match number {
        0..=0xfc => out.extend_from_slice(&bytes[..1]),
        0xfd..=0xffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xffff_ffff => {
            out.push(0xfe);
            out.extend_from_slice(&bytes[..4]);
        }
        _ => {
            out.push(0xff);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Returns the number of bytes that [`write_varint`] appends.
pub(crate) fn varint_size(number: u64) -> usize {
    match number {
        0..=0xfc => 1,
        0xfd..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::hex;

    use super::*;

    fn length_field(bits: usize) -> String {
        let path = Path::of(&[], 0, bits);
        let mut out = Vec::new();
        write_path(path.all_bits(), &mut out);
        assert_eq!(out.len(), path_size(path.all_bits()));
        let parsed = Input(&out).path_length().unwrap();
        assert_eq!(parsed, bits);
        out.truncate(out.len() - bits.div_ceil(8));
        hex::encode(out)
    }

    #[test]
    fn path_lengths_use_the_compact_forms() {
        for (bits, expected) in [
            (1, "00"),
            (32, "1f"),
            (33, "ff21"),
            (159, "ff9f"),
            (160, "20"),
            (248, "78"),
            (382, "fe"),
            (383, "fffd7f01"),
            (65536, "fffe00000100"),
        ] {
            assert_eq!(length_field(bits), expected, "{bits}");
        }
    }

    #[test]
    fn malformed_messages_are_rejected() {
        let error = |text: &str| NodeMessage::parse(&hex::decode(text).unwrap()).unwrap_err();
        let long = |length: usize| format!("700707{}", "00".repeat(length));
        assert_eq!(error(""), NodeMessageError::Truncated);
        assert_eq!(error("02000000"), NodeMessageError::OldFormat);
        assert_eq!(error("501f0102"), NodeMessageError::Truncated);
        assert_eq!(error("50ffffffffffffffffffff"), NodeMessageError::Truncated);
        assert_eq!(error("4a2040"), NodeMessageError::Truncated);
        assert_eq!(error("4a00"), NodeMessageError::Truncated, "the children size is missing");
        assert_eq!(error(&long(34)), NodeMessageError::Truncated);
        assert_eq!(error(&long(36)), NodeMessageError::TrailingBytes);
        assert!(NodeMessage::parse(&hex::decode(long(35)).unwrap()).is_ok());
    }

    #[test]
    fn all_fields_are_parsed() {
        let bytes = hex::decode("4f0450060011045006fe2208").unwrap();
        let message = NodeMessage::parse(&bytes).unwrap();
        assert!(message.path.is_empty());
        assert_eq!(message.left, ChildPart::Embedded(&[0x50, 0x06, 0x00, 0x11]));
        assert_eq!(message.right, ChildPart::Embedded(&[0x50, 0x06, 0xfe, 0x22]));
        assert_eq!(message.children_size, 8);
        assert_eq!(message.value, ValuePart::None);
    }
}
