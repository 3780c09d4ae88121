//! ECDSA signatures over secp256k1.

use crate::digest::Digest;
use secp256k1::ecdsa::Signature;
use secp256k1::{Message, PublicKey};

/// Returns true if a key has signed a hash. `r` and `s`: the numbers of the signature, big-endian; a high S is accepted.
/// `key`: in any encoding of a point.
pub fn is_signed_by(hash: Digest, r: &[u8; 32], s: &[u8; 32], key: &[u8]) -> bool {
    let compact: Vec<u8> = [&r[..], s].concat();
    let (Ok(mut signature), Ok(key)) = (Signature::from_compact(&compact), PublicKey::from_slice(key)) else {
        return false;
    };
    signature.normalize_s();
    signature.verify(Message::from_digest(hash), &key).is_ok()
}

/// Returns a number of at most 32 significant bytes as 32 bytes, big-endian.
pub fn scalar(bytes: &[u8]) -> Option<[u8; 32]> {
    let significant =
        bytes.iter().position(|byte| *byte != 0).map_or(&[][..], |first| bytes.get(first..).unwrap_or_default());
    let mut scalar = [0; 32];
    let start = scalar.len().checked_sub(significant.len())?;
    scalar.get_mut(start..)?.copy_from_slice(significant);
    Some(scalar)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secp256k1::SecretKey;

    #[test]
    fn signatures_belong_to_one_key_and_hash() {
        let secret = SecretKey::from_byte_array([7; 32]).unwrap();
        let key = PublicKey::from_secret_key_global(&secret);
        let signature = secp256k1::global::SECP256K1.sign_ecdsa(Message::from_digest([9; 32]), &secret);
        let compact = signature.serialize_compact();
        let (r, s) = (scalar(&compact[..32]).unwrap(), scalar(&compact[32..]).unwrap());
        assert!(is_signed_by([9; 32], &r, &s, &key.serialize()));
        assert!(is_signed_by([9; 32], &r, &s, &key.serialize_uncompressed()));
        assert!(!is_signed_by([8; 32], &r, &s, &key.serialize()));
        assert!(!is_signed_by([9; 32], &[0; 32], &s, &key.serialize()));
        assert!(!is_signed_by([9; 32], &r, &s, &[2; 33]));
    }

    #[test]
    fn scalars_have_at_most_32_significant_bytes() {
        assert_eq!(scalar(&[0; 40]), Some([0; 32]));
        assert_eq!(scalar(&[1; 33]), None);
        assert_eq!(scalar(&[5]).map(|scalar| scalar[31]), Some(5));
    }
}
