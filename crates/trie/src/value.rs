//! Values of nodes: short ones inside the message, long ones stored separately by hash.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use rhizome_primitives::{B256, Bytes, keccak256};

use crate::error::TrieError;
use crate::message::{LONG_VALUE_BYTES, MAX_VALUE_LENGTH, SHORT_VALUE_LIMIT, ValuePart};
use crate::node_batch::NodeBatch;

/// The value of a node.
#[derive(Clone, Debug, Default)]
pub(crate) enum NodeValue {
    #[default]
    None,
    Short(ShortValue),
    /// Value of more than 32 bytes. `is_saved`: its bytes are in the source or were returned by a commit.
    Long {
        value: Arc<LongNodeValue>,
        is_saved: bool,
    },
}

/// A value of 1 to 32 bytes, without a separate allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShortValue {
    length: u8,
    /// Zero beyond the length.
    bytes: [u8; SHORT_VALUE_LIMIT],
}

impl ShortValue {
    /// Copies a value, at most its first 32 bytes.
    fn new(value: &[u8]) -> Self {
        let mut bytes = [0; SHORT_VALUE_LIMIT];
        let length = value.len().min(SHORT_VALUE_LIMIT);
        for (target, byte) in bytes.iter_mut().zip(value) {
            *target = *byte;
        }
        Self { length: length as u8, bytes }
    }
}

impl Deref for ShortValue {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&self.bytes)
    }
}

/// A value of more than 32 bytes.
#[derive(Debug)]
pub(crate) struct LongNodeValue {
    length: u32,
    hash: OnceLock<B256>,
    /// Absent if only hash and length are known.
    bytes: Option<Bytes>,
}

/// A value as change sets have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownValue<'a> {
    /// Value of 1 to 32 bytes.
    Short(&'a [u8]),
    /// Keccak hash and length of a longer value.
    Long(B256, u32),
}

/// Finds the value of a key before a change, for reading ahead. It returns `None` for a key without a known value. Wrong values are
/// ignored.
pub type ValuesBefore<'f, 'v> = &'f (dyn Fn(&[u8]) -> Option<KnownValue<'v>> + Sync);

impl From<KnownValue<'_>> for NodeValue {
    fn from(value: KnownValue<'_>) -> Self {
        match value {
            KnownValue::Short(bytes) => Self::Short(ShortValue::new(bytes)),
            KnownValue::Long(hash, length) => Self::stored(hash, length),
        }
    }
}

impl NodeValue {
    /// Creates the value for `bytes`; `None` if they are empty.
    pub(crate) fn new(bytes: &Bytes) -> Result<NodeValue, TrieError> {
        if bytes.len() > MAX_VALUE_LENGTH {
            return Err(TrieError::ValueTooLong { length: bytes.len() });
        }
        Ok(match bytes.len() {
            0 => NodeValue::None,
            1..=SHORT_VALUE_LIMIT => NodeValue::Short(ShortValue::new(bytes)),
            length => NodeValue::Long {
                // Checked above: fits into three bytes.
                value: Arc::new(LongNodeValue {
                    length: length as u32,
                    hash: OnceLock::new(),
                    bytes: Some(bytes.clone()),
                }),
                is_saved: false,
            },
        })
    }

    /// Creates a value for computing roots: a long value is reduced to its length and `hash`, its Keccak hash.
    pub(crate) fn for_root(bytes: &[u8], hash: B256) -> Result<NodeValue, TrieError> {
        if bytes.len() <= SHORT_VALUE_LIMIT || bytes.len() > MAX_VALUE_LENGTH {
            return NodeValue::new(&Bytes::copy_from_slice(bytes));
        }
        Ok(NodeValue::stored(hash, bytes.len() as u32))
    }

    fn stored(hash: B256, length: u32) -> NodeValue {
        NodeValue::Long {
            value: Arc::new(LongNodeValue { length, hash: OnceLock::from(hash), bytes: None }),
            is_saved: true,
        }
    }

    /// Creates the value of a message.
    pub(crate) fn from_part(part: ValuePart<'_>) -> NodeValue {
        match part {
            ValuePart::None => NodeValue::None,
            ValuePart::Short(bytes) => NodeValue::Short(ShortValue::new(bytes)),
            ValuePart::Long { hash, length } => NodeValue::stored(hash, length),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, NodeValue::None)
    }

    /// Returns the length in bytes, 0 without a value.
    pub(crate) fn length(&self) -> usize {
        match self {
            NodeValue::None => 0,
            NodeValue::Short(bytes) => bytes.len(),
            NodeValue::Long { value, .. } => value.length as usize,
        }
    }

    /// Returns the number of bytes that the value takes in the message of its node.
    pub(crate) fn message_size(&self) -> usize {
        match self {
            NodeValue::None => 0,
            NodeValue::Short(bytes) => bytes.len(),
            NodeValue::Long { .. } => LONG_VALUE_BYTES,
        }
    }

    /// Returns the number of bytes that the value takes outside of that message.
    pub(crate) fn outside_size(&self) -> u64 {
        match self {
            NodeValue::Long { value, .. } => u64::from(value.length),
            NodeValue::None | NodeValue::Short(_) => 0,
        }
    }

    /// Adds the bytes of a long value that is not saved yet, and marks it as saved.
    pub(crate) fn save(&mut self, out: &mut NodeBatch) {
        if let NodeValue::Long { value, is_saved } = self
            && !*is_saved
        {
            *is_saved = true;
            if let Some(bytes) = value.bytes() {
                out.push(&value.hash(), bytes);
            }
        }
    }

    /// Returns true if both values are equal.
    pub(crate) fn is_same(&self, other: &NodeValue) -> bool {
        match (self, other) {
            (NodeValue::None, NodeValue::None) => true,
            (NodeValue::Short(a), NodeValue::Short(b)) => a == b,
            (NodeValue::Long { value: a, .. }, NodeValue::Long { value: b, .. }) => {
                Arc::ptr_eq(a, b) || (a.length == b.length && a.hash() == b.hash())
            }
            _ => false,
        }
    }
}

impl LongNodeValue {
    pub(crate) fn hash(&self) -> B256 {
        match &self.bytes {
            Some(bytes) => *self.hash.get_or_init(|| keccak256(bytes)),
            // A value without bytes is created with its hash.
            None => self.hash.get().copied().unwrap_or_default(),
        }
    }

    pub(crate) fn bytes(&self) -> Option<&Bytes> {
        self.bytes.as_ref()
    }

    /// Returns the length as the three bytes of its field in a message.
    pub(crate) fn length_field(&self) -> [u8; 3] {
        let [_, a, b, c] = self.length.to_be_bytes();
        [a, b, c]
    }
}
