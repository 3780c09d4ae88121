use std::ops::ControlFlow;

use crate::error::RskjError;

/// Where the encoding of a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueLocation {
    /// Position that the table understands.
    pub(crate) position: u64,
    /// Length of the encoding, in bytes.
    pub(crate) length: u32,
}

/// A version of a row.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) key: &'a [u8],
    /// Of all versions of a key the one with the highest sequence number counts.
    pub(crate) sequence: u64,
    /// `None` if the row was deleted.
    pub(crate) value: Option<&'a [u8]>,
    pub(crate) location: ValueLocation,
}

/// Result of a visit of a row: whether the scan continues.
pub(crate) type Visited = Result<ControlFlow<()>, RskjError>;

/// Gets a row of a scan, which it may end.
pub(crate) type OnRow<'a> = &'a mut dyn FnMut(Row<'_>) -> Visited;
