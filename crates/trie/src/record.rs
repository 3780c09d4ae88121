//! Records of nodes in an append-only log: a message, and the places of the children that it refers to, so that a trie is read from
//! record to record without an index.
//!
//! | Part | Bytes |
//! | --- | --- |
//! | length of the message times 4, plus the number of children with a place; little-endian | 2 |
//! | for messages of 16,383 bytes and more, whose first part is 0xffff: number of children, length; little-endian | 1 + 4 |
//! | message | |
//! | place of each child that the message has by its hash, left before right: offset, file; little-endian | 6 each |

use rhizome_primitives::{B256, Bytes};

use crate::source::NodePosition;

/// Place of a record in the log: a file, and the offset of its first byte. In 6 bytes without alignment, for the nodes in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodePlace([u8; PLACE_BYTES]);

const PLACE_BYTES: usize = 6;
/// Length of the first part of a record.
const SHORT_HEADER_BYTES: usize = 2;
const LONG_HEADER_BYTES: usize = 2 + 1 + 4;
/// The first part of a record with a longer one.
const LONG_HEADER: u16 = u16::MAX;
/// Messages of this length and longer have the longer header.
const LONG_MESSAGE: usize = (LONG_HEADER >> 2) as usize;

impl NodePlace {
    /// No known place: the node is found by its hash.
    pub const UNKNOWN: Self = Self([0xff; PLACE_BYTES]);

    /// Returns the place at an offset of a file.
    pub fn new(file: u16, offset: u32) -> Self {
        let ([a, b, c, d], [e, f]) = (offset.to_le_bytes(), file.to_le_bytes());
        Self([a, b, c, d, e, f])
    }

    /// Returns the number of the file.
    pub fn file(self) -> u16 {
        let [.., e, f] = self.0;
        u16::from_le_bytes([e, f])
    }

    /// Returns the offset in the file.
    pub fn offset(self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }

    /// Returns true unless the node has to be found by its hash.
    pub fn is_known(self) -> bool {
        self != Self::UNKNOWN
    }

    /// Returns the place a number of bytes behind this one; `UNKNOWN` beyond the largest offset, and behind an unknown place.
    pub fn after(self, bytes: usize) -> Self {
        let offset = u32::try_from(bytes).ok().and_then(|bytes| self.offset().checked_add(bytes));
        offset.map_or(Self::UNKNOWN, |offset| Self::new(self.file(), offset))
    }

    /// Returns the number of bytes from `first` to this place; `None` if this one is before it, in a different file, or unknown.
    pub fn bytes_behind(self, first: Self) -> Option<usize> {
        let is_same_file = self.is_known() && self.file() == first.file();
        self.offset().checked_sub(first.offset()).filter(|_| is_same_file).map(|bytes| bytes as usize)
    }
}

/// In the order of the log.
impl Ord for NodePlace {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.file(), self.offset()).cmp(&(other.file(), other.offset()))
    }
}

impl PartialOrd for NodePlace {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for NodePlace {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl std::fmt::Debug for NodePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file(), self.offset())
    }
}

/// A node as a source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceNode {
    /// The message, or a long value.
    pub message: Bytes,
    /// Places of the children that the message has by their hashes, left before right.
    pub children: [NodePlace; 2],
}

impl From<Bytes> for SourceNode {
    fn from(message: Bytes) -> Self {
        Self { message, children: [NodePlace::UNKNOWN; 2] }
    }
}

/// A node that a trie needs.
#[derive(Clone, Copy, Debug)]
pub struct WantedNode<'a> {
    /// Its position in the trie.
    pub position: NodePosition<'a>,
    /// Keccak hash of its message.
    pub hash: B256,
    /// Place of its record, if the source has records.
    pub place: NodePlace,
}

/// Header of a record: where its parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    /// Offset of the message.
    message: usize,
    /// Offset of the places.
    places: usize,
    /// Length of the record.
    end: usize,
}

impl RecordLayout {
    /// Reads the header of the record that `bytes` begin with. `None` if they end before, or begin with no record.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk::<SHORT_HEADER_BYTES>()?;
        let header = u16::from_le_bytes(*header);
        let (message, length, children) = if header == LONG_HEADER {
            let ([children], rest) = rest.split_first_chunk::<1>()?;
            (LONG_HEADER_BYTES, u32::from_le_bytes(*rest.first_chunk::<4>()?) as usize, usize::from(*children))
        } else {
            (SHORT_HEADER_BYTES, usize::from(header >> 2), usize::from(header & 3))
        };
        let places = message.checked_add(length)?;
        (children <= 2).then_some(Self { message, places, end: places.checked_add(children * PLACE_BYTES)? })
    }

    /// Returns the length of the record in bytes.
    pub fn length(self) -> usize {
        self.end
    }

    /// Returns the message of the record that `bytes` begin with; `None` if they end before.
    pub fn message(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.message..self.places)
    }

    /// Returns the node of the record that `bytes` begin with; `None` if they end before.
    pub fn node(self, bytes: &[u8]) -> Option<SourceNode> {
        let message = Bytes::copy_from_slice(self.message(bytes)?);
        let (places, _) = bytes.get(self.places..self.end)?.as_chunks::<PLACE_BYTES>();
        let mut children = [NodePlace::UNKNOWN; 2];
        children.iter_mut().zip(places).for_each(|(child, place)| *child = NodePlace(*place));
        Some(SourceNode { message, children })
    }
}

/// Appends the record of a message of `length` bytes, which `write` appends, with room for the places of `children` children.
/// Returns its layout.
pub(crate) fn append_record(
    length: usize,
    children: usize,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> RecordLayout {
    let message = if length < LONG_MESSAGE {
        // Below 2^16, and two bits for at most 2 children.
        out.extend_from_slice(&((length << 2 | children) as u16).to_le_bytes());
        SHORT_HEADER_BYTES
    } else {
        out.extend_from_slice(&LONG_HEADER.to_le_bytes());
        // The trie rejects values of more than 2^24 - 1 bytes.
        out.push(children as u8);
        out.extend_from_slice(&(length as u32).to_le_bytes());
        LONG_HEADER_BYTES
    };
    write(out);
    let places = message + length;
    let end = places + children * PLACE_BYTES;
    out.resize(out.len() + children * PLACE_BYTES, 0xff);
    RecordLayout { message, places, end }
}

/// Sets the place of a child in the record at `start`. `index`: number of the child among those with a place.
pub(crate) fn set_child_place(records: &mut [u8], start: usize, layout: RecordLayout, index: usize, place: NodePlace) {
    let at = start + layout.places + index * PLACE_BYTES;
    if let Some(target) = records.get_mut(at..at + PLACE_BYTES) {
        target.copy_from_slice(&place.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_all_lengths_are_read() {
        for length in [0, 1, 90, LONG_MESSAGE - 1, LONG_MESSAGE, 70_000] {
            for children in 0..=2 {
                let (message, mut records) = (vec![7; length], vec![1, 2, 3]);
                let layout = append_record(length, children, &mut records, |out| out.extend_from_slice(&message));
                let places = [NodePlace::new(3, 70_000), NodePlace::new(u16::MAX, 1)];
                for (index, place) in places.iter().take(children).enumerate() {
                    set_child_place(&mut records, 3, layout, index, *place);
                }
                let record = records.split_off(3);
                assert_eq!(RecordLayout::read(&record), Some(layout));
                assert_eq!(layout.length(), record.len());
                let node = layout.node(&record).unwrap();
                assert_eq!(node.message, message);
                for (index, place) in node.children.iter().enumerate() {
                    assert_eq!(*place, if index < children { places[index] } else { NodePlace::UNKNOWN });
                }
                assert_eq!(layout.node(&record[..record.len() - 1]), None);
            }
        }
    }

    #[test]
    fn other_bytes_are_no_record() {
        assert_eq!(RecordLayout::read(&[]), None);
        assert_eq!(RecordLayout::read(&[3, 0]), None, "three children");
        assert_eq!(RecordLayout::read(&[0xff, 0xff, 1, 0, 0]), None);
        assert_eq!(RecordLayout::read(&[0xff, 0xff, 3, 0, 0, 0, 0]), None);
    }

    #[test]
    fn places_are_in_the_order_of_the_log() {
        let places =
            [(0, 0), (0, 256), (0, u32::MAX), (1, 0), (256, 7)].map(|(file, offset)| NodePlace::new(file, offset));
        assert!(places.is_sorted());
        assert_eq!(places[1].after(5), NodePlace::new(0, 261));
        assert_eq!(places[2].after(1), NodePlace::UNKNOWN);
        assert_eq!([0, 1].map(|bytes| NodePlace::UNKNOWN.after(bytes)), [NodePlace::UNKNOWN; 2]);
        assert_eq!((places[4].file(), places[4].offset()), (256, 7));
        let behind = |first: NodePlace| places.map(|place| place.bytes_behind(first));
        assert_eq!(behind(places[1]), [None, Some(0), Some(u32::MAX as usize - 256), None, None]);
        assert_eq!(NodePlace::UNKNOWN.bytes_behind(NodePlace::UNKNOWN), None);
    }
}
