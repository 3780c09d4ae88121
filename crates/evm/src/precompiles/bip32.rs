//! Extended public keys of BIP-32: Base58Check text, and public derivation.

use super::padding::padded;
use hmac::{Hmac, Mac};
use k256::elliptic_curve::PrimeField;
use k256::elliptic_curve::group::Group;
use k256::elliptic_curve::sec1::{FromEncodedPoint, ToEncodedPoint};
use k256::{AffinePoint, EncodedPoint, FieldBytes, ProjectivePoint, Scalar};
use rhizome_bitcoin::{base58check, hash160};
use sha2::Sha512;

const PAYLOAD_LENGTH: usize = 78;
/// Largest number of Base58 digits of 82 bytes whose first byte is not zero.
const TEXT_LIMIT: usize = 112;
const MAIN_VERSION: u32 = 0x0488_b21e;
const TEST_VERSION: u32 = 0x0435_87cf;

/// An extended public key whose point is on the curve.
#[derive(Clone)]
pub(super) struct ExtendedKey {
    version: u32,
    depth: u8,
    parent_fingerprint: [u8; 4],
    child_number: u32,
    chain_code: [u8; 32],
    point: AffinePoint,
}

impl ExtendedKey {
    /// Parses `xpub…` or `tpub…`. The version bytes must match the prefix.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let version = match text.first_chunk::<4>()? {
            b"xpub" => MAIN_VERSION,
            b"tpub" => TEST_VERSION,
            _ => return None,
        };
        if text.len() > TEXT_LIMIT {
            return None;
        }
        let payload = base58check::decode(text)?;
        if payload.len() != PAYLOAD_LENGTH || padded(&payload, 0) != version.to_be_bytes() {
            return None;
        }
        Some(Self {
            version,
            depth: *payload.get(4)?,
            parent_fingerprint: padded(&payload, 5),
            child_number: u32::from_be_bytes(padded(&payload, 9)),
            chain_code: padded(&payload, 13),
            point: read_compressed(&padded(&payload, 45))?,
        })
    }

    /// Derives a child without hardening. Returns `None` in the cases that BIP-32 calls invalid.
    pub(super) fn child(&self, number: u32) -> Option<Self> {
        let key = self.public_key();
        let mut mac = Hmac::<Sha512>::new_from_slice(&self.chain_code).ok()?;
        mac.update(&key);
        mac.update(&number.to_be_bytes());
        let digest = mac.finalize().into_bytes();
        let tweak = Option::<Scalar>::from(Scalar::from_repr(FieldBytes::from(padded::<32>(&digest, 0))))?;
        let point = ProjectivePoint::GENERATOR * tweak + ProjectivePoint::from(self.point);
        if bool::from(point.is_identity()) {
            return None;
        }
        Some(Self {
            version: self.version,
            depth: self.depth.wrapping_add(1),
            parent_fingerprint: padded(&hash160(&key), 0),
            child_number: number,
            chain_code: padded(&digest, 32),
            point: point.to_affine(),
        })
    }

    pub(super) fn public_key(&self) -> [u8; 33] {
        compress(&self.point)
    }

    pub(super) fn to_text(&self) -> String {
        let mut payload = Vec::with_capacity(PAYLOAD_LENGTH);
        payload.extend(self.version.to_be_bytes());
        payload.push(self.depth);
        payload.extend(self.parent_fingerprint);
        payload.extend(self.child_number.to_be_bytes());
        payload.extend(self.chain_code);
        payload.extend(self.public_key());
        base58check::encode(&payload)
    }
}

/// Reads a point from 33 bytes (tag 2 or 3).
pub(super) fn read_compressed(bytes: &[u8; 33]) -> Option<AffinePoint> {
    if !matches!(bytes.first()?, 2 | 3) {
        return None;
    }
    Option::from(AffinePoint::from_encoded_point(&EncodedPoint::from_bytes(bytes).ok()?))
}

pub(super) fn compress(point: &AffinePoint) -> [u8; 33] {
    padded(point.to_encoded_point(true).as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Test vector 2 of BIP-32: master key and its child 0.
    const MASTER: &str = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB";
    const CHILD: &str = "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH";

    #[test]
    fn derives_the_published_child() {
        let master = ExtendedKey::parse(MASTER.as_bytes()).unwrap();
        assert_eq!(master.to_text(), MASTER);
        assert_eq!(master.child(0).unwrap().to_text(), CHILD);
    }

    #[test]
    fn rejects_other_texts() {
        let broken = MASTER.replace("duB", "duC");
        for text in ["", "xpub", "xprv", &MASTER[..110], broken.as_str(), &"x".repeat(5000)] {
            assert!(ExtendedKey::parse(text.as_bytes()).is_none(), "{text}");
        }
        assert!(ExtendedKey::parse(format!("xpub{}", "1".repeat(200_000)).as_bytes()).is_none());
    }
}
