//! Kind of a version of a row, one byte behind the keys of tables and in front of the changes of a write batch.

/// Kind of a version of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    Deletion = 0,
    Value = 1,
}

impl RowKind {
    /// Returns `None` for a byte that LevelDB does not write.
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Deletion, Self::Value].into_iter().find(|kind| *kind as u8 == byte)
    }
}
