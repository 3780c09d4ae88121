//! Parser of Bitcoin blocks and transactions: header elements before RSKIP-98, and mining solutions.

use crate::digest::{Digest, sha256d};
use crate::header::BitcoinHeader;

/// Maximum declared length of a byte string in a Bitcoin message.
const MAX_CLAIM: i64 = 0x0200_0000;

/// Why bytes are not a valid Bitcoin message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The data ends inside the item at this offset.
    #[error("the Bitcoin message ends inside the item at offset {offset}")]
    Truncated {
        /// Start of the item.
        offset: usize,
    },
    /// A count or length outside of its bounds.
    #[error("the count {count} at offset {offset} of the Bitcoin message is impossible")]
    Count {
        /// End of the number.
        offset: usize,
        /// The number as a signed 64-bit value.
        count: i64,
    },
    /// Undefined flags of a segregated witness transaction.
    #[error("unknown transaction flags {flags:#04x}")]
    Flags {
        /// The flag byte.
        flags: u8,
    },
    /// The block has no transactions, so no coinbase.
    #[error("the Bitcoin block has no transaction")]
    NoCoinbase,
}

/// The parts of a Bitcoin block that merged mining needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitcoinBlock {
    /// The header.
    pub header: BitcoinHeader,
    /// The first transaction without its witness: the preimage of its id.
    pub coinbase: Vec<u8>,
    /// Ids of all transactions in wire order, coinbase first.
    pub transaction_ids: Vec<Digest>,
}

impl BitcoinBlock {
    /// Reads a block. Bytes after the last transaction are ignored, like in Bitcoin libraries.
    pub fn parse(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut reader = MessageReader::new(bytes);
        let header = BitcoinHeader::parse(&reader.array::<80>()?)?;
        let transactions = reader.transactions()?;
        let transaction_ids = transactions.iter().map(|transaction| sha256d(transaction)).collect();
        let coinbase = transactions.into_iter().next().ok_or(MessageError::NoCoinbase)?;
        Ok(Self { header, coinbase, transaction_ids })
    }
}

/// Reads one transaction with or without witness and returns its bytes without the witness. Bytes after it are ignored.
pub fn strip_witness(bytes: &[u8]) -> Result<Vec<u8>, MessageError> {
    MessageReader::new(bytes).transaction()
}

/// A cursor over a Bitcoin message.
pub(crate) struct MessageReader<'a> {
    data: &'a [u8],
    offset: usize,
}

impl<'a> MessageReader<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { data, offset: 0 }
    }

    /// Returns the number of bytes read.
    pub(crate) fn position(&self) -> usize {
        self.offset
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.offset == self.data.len()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], MessageError> {
        let end = self.offset.checked_add(length);
        let taken = end.and_then(|end| self.data.get(self.offset..end));
        let taken = taken.ok_or(MessageError::Truncated { offset: self.offset })?;
        self.offset += length;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], MessageError> {
        let offset = self.offset;
        self.bytes(N)?.try_into().map_err(|_not_possible| MessageError::Truncated { offset })
    }

    /// Reads a variable-length integer. The 9-byte form is a signed 64-bit number, as in the reference.
    pub(crate) fn number(&mut self) -> Result<i64, MessageError> {
        let [first] = self.array::<1>()?;
        Ok(match first {
            0xfd => i64::from(u16::from_le_bytes(self.array()?)),
            0xfe => i64::from(u32::from_le_bytes(self.array()?)),
            0xff => i64::from_le_bytes(self.array()?),
            small => i64::from(small),
        })
    }

    /// Reads a count of items. The reference reserves memory by its low 32 bits, so these must not be negative; a negative
    /// 64-bit number whose low half is positive counts as 0.
    pub(crate) fn count(&mut self) -> Result<i64, MessageError> {
        let count = self.number()?;
        if (count as i32) < 0 {
            return Err(MessageError::Count { offset: self.offset, count });
        }
        Ok(count.max(0))
    }

    pub(crate) fn sized_bytes(&mut self) -> Result<&'a [u8], MessageError> {
        let length = i64::from(self.number()? as i32);
        if length > MAX_CLAIM {
            return Err(MessageError::Count { offset: self.offset, count: length });
        }
        let size = usize::try_from(length);
        let size = size.map_err(|_negative| MessageError::Count { offset: self.offset, count: length })?;
        self.bytes(size)
    }

    /// Reads a counted list of transactions and returns each without its witness.
    pub(crate) fn transactions(&mut self) -> Result<Vec<Vec<u8>>, MessageError> {
        let count = i64::from(self.number()? as i32);
        if count < 0 {
            return Err(MessageError::Count { offset: self.offset, count });
        }
        (0..count).map(|_index| self.transaction()).collect()
    }

    fn transaction(&mut self) -> Result<Vec<u8>, MessageError> {
        let start = self.offset;
        let version = self.array::<4>()?;
        let mut body = self.offset;
        let mut inputs = self.inputs()?;
        let mut flags = 0;
        if inputs == 0 {
            [flags] = self.array()?;
            if flags != 0 {
                body = self.offset;
                inputs = self.inputs()?;
                self.outputs()?;
            }
        } else {
            self.outputs()?;
        }
        let body_end = self.offset;
        if flags & 1 != 0 {
            for _input in 0..inputs {
                for _push in 0..self.count()? {
                    self.sized_bytes()?;
                }
            }
        }
        if flags & !1 != 0 {
            return Err(MessageError::Flags { flags });
        }
        let lock_time = self.array::<4>()?;
        if flags == 0 {
            return Ok(self.data.get(start..self.offset).unwrap_or_default().to_vec());
        }
        let body = self.data.get(body..body_end).unwrap_or_default();
        Ok([version.as_slice(), body, lock_time.as_slice()].concat())
    }

    fn inputs(&mut self) -> Result<i64, MessageError> {
        let count = self.count()?;
        for _input in 0..count {
            self.array::<36>()?;
            self.sized_bytes()?;
            self.array::<4>()?;
        }
        Ok(count)
    }

    fn outputs(&mut self) -> Result<(), MessageError> {
        for _output in 0..self.count()? {
            self.array::<8>()?;
            self.sized_bytes()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One input with a two-byte script, one output with a one-byte script.
    fn legacy() -> Vec<u8> {
        let mut bytes = vec![1, 0, 0, 0, 1];
        bytes.extend([0xee; 36]);
        bytes.extend([2, 0xaa, 0xbb]);
        bytes.extend([0xff; 4]);
        bytes.push(1);
        bytes.extend([5; 8]);
        bytes.extend([1, 0x51]);
        bytes.extend([0; 4]);
        bytes
    }

    fn with_witness() -> Vec<u8> {
        let plain = legacy();
        let mut bytes = plain[..4].to_vec();
        bytes.extend([0, 1]);
        bytes.extend(&plain[4..plain.len() - 4]);
        bytes.extend([1, 3, 7, 7, 7]);
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn the_id_does_not_cover_the_witness() {
        assert_eq!(strip_witness(&legacy()).unwrap(), legacy());
        assert_eq!(strip_witness(&with_witness()).unwrap(), legacy());
    }

    #[test]
    fn blocks_have_a_coinbase_and_ids() {
        let mut block = vec![0; 80];
        block.push(2);
        block.extend(with_witness());
        block.extend(legacy());
        let block = BitcoinBlock::parse(&block).unwrap();
        assert_eq!(block.coinbase, legacy());
        assert_eq!(block.transaction_ids, vec![sha256d(&legacy()); 2]);
    }

    #[test]
    fn every_truncation_is_rejected() {
        let whole = with_witness();
        for length in 0..whole.len() {
            assert!(strip_witness(&whole[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn counts_out_of_bounds_are_rejected() {
        let mut bytes = vec![1, 0, 0, 0, 0xff];
        bytes.extend([0xff; 8]);
        assert!(matches!(strip_witness(&bytes), Err(MessageError::Count { count: -1, .. })));
    }
}
