//! Addresses of nodes.

use proptest::prelude::*;
use rhizome_wire::session::{Enode, EnodeError, HostPort, NodeId};

fn url(address: &str) -> String {
    format!("enode://{}@{address}", "ab".repeat(64))
}

#[test]
fn valid_addresses_parse_and_print() {
    for (address, host, port) in [
        ("127.0.0.1:50501", "127.0.0.1", 50_501),
        ("bootstrap01.rsk.co:5050", "bootstrap01.rsk.co", 5_050),
        ("[::1]:65535", "::1", 65_535),
        ("[fe80::1%eth0]:1", "fe80::1%eth0", 1),
    ] {
        let enode: Enode = url(address).parse().unwrap();
        assert_eq!(enode, Enode { id: NodeId([0xab; 64]), address: HostPort { host: host.to_owned(), port } });
        assert_eq!(enode.to_string(), url(address));
    }
}

#[test]
fn invalid_addresses_are_refused() {
    for (text, expected) in [
        (String::new(), EnodeError::Scheme),
        ("http://host:1".to_owned(), EnodeError::Scheme),
        ("enode://host:1".to_owned(), EnodeError::Id),
        (format!("enode://{}@host:1", "ab".repeat(63)), EnodeError::Id),
        (format!("enode://{}@host:1", "zz".repeat(64)), EnodeError::Id),
        (url("host"), EnodeError::Port),
        (url("host:"), EnodeError::Port),
        (url("host:0"), EnodeError::Port),
        (url("host:+1"), EnodeError::Port),
        (url("host:65536"), EnodeError::Port),
        (url("host:1?discport=2"), EnodeError::Port),
        (url(":1"), EnodeError::Host),
        (url("::1:1"), EnodeError::Host),
        (url("[host]:1"), EnodeError::Host),
        (url("[::1:1"), EnodeError::Host),
        (url("a b:1"), EnodeError::Host),
        (url("a@b:1"), EnodeError::Host),
    ] {
        assert_eq!(text.parse::<Enode>(), Err(expected), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_panic(text in ".{0,60}", tail in "[a-z0-9:@?\\[\\]%./-]{0,40}") {
        for text in [text, url(&tail)] {
            if let Ok(enode) = text.parse::<Enode>() {
                prop_assert_eq!(enode.to_string().parse::<Enode>(), Ok(enode));
            }
        }
        let _ = tail.parse::<HostPort>();
    }
}
