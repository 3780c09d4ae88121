//! Public keys of Bitcoin and Rootstock: points of secp256k1.
//!
//! The reference reads the encodings compressed (02, 03), uncompressed (04) and hybrid (06, 07: uncompressed, with the parity
//! of y), and the single byte 00 as the point at infinity. libsecp256k1 reads the same, except infinity. Other libraries also
//! read the compact encoding (05), which would make a peg-in valid that the reference refuses.

use rhizome_primitives::{Address, keccak256};
use secp256k1::PublicKey;

/// A compressed public key. Infinity, which has no such form, is 33 zeros here: write keys with [`encoded`].
pub(crate) type CompressedKey = [u8; 33];

/// The encoding of the point at infinity.
pub(crate) const INFINITY: [u8; 1] = [0];
const INFINITE: CompressedKey = [0; 33];

/// Returns the point that an encoding stands for; `None` if it is malformed, infinity, or not on the curve.
pub(crate) fn point(encoded: &[u8]) -> Option<PublicKey> {
    PublicKey::from_slice(encoded).ok()
}

/// Returns the compressed form of an encoded point; `None` if it is no key.
pub(crate) fn compressed(encoded: &[u8]) -> Option<CompressedKey> {
    if encoded == INFINITY { Some(INFINITE) } else { Some(point(encoded)?.serialize()) }
}

/// Returns the bytes of a compressed key.
pub(crate) fn encoded(key: &CompressedKey) -> &[u8] {
    if *key == INFINITE { &INFINITY } else { key }
}

/// Returns the key that [`encoded`] wrote.
pub(crate) fn stored(encoded: &[u8]) -> Option<CompressedKey> {
    if encoded == INFINITY { Some(INFINITE) } else { encoded.try_into().ok() }
}

/// Returns true if the reference accepts an encoding as a key: infinity included.
pub(crate) fn is_key(encoded: &[u8]) -> bool {
    encoded == INFINITY || point(encoded).is_some()
}

/// Returns the RSK account of a point; `None` stands for infinity.
pub(crate) fn account(point: Option<&PublicKey>) -> Address {
    let encoded = point.map(PublicKey::serialize_uncompressed);
    let coordinates = encoded.as_ref().map_or(&[][..], |[_form, coordinates @ ..]| coordinates);
    Address::from_word(keccak256(coordinates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::{address, hex};

    const KEY: CompressedKey = hex!("0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124");

    /// Returns both coordinates of `KEY` behind a first byte.
    fn with_form(form: u8) -> Vec<u8> {
        [&[form], &point(&KEY).unwrap().serialize_uncompressed()[1..]].concat()
    }

    #[test]
    fn all_encodings_of_a_point_have_one_compressed_form_and_one_account() {
        for encoded in [KEY.to_vec(), with_form(4), with_form(7)] {
            let point = point(&encoded).unwrap();
            assert_eq!(account(Some(&point)), address!("85845342b0d5260d516d6da5280a7df9a96d1925"));
            assert_eq!(compressed(&encoded), Some(KEY));
            assert!(is_key(&encoded));
        }
    }

    #[test]
    fn other_bytes_are_no_point() {
        let with_x = |form: u8| [&[form], &KEY[1..]].concat();
        let mut wrong_y = with_form(4);
        wrong_y[64] ^= 1;
        // The x of the first one is the prime of the field plus 1, and no point has the x 5.
        let large = hex!("02fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30").to_vec();
        let off_curve = [&[2][..], &[0; 31], &[5]].concat();
        let lengths =
            [vec![], vec![2], vec![0; 2], vec![2; 32], with_form(4)[..64].to_vec(), [&KEY[..], &[0]].concat()];
        let forms = [0, 1, 4, 5, 6, 7, 8, 0x82].map(with_x);
        let long_forms = [0, 1, 2, 3, 5, 6, 8, 0x84].map(with_form);
        for other in forms.into_iter().chain(long_forms).chain(lengths).chain([wrong_y, large, off_curve]) {
            assert!(!is_key(&other), "{other:?}");
            assert_eq!(compressed(&other), None);
        }
    }

    #[test]
    fn infinity_is_a_key_without_a_point() {
        assert!(is_key(&INFINITY));
        assert_eq!(point(&INFINITY), None);
        let key = compressed(&INFINITY).unwrap();
        assert_eq!((encoded(&key), stored(&INFINITY), point(&key)), (&INFINITY[..], Some(key), None));
        assert_eq!(account(None), address!("dcc703c0e500b653ca82273b7bfad8045d85a470"));
    }
}
