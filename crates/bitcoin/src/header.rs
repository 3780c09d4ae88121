//! The 80-byte Bitcoin header.

use crate::digest::{Digest, sha256d};
use crate::message::{MessageError, MessageReader};

/// Size of a Bitcoin header, bytes.
pub const HEADER_SIZE: usize = 80;

/// A Bitcoin header in its encoded form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitcoinHeader([u8; HEADER_SIZE]);

impl BitcoinHeader {
    /// Reads the header element of an RSK header. Before RSKIP-98 the 80 bytes may be followed by Bitcoin transactions,
    /// which must be well formed and do not affect the hash.
    pub fn parse(element: &[u8]) -> Result<Self, MessageError> {
        let mut reader = MessageReader::new(element);
        let header = Self(reader.array()?);
        if !reader.is_empty() {
            reader.transactions()?;
        }
        Ok(header)
    }

    /// Builds a header from its fields; `previous` and `merkle_root` in wire order.
    pub fn new(version: u32, previous: Digest, merkle_root: Digest, time: u32, bits: u32, nonce: u32) -> Self {
        let mut bytes = [0; HEADER_SIZE];
        let fields: [&[u8]; 6] = [
            &version.to_le_bytes(),
            &previous,
            &merkle_root,
            &time.to_le_bytes(),
            &bits.to_le_bytes(),
            &nonce.to_le_bytes(),
        ];
        for (target, source) in bytes.iter_mut().zip(fields.concat()) {
            *target = source;
        }
        Self(bytes)
    }

    /// Replaces the nonce.
    pub fn with_nonce(mut self, nonce: u32) -> Self {
        for (target, source) in self.0.iter_mut().skip(76).zip(nonce.to_le_bytes()) {
            *target = source;
        }
        self
    }

    /// The encoded form.
    pub fn as_bytes(&self) -> &[u8; HEADER_SIZE] {
        &self.0
    }

    /// Block hash, wire order.
    pub fn hash(&self) -> Digest {
        sha256d(&self.0)
    }

    /// Merkle root of the transaction ids, wire order.
    pub fn merkle_root(&self) -> Digest {
        let mut root = [0; 32];
        for (target, source) in root.iter_mut().zip(self.0.iter().skip(36)) {
            *target = *source;
        }
        root
    }

    /// Hash of the parent block, wire order.
    pub fn previous(&self) -> Digest {
        let mut previous = [0; 32];
        for (target, source) in previous.iter_mut().zip(self.0.iter().skip(4)) {
            *target = *source;
        }
        previous
    }

    /// Time in seconds.
    pub fn time(&self) -> u32 {
        self.number_at(68)
    }

    /// Target in its compact form.
    pub fn bits(&self) -> u32 {
        self.number_at(72)
    }

    fn number_at(&self, offset: usize) -> u32 {
        self.0.iter().skip(offset).take(4).rev().fold(0, |sum, byte| (sum << 8) | u32::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_at_their_offsets() {
        let header = BitcoinHeader::new(0x2000_0000, [1; 32], [2; 32], 1_700_000_000, 0x207f_ffff, 5).with_nonce(9);
        assert_eq!(header.merkle_root(), [2; 32]);
        assert_eq!(header.time(), 1_700_000_000);
        assert_eq!((header.previous(), header.bits()), ([1; 32], 0x207f_ffff));
        assert_eq!(header.as_bytes()[76..], [9, 0, 0, 0]);
        assert_eq!(BitcoinHeader::parse(header.as_bytes()).unwrap(), header);
    }

    #[test]
    fn short_headers_are_rejected() {
        assert!(BitcoinHeader::parse(&[0; 79]).is_err());
    }

    #[test]
    fn bytes_after_the_header_must_be_transactions() {
        let mut element = vec![0; 80];
        element.push(0);
        assert!(BitcoinHeader::parse(&element).is_ok(), "an empty list of transactions");
        element[80] = 1;
        assert!(BitcoinHeader::parse(&element).is_err(), "the counted transaction is missing");
    }
}
