//! States in the format of anvil.

use crate::node::regtest;
use flate2::read::GzDecoder;
use rhizome_answers::hardhat::{
    dump_state, load_state, reorg, rollback, set_balance, set_code, set_nonce, set_storage_at,
};
use rhizome_answers::options::MiningMode;
use rhizome_answers::saved_state::file::{load_file, save_file};
use rhizome_answers::{AnswerOptions, ErrorCode, Node};
use rhizome_chain::Clock;
use rhizome_evm::{Deadline, State};
use rhizome_primitives::{Address, BRIDGE, Bytes, ChainSpec, I256, REMASC, U256, address, hex};
use serde_json::Value;
use std::fs;
use std::io::Read;

const MANY: usize = 1 << 24;
const OURS: Address = address!("00000000000000000000000000000000000000aa");

fn development() -> Node {
    let options = AnswerOptions { mining: MiningMode::Off, has_wallet: true, ..AnswerOptions::document() };
    regtest(options, Clock::new(|| 1_700_000_000))
}

fn state(node: &Node) -> State {
    State::new(node.chain().head().state())
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    text
}

fn dumped(node: &Node) -> Vec<u8> {
    let answer: String = serde_json::from_slice(&dump_state::answer(node, MANY).unwrap()).unwrap();
    hex::decode(&answer[2..]).unwrap()
}

fn prepare(node: &Node) {
    set_balance::answer(node, &OURS, &U256::from(77)).unwrap();
    set_nonce::answer(node, &OURS, 9).unwrap();
    set_code::answer(node, &OURS, &Bytes::from_static(&[0x60, 1])).unwrap();
    set_storage_at::answer(node, &OURS, &U256::from(3), &U256::from(42)).unwrap();
}

fn check(node: &Node) {
    let mut state = state(node);
    assert_eq!(state.balance(OURS).unwrap(), I256::try_from(77).unwrap());
    assert_eq!(state.nonce(OURS).unwrap(), U256::from(9));
    assert_eq!(state.code(OURS).unwrap().unwrap().to_vec(), [0x60, 1]);
    assert_eq!(state.storage_word(OURS, &U256::from(3)).unwrap(), Some(U256::from(42)));
    assert!(state.is_contract(OURS).unwrap());
}

#[test]
fn a_dumped_state_is_loaded_by_another_node() {
    let node = development();
    prepare(&node);
    node.chain().mine(1_700_000_000).unwrap();
    let packed = dumped(&node);
    let object: Value = serde_json::from_slice(&unpacked(&packed)).unwrap();
    for left_out in [BRIDGE, REMASC] {
        assert_eq!(object["accounts"].get(format!("0x{}", hex::encode(left_out))), None);
    }
    let other = development();
    assert_eq!(load_state::answer(&other, &packed).unwrap(), b"true");
    check(&other);
    assert_eq!(other.chain().head().number(), 0, "blocks do not move");
    // The root of all accounts agrees, too: the genesis blocks are equal.
    let again = development();
    load_state::answer(&again, &unpacked(&packed)).unwrap();
    assert_eq!(again.chain().head().record.state_root, other.chain().head().record.state_root);
}

#[test]
fn nonces_do_not_go_back_and_other_accounts_stay() {
    let node = development();
    prepare(&node);
    let packed = dumped(&node);
    set_nonce::answer(&node, &OURS, 12).unwrap();
    let other = Address::repeat_byte(5);
    set_balance::answer(&node, &other, &U256::from(1)).unwrap();
    set_balance::answer(&node, &OURS, &U256::from(5)).unwrap();
    load_state::answer(&node, &packed).unwrap();
    let mut state = state(&node);
    assert_eq!(state.nonce(OURS).unwrap(), U256::from(12));
    assert_eq!(state.balance(OURS).unwrap(), I256::try_from(77).unwrap());
    assert_eq!(state.balance(other).unwrap(), I256::try_from(1).unwrap());
}

#[test]
fn a_file_of_anvil_is_loaded() {
    let text = unpacked(include_bytes!("data/anvil_state.json.gz"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    fs::write(&path, &text).unwrap();
    let node = development();
    assert_eq!(load_file(&node, &path).unwrap(), b"7");
    let contract = address!("5fbdb2315678afecb367f032d93f642f64180aa3");
    let mut state = state(&node);
    assert_eq!(state.storage_word(contract, &U256::ZERO).unwrap(), Some(U256::from(42)));
    assert_eq!(state.code(contract).unwrap().unwrap().to_vec(), [0x60]);
    assert_eq!(state.nonce(contract).unwrap(), U256::ONE);
}

#[test]
fn files_are_replaced_whole_and_faults_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    let node = development();
    assert_eq!(load_file(&node, &path).unwrap(), b"null");
    prepare(&node);
    fs::write(&path, "damaged").unwrap();
    let root = node.chain().head().record.state_root;
    let fault = load_file(&node, &path).unwrap_err();
    assert!(fault.message.contains("state.json: expected a JSON object in the format of anvil"), "{fault}");
    assert_eq!(node.chain().head().record.state_root, root);
    save_file(&node, &path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let other = development();
    load_file(&other, &path).unwrap();
    check(&other);
    assert_eq!(save_file(&node, folder.path()).unwrap_err().code, ErrorCode::ServerError);
}

#[test]
fn limits_and_other_networks() {
    let node = development();
    assert_eq!(dump_state::answer(&node, 1000).unwrap_err().code, ErrorCode::ResourceExhausted);
    assert_eq!(load_state::answer(&node, b"{}").unwrap_err().code, ErrorCode::InvalidParams);
    let mainnet = crate::node::fresh(ChainSpec::mainnet(), AnswerOptions::document(), Clock::new(|| 1_700_000_000));
    for refused in [
        dump_state::answer(&mainnet, MANY),
        load_state::answer(&mainnet, br#"{"accounts":{}}"#),
        rollback::answer(&mainnet, 1),
        reorg::answer(&mainnet, 1, "", &Deadline::none()),
    ] {
        assert_eq!(refused.unwrap_err().code, ErrorCode::MethodNotFound);
    }
}
