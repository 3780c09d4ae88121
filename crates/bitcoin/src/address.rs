//! Bitcoin addresses in Base58Check: the hash of a public key (P2PKH) or of a redeem script (P2SH) with a version byte.

use crate::base58check;

/// Characters of the longest text that decodes to a version and a hash.
const MAX_LENGTH: usize = 50;

/// An address, of any network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitcoinAddress {
    /// Network and kind of the address.
    pub version: u8,
    /// Hash of the key or of the script.
    pub hash: [u8; 20],
}

impl BitcoinAddress {
    /// Reads an address; `None` if `text` is not 21 bytes in Base58Check.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let payload: [u8; 21] = base58check::decode(text)?.try_into().ok()?;
        let (version, hash) = payload.split_first()?;
        Some(Self { version: *version, hash: hash.try_into().ok()? })
    }

    /// The address in Base58Check.
    pub fn to_text(&self) -> String {
        base58check::encode(&[&[self.version][..], &self.hash].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT_ADDRESS: &str = "2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p";

    #[test]
    fn addresses_survive_a_round_trip() {
        let address = BitcoinAddress { version: 111, hash: [7; 20] };
        assert_eq!(BitcoinAddress::parse(address.to_text().as_bytes()), Some(address));
        let script = BitcoinAddress::parse(SCRIPT_ADDRESS.as_bytes()).unwrap();
        assert_eq!((script.version, script.hash[..4].to_vec()), (196, vec![0x89, 0x6e, 0xd9, 0xf3]));
        assert_eq!(script.to_text(), SCRIPT_ADDRESS);
    }

    #[test]
    fn other_texts_are_rejected() {
        let good = SCRIPT_ADDRESS;
        let texts =
            ["", "1", "notanaddress", "0OIl", &good[1..], &good.replace('2', "3"), "\u{e9}", &"1".repeat(100_000)];
        for text in texts {
            assert_eq!(BitcoinAddress::parse(text.as_bytes()), None, "{text:.60}");
        }
    }
}
