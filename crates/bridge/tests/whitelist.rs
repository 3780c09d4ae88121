//! The whitelist with addresses of unusual sizes.

use crate::memory_host::{MemoryHost, regtest_call};
use rhizome_bitcoin::base58check;
use rhizome_bridge::{BlockIndex, CallFailure};
use rhizome_primitives::{Address, Bytes, I256, U256, address, hex};

const ADD: [u8; 4] = hex!("b906c938");
const REMOVE: [u8; 4] = hex!("fcdeb46f");
const AUTHORIZER: Address = address!("87d2a0f33744929da08b65fd62b627ea52b25f8e");
const STRANGER: Address = Address::repeat_byte(7);
const TESTNET_VERSION: u8 = 111;

fn call(host: &mut MemoryHost, caller: Address, selector: [u8; 4], text: &str) -> Option<i64> {
    let call = regtest_call(caller);
    let mut input = selector.to_vec();
    input.extend(U256::from(32).to_be_bytes::<32>());
    input.extend(U256::from(text.len()).to_be_bytes::<32>());
    input.extend(text.bytes());
    match rhizome_bridge::run(&input, &call, host, &mut Vec::new(), &mut BlockIndex::new()) {
        Ok(value) => value.map(|value: Bytes| I256::from_raw(U256::from_be_slice(&value)).try_into().unwrap()),
        Err(CallFailure::Rejected) => None,
        Err(CallFailure::Fatal(error)) => panic!("{error}"),
    }
}

#[test]
fn addresses_may_have_any_size() {
    for size in [0, 1, 19, 20, 21, 100, 1000] {
        let payload = [&[TESTNET_VERSION][..], &vec![7; size]].concat();
        let text = base58check::encode(&payload);
        let mut host = MemoryHost::default();
        assert_eq!(call(&mut host, STRANGER, ADD, &text), Some(-10), "{size}");
        assert_eq!(call(&mut host, AUTHORIZER, REMOVE, &text), Some(-1), "{size}");
        assert_eq!(call(&mut host, AUTHORIZER, ADD, &text), Some(1), "{size}");
        let removed = call(&mut host, AUTHORIZER, REMOVE, &text);
        assert_eq!(removed, (size == 20).then_some(1), "{size}");
    }
}

#[test]
fn malformed_addresses_have_a_code() {
    let mut host = MemoryHost::default();
    let other_network = base58check::encode(&[0; 21]);
    for text in ["", "1", "notanaddress", "\u{e9}", &other_network] {
        assert_eq!(call(&mut host, STRANGER, ADD, text), Some(-2), "{text}");
        assert_eq!(call(&mut host, AUTHORIZER, REMOVE, text), Some(-2), "{text}");
    }
    // The checksum of no bytes.
    assert_eq!(call(&mut host, STRANGER, ADD, "3QJmnh"), None);
    assert_eq!(call(&mut host, STRANGER, REMOVE, "3QJmnh"), Some(-10));
    assert_eq!(call(&mut host, AUTHORIZER, REMOVE, "3QJmnh"), None);
}
