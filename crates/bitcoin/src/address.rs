//! Bitcoin addresses in Base58Check: the hash of a public key (P2PKH) or of a redeem script (P2SH) with a version byte.

use crate::base58check;

/// An address, of any network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitcoinAddress {
    /// Network and kind of the address.
    pub version: u8,
    /// Hash of the key or of the script.
    pub hash: [u8; 20],
}

impl BitcoinAddress {
    /// The address in Base58Check.
    pub fn to_text(&self) -> String {
        base58check::encode(&[&[self.version][..], &self.hash].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_text() {
        let hash = [7; 20];
        let address = BitcoinAddress { version: 111, hash };
        let payload = base58check::decode(address.to_text().as_bytes());
        assert_eq!(payload, Some([&[111][..], &hash].concat()));
    }
}
