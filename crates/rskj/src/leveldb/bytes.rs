//! Numbers and strings in the files of LevelDB.

use crc::{CRC_32_ISCSI, Crc, Table};

/// Added to stored checksums, so that a checksum over bytes with checksums stays useful.
const MASK_DELTA: u32 = 0xa282_ead8;

static CRC32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// Bytes that are read from the front. Each method returns `None`, without moving, if too few are left.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelReader<'a>(pub(super) &'a [u8]);

impl<'a> LevelReader<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Reads a number of 7 bits for each byte, the lowest first; the upper bit marks all bytes but the last.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut number: u64 = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a length.
    pub(super) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok()
    }

    /// Reads a string behind its length.
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }
}

/// Whether bytes in two parts have a stored checksum.
pub(super) fn has_checksum(first: &[u8], second: &[u8], stored: u32) -> bool {
    let mut digest = CRC32C.digest();
    digest.update(first);
    digest.update(second);
    digest.finalize().rotate_right(15).wrapping_add(MASK_DELTA) == stored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_short_input_is_not() {
        let mut reader = LevelReader(&[0xac, 0x02, 3, b'a', b'b', b'c', 0x80]);
        assert_eq!((reader.varint(), reader.string()), (Some(300), Some(&b"abc"[..])));
        assert_eq!(reader.varint(), None);
        assert_eq!(LevelReader(&[0xff; 11]).varint(), None);
        assert_eq!(LevelReader(&[9, 1]).string(), None);
        assert_eq!(LevelReader(&[1, 2, 3]).u32(), None);
    }

    /// The value is that of LevelDB's `crc32c_test.cc`, masked.
    #[test]
    fn checksums_are_masked() {
        let masked = 0x8a91_36aa_u32.rotate_right(15).wrapping_add(MASK_DELTA);
        assert!(has_checksum(&[0; 16], &[0; 16], masked));
        assert!(!has_checksum(&[0; 16], &[1; 16], masked));
    }
}
