//! Blocks of a remote chain that are executed again.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_chain::ForkOrigin;
use rhizome_evm::Ancestry;
use rhizome_fork::{ForkError, ForkTarget, OlderAncestry};
use rhizome_primitives::{Address, B256, I256, U256};
use rhizome_trie::{AccountState, StateError, StateReader, keys};
use serde_json::{Value, json};

use crate::scripted_node::{BEST, ScriptedNode, block_object, hash, header};

const ACCOUNT: Address = Address::repeat_byte(0xcc);

/// Returns a block beside the chain.
fn beside() -> (B256, Value) {
    let mut header = header(2);
    header.timestamp += 1;
    header.forget_hash();
    let mut object = block_object(2);
    object["timestamp"] = json!(format!("{:#x}", header.timestamp));
    object["hash"] = json!(header.hash().to_string());
    (header.hash(), object)
}

/// A node whose blocks have no transactions, and that answers by `script` first.
fn node(script: impl Fn(&str, &Value) -> Option<Value> + Send + 'static) -> ScriptedNode {
    ScriptedNode::scripted(move |method, params| {
        if let Some(result) = script(method, params) {
            return Some(Ok(result));
        }
        if method == "eth_getTransactionByHash" {
            return Some(Ok(Value::Null));
        }
        if method != "eth_getBlockByHash" || params[1] != json!(true) {
            return None;
        }
        let (other, other_object) = beside();
        let mut object = match (0..=BEST).find(|number| params[0] == json!(hash(*number).to_string())) {
            Some(number) => block_object(number),
            None if params[0] == json!(other.to_string()) => other_object,
            None => return Some(Ok(Value::Null)),
        };
        object["transactions"] = json!([]);
        Some(Ok(object))
    })
}

#[test]
fn a_block_stands_on_the_state_after_its_parent() {
    let node = node(|method, params| {
        let is_before = params[1] == json!({ "blockHash": hash(1).to_string() });
        (method == "eth_getBalance" && is_before).then(|| json!("0x9"))
    });
    let funded = BTreeMap::from([(ACCOUNT, U256::from(1000))]);
    let chain = Arc::new(node.open_funded(ForkTarget::Latest, None, funded).unwrap());
    let balance = |state: &dyn StateReader| {
        let account = state.get(&keys::account_key(ACCOUNT.as_slice())).unwrap().unwrap();
        AccountState::decode(&account).unwrap().balance
    };
    assert_eq!(balance(&*chain.state()), I256::try_from(1000).unwrap());
    let block = chain.older_block_at(2).unwrap().unwrap();
    assert_eq!((block.hash(), block.block().hash(), block.senders().len()), (hash(2), hash(2), 0));
    assert_eq!(balance(&*block.state()), I256::try_from(9).unwrap());
    node.requests();
    assert!(Arc::ptr_eq(&chain.older_block(&hash(2)).unwrap().unwrap(), &block));
    assert!(node.requests().is_empty());
    let ancestry = OlderAncestry::new(Arc::clone(&chain), block);
    assert_eq!(ancestry.ancestor(1).unwrap().unwrap().hash, hash(1));
    assert!(ancestry.ancestor(2).unwrap().is_none());
    // The block of the fork, the genesis block, which executes nothing, and absent blocks.
    assert_eq!(chain.older_block_at(BEST).unwrap().unwrap().hash(), hash(BEST));
    assert!(chain.older_block_at(0).unwrap().is_none() && chain.older_block_at(BEST + 1).unwrap().is_none());
    assert!(chain.older_block(&hash(0)).unwrap().is_none());
    assert!(chain.older_block(&B256::repeat_byte(1)).unwrap().is_none());
    assert!(chain.older_transaction(&B256::repeat_byte(1)).unwrap().is_none());
}

#[test]
fn a_block_beside_the_chain_is_refused() {
    let chain = node(|_, _| None).open(ForkTarget::Latest, None).unwrap();
    let (other, _) = beside();
    assert!(matches!(chain.older_block(&other), Err(ForkError::BesideChain { number: 2, .. })));
}

#[test]
fn slots_of_a_contract_cannot_be_listed() {
    let node = node(|method, params| {
        let is_plain = method == "eth_getCode" && params[0] == json!(format!("{ACCOUNT:#x}"));
        is_plain.then(|| json!("0x"))
    });
    let state = node.open(ForkTarget::Latest, None).unwrap().state();
    let list = |address: Address, byte: Option<u8>| {
        let prefix = [keys::mark_key(address.as_slice()).as_slice(), byte.as_slice()].concat();
        state.visit_keys(&prefix, &mut |_| ControlFlow::Continue(()))
    };
    for byte in [None, Some(0), Some(0xff)] {
        assert!(list(ACCOUNT, byte).is_ok());
        assert!(matches!(list(Address::repeat_byte(0xdd), byte), Err(StateError::Unlisted)));
    }
    assert!(state.visit_keys(&[], &mut |_| ControlFlow::Continue(())).is_err());
}
