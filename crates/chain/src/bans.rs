//! Addresses from which peers are rejected. Stored on disk.

use crate::ChainError;
use parking_lot::Mutex;
use rhizome_storage::Store;
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

/// An address, or a block of addresses in the notation of RFC 4632: `203.0.113.0/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddressBlock {
    address: IpAddr,
    /// Leading bits that all addresses of the block share. `None` for a single address.
    bits: Option<u8>,
}

/// The text is not an address, or is a host name, an address of this machine, or an invalid mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an address or a block of addresses")]
pub struct AddressBlockError;

impl FromStr for AddressBlock {
    type Err = AddressBlockError;

    fn from_str(text: &str) -> Result<Self, AddressBlockError> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u8>().map_err(|_malformed| AddressBlockError)?)),
            None => (text, None),
        };
        let address = address.trim().parse::<IpAddr>().map_err(|_malformed| AddressBlockError)?.to_canonical();
        let most = if address.is_ipv4() { 32 } else { 128 };
        let has_bits = bits.is_none_or(|bits| (1..=most).contains(&bits));
        if address.is_loopback() || address.is_unspecified() || !has_bits {
            return Err(AddressBlockError);
        }
        Ok(Self { address, bits })
    }
}

impl fmt::Display for AddressBlock {
    /// Writes IPv6 in full groups, like the reference.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            IpAddr::V4(address) => write!(formatter, "{address}")?,
            IpAddr::V6(address) => {
                for (index, group) in address.segments().iter().enumerate() {
                    write!(formatter, "{}{group:x}", if index == 0 { "" } else { ":" })?;
                }
            }
        }
        self.bits.map_or(Ok(()), |bits| write!(formatter, "/{bits}"))
    }
}

/// The list of banned addresses.
pub struct Bans {
    store: Arc<Store>,
    blocks: Mutex<BTreeSet<AddressBlock>>,
}

impl Bans {
    /// Reads the stored list. Skips lines that are not addresses.
    pub(crate) fn open(store: Arc<Store>) -> Result<Self, ChainError> {
        let blocks = store.bans()?.lines().filter_map(|line| line.parse().ok()).collect();
        Ok(Self { store, blocks: Mutex::new(blocks) })
    }

    /// Returns all banned addresses, IPv4 first.
    pub fn list(&self) -> Vec<AddressBlock> {
        self.blocks.lock().iter().copied().collect()
    }

    /// Bans an address. The ban is on disk when the call returns.
    pub fn add(&self, block: AddressBlock) -> Result<(), ChainError> {
        self.change(|blocks| blocks.insert(block))
    }

    /// Removes a ban, if present.
    pub fn remove(&self, block: &AddressBlock) -> Result<(), ChainError> {
        self.change(|blocks| blocks.remove(block))
    }

    /// Changes the list. It stays the same if it cannot be written.
    fn change(&self, change: impl FnOnce(&mut BTreeSet<AddressBlock>) -> bool) -> Result<(), ChainError> {
        let mut blocks = self.blocks.lock();
        let mut changed = blocks.clone();
        if change(&mut changed) {
            let lines: String = changed.iter().map(|block| format!("{block}\n")).collect();
            self.store.write_bans(&lines)?;
            *blocks = changed;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        text.parse::<AddressBlock>().ok().map(|block| block.to_string())
    }

    #[test]
    fn addresses_and_blocks() {
        assert_eq!(written("203.0.113.7"), Some("203.0.113.7".into()));
        assert_eq!(written("198.51.100.0/24"), Some("198.51.100.0/24".into()));
        assert_eq!(written("2001:db8::/64"), Some("2001:db8:0:0:0:0:0:0/64".into()));
        assert_eq!(written("::ffff:203.0.113.7"), Some("203.0.113.7".into()));
    }

    #[test]
    fn refusals() {
        let own = ["127.0.0.1", "127.9.9.9/8", "0.0.0.0", "::", "::1"];
        let malformed =
            ["", " ", "localhost", "203.0.113.5/99", "203.0.113.5/0", "2001:db8::/129", "1.2.3", "1.2.3.4/", "/8"];
        for text in own.iter().chain(&malformed) {
            assert_eq!(written(text), None, "{text}");
        }
    }

    #[test]
    fn the_list_survives_a_restart() {
        let identity = rhizome_storage::ChainIdentity { chain_id: 33, genesis: rhizome_primitives::B256::ZERO };
        let dir = tempfile::tempdir().unwrap();
        let options = rhizome_storage::StoreOptions::default();
        let first: AddressBlock = "203.0.113.7".parse().unwrap();
        let second: AddressBlock = "2001:db8::/64".parse().unwrap();
        {
            let bans = Bans::open(Arc::new(Store::open(dir.path(), &identity, &options).unwrap())).unwrap();
            assert!(bans.list().is_empty());
            for block in [first, second, first] {
                bans.add(block).unwrap();
            }
            assert_eq!(bans.list(), [first, second]);
        }
        let bans = Bans::open(Arc::new(Store::open(dir.path(), &identity, &options).unwrap())).unwrap();
        assert_eq!(bans.list(), [first, second]);
        bans.remove(&first).unwrap();
        bans.remove(&first).unwrap();
        assert_eq!(bans.list(), [second]);
    }
}
