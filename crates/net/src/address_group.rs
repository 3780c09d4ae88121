//! Groups of addresses that likely have one owner.

use std::net::IpAddr;

/// First bits of an address, the others zero. IPv4 addresses inside IPv6 count as IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AddressGroup(IpAddr);

impl AddressGroup {
    /// Returns the IPv4 /24 or IPv6 /48.
    pub(crate) fn small(address: IpAddr) -> AddressGroup {
        AddressGroup::of(address, 24, 48)
    }

    /// Returns the IPv4 /16 or IPv6 /32.
    pub(crate) fn large(address: IpAddr) -> AddressGroup {
        AddressGroup::of(address, 16, 32)
    }

    fn of(address: IpAddr, v4_bits: u32, v6_bits: u32) -> AddressGroup {
        AddressGroup(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4((address.to_bits() & !(u32::MAX >> v4_bits)).into()),
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !(u128::MAX >> v6_bits)).into()),
        })
    }
}

/// Whether an address cannot be reached over the internet: loopback, private, link-local, shared, documentation,
/// multicast and reserved ranges.
pub(crate) fn is_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_documentation()
                || v4.is_multicast()
                || first == 0
                || first >= 240
                || (first == 100 && second & 0xc0 == 64)
        }
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
                || v6.segments()[..2] == [0x2001, 0xdb8]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn groups_share_their_first_bits() {
        assert_eq!(AddressGroup::small(ip("203.0.113.7")), AddressGroup::small(ip("203.0.113.250")));
        assert_ne!(AddressGroup::small(ip("203.0.113.7")), AddressGroup::small(ip("203.0.114.7")));
        assert_eq!(AddressGroup::large(ip("203.0.113.7")), AddressGroup::large(ip("::ffff:203.0.114.7")));
        assert_eq!(AddressGroup::small(ip("2a00:1:2:3::1")), AddressGroup::small(ip("2a00:1:2:4::1")));
        assert_ne!(AddressGroup::small(ip("2a00:1:2::1")), AddressGroup::small(ip("2a00:1:3::1")));
    }

    #[test]
    fn local_addresses() {
        let local = ["127.0.0.1", "10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.1.1", "100.64.0.1", "0.0.0.0"];
        let more = ["224.0.0.1", "255.255.255.255", "::1", "::", "fc00::1", "fe80::1", "ff02::1", "::ffff:127.0.0.1"];
        for text in local.iter().chain(&more) {
            assert!(is_local(ip(text)), "{text}");
        }
        for text in ["8.8.8.8", "100.128.0.1", "2a00:1450::1", "::ffff:8.8.8.8"] {
            assert!(!is_local(ip(text)), "{text}");
        }
    }
}
