//! Base58Check: a payload and the first four bytes of its double SHA-256, in Bitcoin's base 58.

use crate::sha256d;

const ALPHABET: [u8; 58] = *b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// Number of digits whose value fits into 64 bits.
const DIGITS_PER_STEP: usize = 10;

/// Returns the text of `payload`, version bytes included.
pub fn encode(payload: &[u8]) -> String {
    bs58::encode(payload).with_check().into_string()
}

/// Returns the payload of `text`, version bytes included; `None` if a character or the checksum is wrong.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    decode_while(text, &|| true)
}

/// Like [`decode`]; returns `None`, too, once `may_continue` returns false. Takes time that grows with the square of the
/// length: about a second for 500,000 characters.
pub fn decode_while(text: &[u8], may_continue: &dyn Fn() -> bool) -> Option<Vec<u8>> {
    let digit = |character: &u8| ALPHABET.iter().position(|other| other == character).map(|digit| digit as u64);
    let digits = text.iter().map(digit).collect::<Option<Vec<_>>>()?;
    // The least significant limb comes first.
    let mut limbs: Vec<u64> = Vec::new();
    for step in digits.chunks(DIGITS_PER_STEP) {
        if !may_continue() {
            return None;
        }
        let (mut carry, mut factor) = (0_u64, 1_u64);
        for digit in step {
            carry = carry * 58 + digit;
            factor *= 58;
        }
        for limb in &mut limbs {
            let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
            (*limb, carry) = (product as u64, (product >> 64) as u64);
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    // Each leading digit zero is a byte.
    let mut bytes: Vec<u8> = digits.iter().take_while(|digit| **digit == 0).map(|_| 0).collect();
    bytes.extend(limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).skip_while(|byte| *byte == 0));
    let (payload, checksum) = bytes.split_last_chunk::<4>()?;
    sha256d(payload).starts_with(checksum).then(|| payload.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_of_every_length_survive_a_round_trip() {
        for length in (0..60).chain([1000]) {
            for zeros in [0, 1, length / 2, length] {
                let zeros = zeros.min(length);
                let payload: Vec<u8> = (0..length).map(|i| if i < zeros { 0 } else { 37 * i as u8 + 1 }).collect();
                assert_eq!(decode(encode(&payload).as_bytes()), Some(payload));
            }
        }
        assert_eq!(decode(b"3QJmnh"), Some(vec![]));
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in ["", "1", "11111", "3QJmni", "notanaddress", "0OIl", "\u{e9}"] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
        assert_eq!(decode_while(b"3QJmnh", &|| false), None);
    }
}
