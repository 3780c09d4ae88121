//! RSK addresses of public keys.
//!
//! Each transaction of a federator needs the addresses of all members. A look-up replaces the decompression of a point,
//! about 10 microseconds for each of up to 20 members.

use crate::slots::pending_federation::PublicKey;
use k256::elliptic_curve::sec1::{FromEncodedPoint, ToEncodedPoint};
use k256::{AffinePoint, EncodedPoint};
use rhizome_primitives::{Address, keccak256};
use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

/// Maximum number of remembered addresses: those of dozens of federations.
const CAPACITY: usize = 1024;

static ADDRESSES: LazyLock<RwLock<HashMap<PublicKey, Option<Address>>>> = LazyLock::new(RwLock::default);

/// Returns the address of a compressed key; `None` if the key is not a point of the curve.
pub(crate) fn address_of(key: &PublicKey) -> Option<Address> {
    if let Some(known) = ADDRESSES.read().unwrap_or_else(PoisonError::into_inner).get(key) {
        return *known;
    }
    let address = compute(key);
    let mut addresses = ADDRESSES.write().unwrap_or_else(PoisonError::into_inner);
    if addresses.len() >= CAPACITY {
        addresses.clear();
    }
    addresses.insert(*key, address);
    address
}

fn compute(key: &PublicKey) -> Option<Address> {
    let encoded = EncodedPoint::from_bytes(key).ok()?;
    let point: AffinePoint = Option::from(AffinePoint::from_encoded_point(&encoded))?;
    let coordinates = point.to_encoded_point(false);
    let hash = keccak256(coordinates.as_bytes().get(1..)?);
    Some(Address::from_slice(&hash[12..]))
}
