//! Addresses and nodes that are refused until the operator or the end of the ban admits them. Stored on disk.

use parking_lot::Mutex;
use rhizome_chain::{Chain, ChainError};
use rhizome_wire::session::NodeId;
use std::collections::BTreeMap;
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

impl AddressBlock {
    /// Returns the block of a single address.
    pub fn single(address: IpAddr) -> AddressBlock {
        AddressBlock { address: address.to_canonical(), bits: None }
    }

    /// Whether an address is in the block.
    pub fn contains(&self, address: IpAddr) -> bool {
        let is_same = |own: u128, other: u128, length: u32| {
            let bits = self.bits.map_or(length, u32::from);
            // A mask of no bits contains every address.
            (own ^ other).checked_shr(length - bits).unwrap_or_default() == 0
        };
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => is_same(own.to_bits().into(), other.to_bits().into(), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => is_same(own.to_bits(), other.to_bits(), 128),
            _ => false,
        }
    }
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

/// Subject of a ban.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BanTarget {
    /// All nodes of a block of addresses.
    Addresses(AddressBlock),
    /// One node, wherever it is.
    Node(NodeId),
}

impl FromStr for BanTarget {
    type Err = AddressBlockError;

    /// Parses 128 hex digits as a node id, anything else as addresses.
    fn from_str(text: &str) -> Result<Self, AddressBlockError> {
        match text.parse() {
            Ok(id) => Ok(BanTarget::Node(id)),
            Err(_) => text.parse().map(BanTarget::Addresses),
        }
    }
}

impl fmt::Display for BanTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BanTarget::Addresses(block) => block.fmt(formatter),
            BanTarget::Node(id) => id.fmt(formatter),
        }
    }
}

/// Place where bans outlive the process.
pub trait BanStore: Send + Sync {
    /// Returns the stored lines, empty if there are none.
    fn read(&self) -> Result<String, ChainError>;
    /// Replaces the lines. They are on disk when the call returns.
    fn write(&self, lines: &str) -> Result<(), ChainError>;
}

impl BanStore for Chain {
    fn read(&self) -> Result<String, ChainError> {
        self.ban_lines()
    }

    fn write(&self, lines: &str) -> Result<(), ChainError> {
        self.write_ban_lines(lines)
    }
}

/// The list of bans. Times are seconds since 1970.
pub struct Bans {
    store: Arc<dyn BanStore>,
    /// End of each ban, `None` if it has none.
    ends: Mutex<BTreeMap<BanTarget, Option<u64>>>,
}

impl Bans {
    /// Reads the stored list. Skips lines that are not bans.
    pub fn open(store: Arc<dyn BanStore>) -> Result<Self, ChainError> {
        let ends = store.read()?.lines().filter_map(parse_line).collect();
        Ok(Self { store, ends: Mutex::new(ends) })
    }

    /// Returns all bans that have not ended: addresses first, IPv4 before IPv6.
    pub fn list(&self, now: u64) -> Vec<(BanTarget, Option<u64>)> {
        self.ends.lock().iter().filter(|(_, end)| is_on(**end, now)).map(|(target, end)| (*target, *end)).collect()
    }

    /// Whether an address is banned.
    pub fn has_address(&self, address: IpAddr, now: u64) -> bool {
        self.ends.lock().iter().any(|(target, end)| match target {
            BanTarget::Addresses(block) => is_on(*end, now) && block.contains(address),
            BanTarget::Node(_) => false,
        })
    }

    /// Whether a node is banned by its id.
    pub fn has_node(&self, id: &NodeId, now: u64) -> bool {
        self.ends.lock().get(&BanTarget::Node(*id)).is_some_and(|end| is_on(*end, now))
    }

    /// Bans until a time, or without end. The ban is on disk when the call returns.
    pub fn add(&self, target: BanTarget, end: Option<u64>) -> Result<(), ChainError> {
        self.change(|ends| ends.insert(target, end) != Some(end))
    }

    /// Removes a ban, if present.
    pub fn remove(&self, target: &BanTarget) -> Result<(), ChainError> {
        self.change(|ends| ends.remove(target).is_some())
    }

    /// Changes the list. It stays the same if it cannot be written.
    fn change(&self, change: impl FnOnce(&mut BTreeMap<BanTarget, Option<u64>>) -> bool) -> Result<(), ChainError> {
        let mut ends = self.ends.lock();
        let mut changed = ends.clone();
        if change(&mut changed) {
            let line = |(target, end): (&BanTarget, &Option<u64>)| match end {
                Some(end) => format!("{target} {end}\n"),
                None => format!("{target}\n"),
            };
            self.store.write(&changed.iter().map(line).collect::<String>())?;
            *ends = changed;
        }
        Ok(())
    }
}

fn is_on(end: Option<u64>, now: u64) -> bool {
    end.is_none_or(|end| now < end)
}

/// Parses a target with an optional end: `203.0.113.0/24 1795400000`.
fn parse_line(line: &str) -> Option<(BanTarget, Option<u64>)> {
    match line.split_once(' ') {
        Some((target, end)) => Some((target.parse().ok()?, Some(end.parse().ok()?))),
        None => Some((line.parse().ok()?, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_wire::session::NodeKey;

    #[derive(Default)]
    struct BansInMemory(Mutex<String>);

    impl BanStore for BansInMemory {
        fn read(&self) -> Result<String, ChainError> {
            Ok(self.0.lock().clone())
        }

        fn write(&self, lines: &str) -> Result<(), ChainError> {
            *self.0.lock() = lines.to_owned();
            Ok(())
        }
    }

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
        let store = Arc::new(BansInMemory::default());
        let first: BanTarget = "203.0.113.7".parse().unwrap();
        let second: BanTarget = "2001:db8::/64".parse().unwrap();
        let node = BanTarget::Node(NodeKey::from_bytes([1; 32]).unwrap().id());
        let bans = Bans::open(store.clone()).unwrap();
        for (target, end) in [(first, None), (second, Some(100)), (node, None), (first, None)] {
            bans.add(target, end).unwrap();
        }
        let bans = Bans::open(store.clone()).unwrap();
        assert_eq!(bans.list(99), [(first, None), (second, Some(100)), (node, None)]);
        assert_eq!(bans.list(100), [(first, None), (node, None)]);
        assert!(bans.has_address("2001:db8::7".parse().unwrap(), 99));
        assert!(!bans.has_address("2001:db8::7".parse().unwrap(), 100));
        assert!(bans.has_address("::ffff:203.0.113.7".parse().unwrap(), 0));
        bans.remove(&first).unwrap();
        bans.remove(&first).unwrap();
        assert_eq!(Bans::open(store).unwrap().list(100), [(node, None)]);
    }
}
