//! Records of a write-ahead log: several changes that were written together.

use super::bytes::LevelReader;
use super::row_kind::RowKind;

/// Visits key, sequence number and value (`None`: deleted) of each change. Returns `None` if the batch cannot be decoded.
pub(super) fn read<'a>(batch: &'a [u8], mut visit: impl FnMut(&'a [u8], u64, Option<&'a [u8]>)) -> Option<()> {
    let mut rest = LevelReader(batch);
    let (mut sequence, count) = (rest.u64()?, rest.u32()?);
    for _ in 0..count {
        let kind = RowKind::from_byte(rest.byte()?)?;
        let key = rest.string()?;
        let value = match kind {
            RowKind::Value => Some(rest.string()?),
            RowKind::Deletion => None,
        };
        visit(key, sequence, value);
        sequence = sequence.checked_add(1)?;
    }
    rest.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_numbered() {
        let mut batch = [5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 1, b'k', 2, b'v', b'w', 0, 1, b'd'];
        let mut changes = Vec::new();
        let mut read = |batch: &[u8]| {
            read(batch, |key, sequence, value| changes.push((key.to_vec(), sequence, value.map(<[u8]>::to_vec))))
        };
        assert_eq!(read(&batch), Some(()));
        assert_eq!(read(&batch[..batch.len() - 1]), None);
        batch[12] = 2;
        assert_eq!(read(&batch), None);
        assert_eq!(changes[..2], [(b"k".to_vec(), 5, Some(b"vw".to_vec())), (b"d".to_vec(), 6, None)]);
    }
}
