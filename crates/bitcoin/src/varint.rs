//! Variable-length integers of Bitcoin messages.

use crate::message::{MessageError, MessageReader};

/// Writes a number in its shortest form: 1, 3, 5 or 9 bytes.
pub fn put_varint(target: &mut Vec<u8>, number: u64) {
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
            target.extend(number.to_le_bytes());
        }
    }
}

/// Writes bytes behind their length.
pub(crate) fn put_sized_bytes(target: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(target, bytes.len() as u64);
    target.extend(bytes);
}

/// Returns the numbers that fill `bytes`, of any form.
pub fn read_varints(bytes: &[u8]) -> Result<Vec<u64>, MessageError> {
    let mut reader = MessageReader::new(bytes);
    let mut numbers = Vec::new();
    while !reader.is_empty() {
        numbers.push(reader.number()? as u64);
    }
    Ok(numbers)
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
            put_varint(&mut written, number as u64);
            assert_eq!(written.len(), varint_size(number), "{number}");
        }
    }
}
