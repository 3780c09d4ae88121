//! `anvil_rollback` and `anvil_reorg`.

use crate::node::regtest;
use rhizome_answers::hardhat::{reorg, rollback, set_balance};
use rhizome_answers::options::MiningMode;
use rhizome_answers::{AnswerOptions, ErrorCode, Node};
use rhizome_chain::Clock;
use rhizome_evm::{Deadline, State};
use rhizome_primitives::{Address, B256, I256, Transaction, U256, UnsignedTransaction, hex, keccak256};

const NOW: u64 = 1_700_000_000;
const TO: Address = Address::repeat_byte(7);

fn development() -> Node {
    let options = AnswerOptions { mining: MiningMode::Off, has_wallet: true, ..AnswerOptions::document() };
    let node = regtest(options, Clock::new(|| NOW));
    for _block in 0..4 {
        node.chain().mine(NOW).unwrap();
    }
    node
}

fn hashes(node: &Node) -> Vec<B256> {
    (0..=node.chain().head().number()).map(|number| node.chain().main_block(number).unwrap().unwrap().hash).collect()
}

fn balance(node: &Node, address: Address) -> I256 {
    State::new(node.chain().head().state()).balance(address).unwrap()
}

fn raw(nonce: u64) -> String {
    let unsigned = UnsignedTransaction {
        nonce: U256::from(nonce),
        gas_price: U256::from(100_000_000),
        gas_limit: 21_000,
        to: Some(TO),
        value: U256::from(5),
        data: Default::default(),
    };
    format!("0x{}", hex::encode(Transaction::sign(unsigned, 33, &keccak256("cow")).unwrap().encoded()))
}

#[test]
fn rolls_back_blocks_and_their_snapshots() {
    let node = development();
    let before = hashes(&node);
    let snapshot = node.chain().snapshot().unwrap();
    set_balance::answer(&node, &TO, &U256::from(9)).unwrap();
    assert_eq!(rollback::answer(&node, 0).unwrap(), b"null");
    assert_eq!(hashes(&node), before);
    assert_eq!(rollback::answer(&node, 3).unwrap(), b"null");
    assert_eq!(hashes(&node), before[..2]);
    assert_eq!(balance(&node, TO), I256::ZERO);
    assert!(!node.chain().revert(snapshot).unwrap());
    let refused = rollback::answer(&node, 2).unwrap_err();
    assert_eq!(refused.message, "Invalid depth: 2, the height of the chain is 1");
    assert_eq!(hashes(&node), before[..2]);
}

#[test]
fn replaces_blocks_by_others_with_transactions() {
    let node = development();
    let before = hashes(&node);
    let from = "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826";
    let transactions = format!(
        r#"[["{}",0],[{{"from":"{from}","to":"{TO}","value":"0x7","gas":"0x5208"}},2],["{}",2]]"#,
        raw(0),
        raw(2)
    );
    assert_eq!(reorg::answer(&node, 3, &transactions, &Deadline::none()).unwrap(), b"null");
    let after = hashes(&node);
    assert_eq!((after.len(), &after[..2]), (5, &before[..2]));
    assert!(after[2..].iter().all(|hash| !before.contains(hash)), "all blocks are new");
    let counts = [2, 3, 4].map(|number| node.chain().main_block(number).unwrap().unwrap().block.transactions.len());
    assert_eq!(counts, [2, 1, 3], "with REMASC");
    assert_eq!(balance(&node, TO), I256::try_from(17).unwrap());
}

#[test]
fn refuses_what_it_cannot_do_before_it_begins() {
    let node = development();
    let before = hashes(&node);
    let refuse = |depth, transactions: &str| {
        let error = reorg::answer(&node, depth, transactions, &Deadline::none()).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidParams, "{error}");
        error.message
    };
    assert_eq!(refuse(5, ""), "Invalid depth: 5, the height of the chain is 4");
    assert_eq!(refuse(2, "{}"), "Invalid transactions: an array is expected");
    assert_eq!(refuse(2, "[1]"), "Invalid transactions: pairs of transaction and position are expected");
    assert_eq!(refuse(2, r#"[["0x",2]]"#), "Invalid position of a block: 2, 2 blocks are replaced");
    let unknown = refuse(2, r#"[[{"from":"0x0000000000000000000000000000000000000001"},1]]"#);
    assert!(unknown.starts_with("Could not find account for address"), "{unknown}");
    refuse(2, r#"[["0x",1]]"#);
    assert_eq!(hashes(&node), before);
}
