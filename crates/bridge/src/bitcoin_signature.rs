//! ECDSA signatures of Bitcoin transactions (docs/spec/bridge.md, 7.8).

use crate::asn1::leading_integers;
use rhizome_bitcoin::ecdsa::scalar;
use rhizome_bitcoin::{Digest, signature_hash};
use secp256k1::{Message, PublicKey, SECP256K1, ecdsa::Signature};

/// A signature as given: two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitcoinSignature {
    /// `r` and `s`; `None` if one of them is no number below the order of the curve.
    numbers: Option<Signature>,
}

impl BitcoinSignature {
    /// Reads an ASN.1 sequence that begins with two integers. A negative integer counts as unsigned. `None` if it is malformed.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let [r, s] = leading_integers(bytes)?;
        let compact = scalar(r).zip(scalar(s)).map(|(r, s)| [r, s].concat());
        Some(Self { numbers: compact.and_then(|compact| Signature::from_compact(&compact).ok()) })
    }

    /// Returns true if the key made the signature of the hash, and `s` is at most half the order of the curve.
    pub(crate) fn is_made_by(&self, key: &PublicKey, hash: &Digest) -> bool {
        let verify = |signature| SECP256K1.verify_ecdsa(Message::from_digest(*hash), signature, key);
        self.numbers.as_ref().is_some_and(|signature| verify(signature).is_ok())
    }

    /// Returns the shortest DER form, with the type byte; `None` for numbers that are no signature.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = self.numbers?.serialize_der().to_vec();
        bytes.push(signature_hash::ALL);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secp256k1::SecretKey;

    const HASH: Digest = [7; 32];

    fn signed() -> (PublicKey, Vec<u8>) {
        let secret = SecretKey::from_byte_array([1; 32]).unwrap();
        let signature = SECP256K1.sign_ecdsa(Message::from_digest(HASH), &secret);
        (secret.public_key(SECP256K1), signature.serialize_der().to_vec())
    }

    #[test]
    fn lenient_forms_are_read_and_written_in_the_shortest_form() {
        let (key, der) = signed();
        let content = &der[2..];
        let long = |size: &[u8]| [&[0x30, 0x80 | size.len() as u8][..], size, content].concat();
        let length = content.len() as u8;
        let more = [&[0x30, length + 3][..], content, &[2, 1, 5], &[9, 9]].concat();
        for form in [der.clone(), long(&[length]), long(&[0, 0, 0, length]), more] {
            let signature = BitcoinSignature::parse(&form).unwrap();
            assert!(signature.is_made_by(&key, &HASH) && !signature.is_made_by(&key, &[8; 32]));
            assert_eq!(signature.encode().unwrap(), [&der[..], &[1]].concat());
        }
    }

    #[test]
    fn malformed_signatures_are_recognized() {
        let (key, der) = signed();
        let padded = [&[0x30, 8, 2, 2, 0, 1, 2, 2, 0, 1][..]].concat();
        let endless = [&[0x30, 0x80][..], &der[2..], &[0, 0]].concat();
        for form in
            [&[][..], &[0x30], &[0x30, 0], &der[..der.len() - 1], &padded, &endless, &[0x31, 6, 2, 1, 1, 2, 1, 1]]
        {
            assert_eq!(BitcoinSignature::parse(form), None);
        }
        let huge = [&[0x30, 37, 2, 32][..], &[0x7f; 32], &[2, 1, 1]].concat();
        for form in [&[0x30, 4, 2, 0, 2, 0][..], &[0x30, 6, 2, 1, 0xff, 2, 1, 0xff], &huge] {
            assert!(!BitcoinSignature::parse(form).unwrap().is_made_by(&key, &HASH));
        }
    }
}
