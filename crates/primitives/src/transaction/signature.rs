//! Signatures of transactions: chain id in v, acceptance, recovery of the sender (docs/spec/blocks.md, 2.2 to 2.5).

use super::ecdsa::{FIELD, ORDER, RecoveryInput};
use crate::error::{DecodeError, SignatureError};
use crate::rlp;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256, uint};
use k256::ecdsa::SigningKey;
use k256::elliptic_curve::ops::{LinearCombination, Reduce};
use k256::elliptic_curve::point::DecompressPoint;
use k256::elliptic_curve::sec1::ToEncodedPoint;
use k256::{AffinePoint, FieldBytes, ProjectivePoint, Scalar};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, SECP256K1};

/// floor(order / 2); s must be below it, while most libraries also accept this value.
const HALF_ORDER: U256 = uint!(0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0_U256);

/// Chain id, recovery value, and r and s as numbers of any length without leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) chain_id: i8,
    /// 27 or 28.
    pub(super) recovery: u8,
    pub(super) r: Bytes,
    pub(super) s: Bytes,
}

impl Signature {
    /// Creates the signature from the elements of a transaction. Any byte is a valid v.
    pub(super) fn from_elements(v: u8, r: &[u8], s: &[u8]) -> Result<Signature, DecodeError> {
        if r.is_empty() {
            return Err(DecodeError::Missing("r"));
        }
        if s.is_empty() {
            return Err(DecodeError::Missing("s"));
        }
        let (chain_id, recovery) = match v {
            27 | 28 => (0, v),
            // Truncates toward zero; the result is between -17 and 110 and fits.
            _ => (((i16::from(v) - 35) / 2) as i8, if v.is_multiple_of(2) { 28 } else { 27 }),
        };
        let number = |bytes| Bytes::copy_from_slice(rlp::strip_zeros(bytes));
        Ok(Signature { chain_id, recovery, r: number(r), s: number(s) })
    }

    /// Signs a hash; s is in the lower half.
    pub(super) fn sign(message: &B256, chain_id: i8, key: &B256) -> Result<Signature, SignatureError> {
        let key = SigningKey::from_slice(key.as_slice()).map_err(|_not_a_scalar| SignatureError::InvalidKey)?;
        let signed = key.sign_prehash_recoverable(message.as_slice());
        let (signature, recovery) = signed.map_err(|_failed| SignatureError::NoKey)?;
        let (r, s) = signature.split_bytes();
        let number = |bytes: FieldBytes| Bytes::copy_from_slice(rlp::strip_zeros(&bytes));
        Ok(Signature { chain_id, recovery: 27 + recovery.to_byte(), r: number(r), s: number(s) })
    }

    /// Returns the byte v, modulo 256.
    pub(super) fn encoded_v(&self) -> u8 {
        match self.chain_id {
            0 => self.recovery,
            chain_id => (self.recovery - 27).wrapping_add(35).wrapping_add((chain_id as u8).wrapping_mul(2)),
        }
    }

    /// Writes v, r and s.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        rlp::put_byte(out, self.encoded_v());
        rlp::put_unsigned(out, &self.r);
        rlp::put_unsigned(out, &self.s);
    }

    /// Returns true if 1 ≤ r < order and 1 ≤ s < floor(order / 2).
    pub(super) fn is_acceptable(&self) -> bool {
        let (r, s) = (rlp::saturating_u256(&self.r), rlp::saturating_u256(&self.s));
        !r.is_zero() && r < ORDER && !s.is_zero() && s < HALF_ORDER
    }

    /// Recovers the address of the signer of a hash. s can be any number, r any field element.
    pub(super) fn recover(&self, message: &B256) -> Result<Address, SignatureError> {
        let r = self.field_r()?;
        let found = self.recover_with_libsecp256k1(&r, message).or_else(|| {
            let key = self.recover_unrestricted(&r, message)?;
            Some(address_of(key.to_encoded_point(false).as_bytes()))
        });
        found.ok_or(SignatureError::NoKey)
    }

    /// Returns the input for batch recovery, if r and s are between 1 and the order.
    pub(super) fn recovery_input(&self, message: &B256) -> Option<RecoveryInput> {
        let half = |digits| U256::try_from_be_slice(digits).filter(|half| !half.is_zero() && *half < ORDER);
        Some(RecoveryInput { message: *message, r: half(&self.r)?, s: half(&self.s)?, is_y_odd: self.recovery == 28 })
    }

    /// Recovers the compressed public key of the signer of a hash; a single 0 for infinity.
    pub(super) fn recover_key(&self, message: &B256) -> Result<Vec<u8>, SignatureError> {
        let key = self.recover_unrestricted(&self.field_r()?, message).ok_or(SignatureError::NoKey)?;
        Ok(key.to_encoded_point(true).as_bytes().to_vec())
    }

    fn field_r(&self) -> Result<U256, SignatureError> {
        U256::try_from_be_slice(&self.r).filter(|r| *r < FIELD).ok_or(SignatureError::OutOfField)
    }

    /// Recovers with libsecp256k1, which is fast but accepts r and s only between 1 and the order.
    fn recover_with_libsecp256k1(&self, r: &U256, message: &B256) -> Option<Address> {
        let s = U256::try_from_be_slice(&self.s)?;
        let mut halves = [0; 64];
        halves[..32].copy_from_slice(&r.to_be_bytes::<32>());
        halves[32..].copy_from_slice(&s.to_be_bytes::<32>());
        let id = if self.recovery == 28 { RecoveryId::One } else { RecoveryId::Zero };
        let signature = RecoverableSignature::from_compact(&halves, id).ok()?;
        let key = SECP256K1.recover_ecdsa(Message::from_digest(message.0), &signature).ok()?;
        Some(address_of(&key.serialize_uncompressed()))
    }

    /// Recovers for any r below the field prime and any s: key = r⁻¹·(s·R − z·G).
    fn recover_unrestricted(&self, r: &U256, message: &B256) -> Option<AffinePoint> {
        let r_bytes = FieldBytes::from(r.to_be_bytes::<32>());
        let is_y_odd = (self.recovery - 27).into();
        let point = Option::<AffinePoint>::from(AffinePoint::decompress(&r_bytes, is_y_odd))?;
        let r_inverse = Option::<Scalar>::from(reduced(&r_bytes).invert())?;
        let key = ProjectivePoint::lincomb(
            &ProjectivePoint::GENERATOR,
            &-(r_inverse * reduced(&FieldBytes::from(message.0))),
            &ProjectivePoint::from(point),
            &(r_inverse * reduced_number(&self.s)),
        );
        Some(key.to_affine())
    }
}

/// Returns the address of an uncompressed public key. The point at infinity has one, too: the reference hashes no
/// coordinates and accepts the sender.
fn address_of(key: &[u8]) -> Address {
    Address::from_word(keccak256(key.get(1..).unwrap_or_default()))
}

/// Reduces a number of any length modulo the order.
fn reduced_number(digits: &[u8]) -> Scalar {
    match U256::try_from_be_slice(digits) {
        Some(number) => reduced(&FieldBytes::from(number.to_be_bytes::<32>())),
        None => {
            digits.iter().fold(Scalar::ZERO, |sum, &digit| sum * Scalar::from(256u64) + Scalar::from(u64::from(digit)))
        }
    }
}

fn reduced(bytes: &FieldBytes) -> Scalar {
    <Scalar as Reduce<k256::U256>>::reduce_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_recoveries_agree() {
        for seed in 0..200u8 {
            let (message, key) = (keccak256([seed]), keccak256([seed, 1]));
            let signature = Signature::sign(&message, 33, &key).unwrap();
            let r = U256::from_be_slice(&signature.r);
            let address = signature.recover(&message).unwrap();
            assert_eq!(signature.recover_with_libsecp256k1(&r, &message), Some(address));
            let address_of_key = |key: AffinePoint| address_of(key.to_encoded_point(false).as_bytes());
            assert_eq!(signature.recover_unrestricted(&r, &message).map(address_of_key), Some(address));
            assert!(signature.recover_key(&message).unwrap()[0] < 4);
            // The other key that matches r and s.
            let other = Signature { recovery: 55 - signature.recovery, ..signature };
            let any = other.recover_unrestricted(&r, &message).map(address_of_key);
            assert_eq!(other.recover_with_libsecp256k1(&r, &message), any);
        }
    }

    #[test]
    fn v_encodes_recovery_value_and_chain_id() {
        let signature = |v| Signature::from_elements(v, &[1], &[1]).unwrap();
        for (v, chain_id, recovery, written) in [
            (27, 0, 27, 27),
            (34, 0, 28, 28),
            (35, 0, 27, 27),
            (29, -3, 27, 29),
            (26, -4, 28, 28),
            (0, -17, 28, 2),
            (102, 33, 28, 102),
            (255, 110, 27, 255),
        ] {
            let signature = signature(v);
            assert_eq!((signature.chain_id, signature.recovery, signature.encoded_v()), (chain_id, recovery, written));
        }
    }

    #[test]
    fn s_must_be_below_half_of_the_order() {
        let signature = |s: U256| Signature::from_elements(27, &[1], &s.to_be_bytes::<32>()).unwrap().is_acceptable();
        assert!(signature(HALF_ORDER - U256::ONE) && !signature(HALF_ORDER) && !signature(U256::ZERO));
        assert_eq!(HALF_ORDER, ORDER / U256::from(2));
    }
}
