//! Genesis blocks and real blocks.

use crate::vectors::{bytes, cases, spec, text};
use rhizome_primitives::{B256, Block, Bloom, Bytes, Header, Receipt, Transaction, U256, hex, uncles_hash};
use serde_json::Value;

#[test]
fn golden_genesis() {
    let cases = cases("blocks/genesis.json");
    for case in &cases {
        let spec = spec(case);
        let root: B256 = text(case, "translatedStateRoot").parse().unwrap();
        let header = Header::genesis(&spec, root);
        assert_eq!(hex::encode(&header.state_root), text(case, "stateRoot"));
        assert_eq!(hex::encode(header.encode()), text(case, "header"));
        assert_eq!(hex::encode(header.encode_for_hash()), text(case, "hashPreimage"));
        assert_eq!(hex::encode(header.hash()), text(case, "hash"));
        assert_eq!(spec.genesis.expected_hash, Some(header.hash()));
        assert_eq!(header.difficulty_value().to_string(), text(case, "difficulty"));
        assert_eq!(header.min_gas_price().to_string(), text(case, "minimumGasPrice"));
        assert_eq!(Some(header.timestamp), case["timestamp"].as_u64());
        assert_eq!(header.has_mining_elements(), case["hasMiningFields"].as_bool().unwrap());

        let block = Block { header, transactions: vec![], uncles: vec![] };
        assert_eq!(hex::encode(block.encode()), text(case, "block"));
        let again = Block::decode(&block.encode(), &spec).unwrap();
        assert_eq!((again.hash(), again.encode()), (block.hash(), block.encode()));

        let alloc = case["alloc"].as_object().unwrap();
        assert_eq!(alloc.len(), spec.genesis.alloc.len());
        for account in &spec.genesis.alloc {
            let balance: U256 = alloc[&hex::encode(account.address)].as_str().unwrap().parse().unwrap();
            assert_eq!(account.balance, balance);
        }
    }
    assert_eq!(cases.len(), 4);
}

fn hexes(case: &Value, key: &str) -> Vec<String> {
    case[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap().into()).collect()
}

#[test]
fn real_blocks() {
    let cases = cases("blocks/blocks_real.json");
    for case in &cases {
        let spec = spec(case);
        let raw = hexes(case, "transactions");
        let transactions: Vec<Transaction> =
            raw.iter().map(|raw| Transaction::decode(&hex::decode(raw).unwrap()).unwrap()).collect();
        let encodings: Vec<String> = transactions.iter().map(|transaction| hex::encode(transaction.encode())).collect();
        assert_eq!(encodings, raw);
        let hashes: Vec<String> = transactions.iter().map(|transaction| hex::encode(transaction.hash())).collect();
        assert_eq!(hashes, hexes(case, "txHashes"));
        let senders: Vec<String> = transactions
            .iter()
            .map(|transaction| transaction.recover_sender().map(hex::encode).unwrap_or_default())
            .collect();
        assert_eq!(senders, hexes(case, "senders"));

        let mut bloom = Bloom::ZERO;
        for raw in hexes(case, "receipts") {
            let receipt = Receipt::decode(&hex::decode(&raw).unwrap()).unwrap();
            assert_eq!(hex::encode(receipt.encode()), raw);
            assert_eq!(Bloom::of_logs(&receipt.logs), receipt.bloom);
            bloom.accrue(&receipt.bloom);
        }
        assert_eq!(hex::encode(bloom.as_bytes()), text(case, "bloom"));

        if case["block"].is_string() {
            let raw = bytes(case, "block");
            let block = Block::decode(&raw, &spec).unwrap();
            assert_eq!(block.encode(), raw);
            assert_eq!(hex::encode(block.hash()), text(case, "hash"));
            assert_eq!(block.transactions, transactions);
            assert_eq!(block.header.uncles_hash, Bytes::from(uncles_hash(&block.uncles)));
            assert!(block.is_remasc(transactions.len() - 1) && !block.is_remasc(0));
        }
    }
    assert_eq!(cases.len(), 3);
}
