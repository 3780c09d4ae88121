//! ECDSA signatures of Bitcoin transactions (docs/spec/bridge.md, 7.8).

use rhizome_bitcoin::Digest;
use secp256k1::{Message, PublicKey, SECP256K1, ecdsa::Signature};

/// Type byte after a signature of all inputs and outputs.
const ALL_INPUTS_AND_OUTPUTS: u8 = 1;
const SEQUENCE_TAG: u8 = 0x30;
const INTEGER_TAG: u8 = 2;
/// Maximum number of bytes of a length in the long form.
const MAXIMUM_LENGTH_SIZE: usize = 4;

/// A signature as given: two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitcoinSignature {
    /// `r` and `s`; `None` if one of them is no number below the order of the curve.
    numbers: Option<Signature>,
}

impl BitcoinSignature {
    /// Reads an ASN.1 sequence that begins with two integers. Lengths may have any definite form, a negative integer counts as
    /// unsigned, and other elements and bytes after the sequence are ignored. `None` if it is malformed.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (sequence, _rest) = element(bytes, SEQUENCE_TAG)?;
        let (r, rest) = element(sequence, INTEGER_TAG)?;
        let (s, _rest) = element(rest, INTEGER_TAG)?;
        let (r, s) = (integer(r)?, integer(s)?);
        let numbers = r.and_then(|r| {
            let compact = [r, s?].concat();
            Signature::from_compact(&compact).ok()
        });
        Some(Self { numbers })
    }

    /// Returns true if the key made the signature of the hash, and `s` is at most half the order of the curve.
    pub(crate) fn is_made_by(&self, key: &PublicKey, hash: &Digest) -> bool {
        let verify = |signature| SECP256K1.verify_ecdsa(Message::from_digest(*hash), signature, key);
        self.numbers.as_ref().is_some_and(|signature| verify(signature).is_ok())
    }

    /// Returns the shortest DER form, with the type byte; `None` for numbers that are no signature.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = self.numbers?.serialize_der().to_vec();
        bytes.push(ALL_INPUTS_AND_OUTPUTS);
        Some(bytes)
    }
}

/// Returns the content of the first element and the bytes after it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    if *first != tag {
        return None;
    }
    if *length < 0x80 {
        return rest.split_at_checked(usize::from(*length));
    }
    let size = usize::from(*length & 0x7f);
    if !(1..=MAXIMUM_LENGTH_SIZE).contains(&size) {
        return None;
    }
    let (length, rest) = rest.split_at_checked(size)?;
    let length = length.iter().fold(0_u64, |length, byte| length << 8 | u64::from(*byte));
    rest.split_at_checked(usize::try_from(length).ok()?)
}

/// Returns an integer as 32 bytes: `Some(None)` if it is larger, `None` if its form is not the shortest.
fn integer(bytes: &[u8]) -> Option<Option<[u8; 32]>> {
    if let [first, second, ..] = bytes {
        let is_padded = matches!((first, second & 0x80), (0, 0) | (0xff, 0x80));
        if is_padded {
            return None;
        }
    }
    let digits = bytes.strip_prefix(&[0]).unwrap_or(bytes);
    let mut padded = [0; 32];
    let Some(start) = padded.len().checked_sub(digits.len()) else { return Some(None) };
    padded.split_at_mut(start).1.copy_from_slice(digits);
    Some(Some(padded))
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
