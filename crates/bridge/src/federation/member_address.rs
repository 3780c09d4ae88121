//! RSK addresses of public keys.
//!
//! Each transaction of a federator needs the addresses of all members. A look-up replaces the decompression of a point,
//! about 10 microseconds for each of up to 20 members.

use crate::public_key::{self, CompressedKey};
use rhizome_primitives::Address;
use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

/// Maximum number of remembered addresses: those of dozens of federations.
const CAPACITY: usize = 1024;

static ADDRESSES: LazyLock<RwLock<HashMap<CompressedKey, Option<Address>>>> = LazyLock::new(RwLock::default);

/// Returns the address of a compressed key; `None` if the key is not a point.
pub(crate) fn address_of(key: &CompressedKey) -> Option<Address> {
    if let Some(known) = ADDRESSES.read().unwrap_or_else(PoisonError::into_inner).get(key) {
        return *known;
    }
    let address = match public_key::encoded(key) {
        encoded if encoded == public_key::INFINITY => Some(public_key::account(None)),
        encoded => public_key::point(encoded).map(|point| public_key::account(Some(&point))),
    };
    let mut addresses = ADDRESSES.write().unwrap_or_else(PoisonError::into_inner);
    if addresses.len() >= CAPACITY {
        addresses.clear();
    }
    addresses.insert(*key, address);
    address
}
