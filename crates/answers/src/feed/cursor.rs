//! Places in the change feed.

use rhizome_chain::BlockRecord;
use rhizome_primitives::B256;
use std::fmt;

/// Longest text of a cursor, in bytes.
const MAX_BYTES: usize = 128;

/// Place in the change feed: the client has all blocks up to the parent of a block, and the first steps of the block. The first step is
/// the block itself, each further one a transaction. Means the same to every node of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FeedCursor {
    pub(crate) number: u64,
    pub(crate) hash: B256,
    pub(crate) steps: u64,
}

impl FeedCursor {
    /// Returns the place behind a whole block.
    pub(crate) fn behind(record: &BlockRecord) -> Self {
        Self { steps: steps_of(record), ..Self::before(record) }
    }

    /// Returns the place before a block.
    pub(crate) fn before(record: &BlockRecord) -> Self {
        Self { number: record.number(), hash: record.hash, steps: 0 }
    }

    /// Reads the text `NUMBER-HASH-STEPS`; `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let mut parts = text.split('-');
        let (number, hash, steps) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || !hash.starts_with("0x") {
            return None;
        }
        Some(Self { number: decimal(number)?, hash: hash.parse().ok()?, steps: decimal(steps)? })
    }
}

impl fmt::Display for FeedCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}-{}", self.number, self.hash, self.steps)
    }
}

/// Returns the number of steps of a block.
pub(crate) fn steps_of(record: &BlockRecord) -> u64 {
    1 + record.block.transactions.len() as u64
}

/// Reads a number without sign and leading zeros, so that a cursor has one text.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_has_one_text() {
        let cursor = FeedCursor { number: 12, hash: B256::repeat_byte(0xab), steps: 3 };
        let text = format!("12-0x{}-3", "ab".repeat(32));
        assert_eq!((cursor.to_string(), FeedCursor::parse(&text)), (text.clone(), Some(cursor)));
        let hash = "ab".repeat(32);
        for bad in [
            String::new(),
            "12".into(),
            "12-0xab-3".into(),
            format!("12-{hash}-3"),
            format!("+12-0x{hash}-3"),
            format!("012-0x{hash}-3"),
            format!("12-0x{hash}"),
            format!("12-0x{hash}-"),
            format!("12-0x{hash}-3-4"),
            format!("12-0x{hash}--3"),
            format!("99999999999999999999-0x{hash}-3"),
            format!("{}12-0x{hash}-3", "1".repeat(200)),
        ] {
            assert_eq!(FeedCursor::parse(&bad), None, "{bad}");
        }
    }
}
