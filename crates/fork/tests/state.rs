//! The state of a remote chain by trie key.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use rhizome_chain::ForkOrigin;
use rhizome_fork::{ForkTarget, without_requests};
use rhizome_primitives::{Address, B256, BRIDGE, Bytes, I256, REMASC, U256, keccak256};
use rhizome_trie::AccountState;
use rhizome_trie::keys::{self, REMASC_SENDER};
use serde_json::json;

use crate::scripted_node::{BEST, ScriptedNode};

const CONTRACT: [u8; 20] = [0xcc; 20];

#[test]
fn accounts_come_whole_and_slots_one_by_one() {
    let node = ScriptedNode::start();
    let chain = node.open(ForkTarget::Latest, None).unwrap();
    let state = chain.state();
    node.requests();
    let account = AccountState { nonce: U256::from(2), balance: I256::try_from(100).unwrap(), flags: 0 };
    assert_eq!(state.get(&keys::account_key(&CONTRACT)).unwrap(), Some(account.encode()));
    assert_eq!(state.get(&keys::code_key(&CONTRACT)).unwrap(), Some(Bytes::from_static(&[0x60, 0x01])));
    assert_eq!(state.length_and_hash(&keys::code_key(&CONTRACT)).unwrap(), Some((2, keccak256([0x60, 0x01]))));
    assert_eq!(state.get(&keys::mark_key(&CONTRACT)).unwrap(), Some(Bytes::from_static(keys::MARK)));
    // The two slots may name the implementation of a proxy.
    let of_account =
        ["eth_getBalance", "eth_getTransactionCount", "eth_getCode", "eth_getStorageAt", "eth_getStorageAt"];
    assert_eq!(node.requests(), [of_account]);
    state.get(&keys::storage_key(&CONTRACT, &B256::ZERO)).unwrap();
    assert!(node.requests().is_empty());
    let slot = keys::storage_key(&CONTRACT, &B256::with_last_byte(9));
    assert_eq!(state.get(&slot).unwrap().unwrap().to_vec(), [7]);
    assert_eq!(state.get(&slot).unwrap().unwrap().to_vec(), [7]);
    assert_eq!(node.requests(), [["eth_getStorageAt"]]);
    // The sender of REMASC transactions has sent one in each block.
    let sender = state.get(&keys::account_key(REMASC_SENDER)).unwrap().unwrap();
    assert_eq!(AccountState::decode(&sender).unwrap().nonce, U256::from(BEST));
    assert_eq!(state.get(&keys::hiding_key_of(&keys::account_key(&CONTRACT))).unwrap(), None);
    assert!(node.requests().is_empty());
}

#[test]
fn funded_accounts_and_the_sender_of_calls_come_with_the_start() {
    let node = ScriptedNode::start();
    let funded: BTreeMap<Address, U256> =
        (1..=11).map(|index| (Address::repeat_byte(index), U256::from(1000 + u64::from(index)))).collect();
    let state = node.open_funded(ForkTarget::Latest, None, funded.clone()).unwrap().state();
    // The chain, the access to its state, and twelve accounts.
    assert_eq!(node.requests().iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 36]);
    for (address, balance) in &funded {
        let account = state.get(&keys::account_key(address.as_slice())).unwrap().unwrap();
        let AccountState { nonce, balance: found, .. } = AccountState::decode(&account).unwrap();
        assert_eq!((nonce, found), (U256::from(2), I256::try_from(*balance).unwrap()));
    }
    let zero = state.get(&keys::account_key(Address::ZERO.as_slice())).unwrap().unwrap();
    assert_eq!(AccountState::decode(&zero).unwrap().balance, I256::try_from(100).unwrap());
    assert!(node.requests().is_empty());
}

#[test]
fn threads_share_a_request() {
    let node = ScriptedNode::start();
    let chain = node.open(ForkTarget::Latest, None).unwrap();
    node.requests();
    let (state, barrier) = (chain.state(), Barrier::new(8));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                assert!(state.get(&keys::account_key(&CONTRACT)).unwrap().is_some());
            });
        }
    });
    assert_eq!(node.requests().len(), 1);
}

#[test]
fn a_thread_that_must_not_wait_reads_what_is_known() {
    let node = ScriptedNode::start();
    let chain = node.open(ForkTarget::Latest, None).unwrap();
    let state = chain.state();
    let key = keys::account_key(&CONTRACT);
    node.requests();
    let error = without_requests(|| state.get(&key)).unwrap_err();
    assert!(error.to_string().contains("not in the cache"), "{error}");
    assert!(node.requests().is_empty());
    state.get(&key).unwrap().unwrap();
    assert!(without_requests(|| state.get(&key)).unwrap().is_some());
}

#[test]
fn empty_accounts_exist_if_the_network_made_them() {
    let node = ScriptedNode::scripted(|method, _| match method {
        "eth_getBalance" | "eth_getTransactionCount" => Some(Ok(json!("0x0"))),
        "eth_getCode" => Some(Ok(json!("0x"))),
        _ => None,
    });
    let state = node.open(ForkTarget::Latest, None).unwrap().state();
    assert_eq!(state.get(&keys::account_key(&CONTRACT)).unwrap(), None);
    assert_eq!(state.get(&keys::mark_key(&CONTRACT)).unwrap(), None);
    let empty = Some(AccountState::default().encode());
    for address in [BRIDGE, REMASC] {
        assert_eq!(state.get(&keys::account_key(address.as_slice())).unwrap(), empty);
        assert!(state.get(&keys::mark_key(address.as_slice())).unwrap().is_some());
    }
}

#[test]
fn slots_of_the_bridge_need_their_stored_form() {
    let key = keys::storage_key(BRIDGE.as_slice(), &B256::with_last_byte(5));
    let node = ScriptedNode::start();
    let chain = node.open(ForkTarget::Latest, None).unwrap();
    let error = chain.state().get(&key).unwrap_err().to_string();
    assert!(error.contains("rsk_getStorageBytesAt") && chain.bridge_answers().is_some(), "{error}");
    let long = "0x00".to_owned() + &"ab".repeat(40);
    let served = ScriptedNode::scripted({
        let long = long.clone();
        move |method, params| {
            let text = if params[1] == json!("0x5") { long.as_str() } else { "0x0" };
            (method == "rsk_getStorageBytesAt").then(|| Ok(json!(text)))
        }
    });
    let chain = served.open(ForkTarget::Latest, None).unwrap();
    assert_eq!(chain.state().get(&key).unwrap().unwrap().len(), 41);
    assert_eq!(chain.state().get(&keys::storage_key(BRIDGE.as_slice(), &B256::ZERO)).unwrap(), None);
    assert!(chain.bridge_answers().is_none());
}

#[test]
fn a_failure_is_not_cached() {
    let node = ScriptedNode::start();
    let chain = node.open(ForkTarget::Latest, None).unwrap();
    let key = keys::account_key(&CONTRACT);
    node.react(&[crate::scripted_node::Reaction::Status(404)]);
    assert!(chain.state().get(&key).unwrap_err().to_string().contains("404"));
    assert!(chain.state().get(&key).unwrap().is_some());
}
