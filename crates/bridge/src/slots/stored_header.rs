//! Headers of the header store (docs/spec/bridge.md, 3.3.10).

use crate::display_order::display_hash;
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::{B256, U256};

/// Size of the chain work until RSKIP-454, bytes.
const OLD_WORK_SIZE: usize = 12;
/// Size of the chain work since RSKIP-454, bytes.
const WORK_SIZE: usize = 32;

/// A header with its height and chain work.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoredHeader {
    /// Work of the chain up to and including the header.
    pub(crate) work: U256,
    pub(crate) height: i32,
    pub(crate) header: BitcoinHeader,
}

impl StoredHeader {
    /// Block hash, display order.
    pub(crate) fn hash(&self) -> B256 {
        display_hash(self.header.hash())
    }

    /// The total size selects the form.
    pub(crate) fn decode(bytes: &[u8]) -> Option<StoredHeader> {
        let work_size = match bytes.len() {
            96 => OLD_WORK_SIZE,
            116 => WORK_SIZE,
            _ => return None,
        };
        let (work, rest) = bytes.split_at_checked(work_size)?;
        let (height, header) = rest.split_first_chunk()?;
        let header = BitcoinHeader::parse(header).ok()?;
        Some(StoredHeader { work: U256::from_be_slice(work), height: i32::from_be_bytes(*height), header })
    }

    /// Returns `None` if the work does not fit into the old form.
    pub(crate) fn encode(&self, has_long_work: bool) -> Option<Vec<u8>> {
        let work: [u8; WORK_SIZE] = self.work.to_be_bytes();
        let digits = match has_long_work {
            true => work.as_slice(),
            false => {
                let (excess, digits) = work.split_at(WORK_SIZE - OLD_WORK_SIZE);
                if excess.iter().any(|byte| *byte != 0) {
                    return None;
                }
                digits
            }
        };
        Some([digits, &self.height.to_be_bytes(), self.header.as_bytes()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_survive_a_round_trip() {
        let header = BitcoinHeader::new(1, [2; 32], [3; 32], 4, 0x207f_ffff, 5);
        let mut header = StoredHeader { work: U256::from(6), height: 7, header };
        for has_long_work in [false, true] {
            let encoded = header.encode(has_long_work).unwrap();
            assert!(StoredHeader::decode(&encoded) == Some(header.clone()));
            assert!(StoredHeader::decode(&encoded[1..]).is_none());
        }
        header.work = U256::from(1) << 96;
        assert!(header.encode(false).is_none() && header.encode(true).is_some());
    }
}
