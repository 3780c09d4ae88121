//! Variable-length integers of Bitcoin messages.

/// Writes a number in its shortest form: 1, 3, 5 or 9 bytes.
pub fn put_varint(target: &mut Vec<u8>, number: usize) {
    match number {
        0..=0xfc => target.push(number as u8),
        0xfd..=0xffff => {
            target.push(0xfd);
            target.extend((number as u16).to_le_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            target.push(0xfe);
            target.extend((number as u32).to_le_bytes());
        }
        _ => {
            target.push(0xff);
            target.extend((number as u64).to_le_bytes());
        }
    }
}

/// Writes bytes behind their length.
pub(crate) fn put_sized_bytes(target: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(target, bytes.len());
    target.extend(bytes);
}

/// Returns the size of the shortest form of a number.
pub fn varint_size(number: usize) -> usize {
    match number {
        0..=0xfc => 1,
        0xfd..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_written_form() {
        for number in [0, 0xfc, 0xfd, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000] {
            let mut written = Vec::new();
            put_varint(&mut written, number);
            assert_eq!(written.len(), varint_size(number), "{number}");
        }
    }
}
