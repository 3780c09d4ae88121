//! Genesis blocks and real blocks.

use crate::vectors::{bytes, cases, spec, text};
use rhizome_primitives::{
    B256, Block, Bloom, Bytes, ChainSpec, DecodeError, Header, MAX_LIST_ELEMENTS, Receipt, Transaction, U256, hex, rlp,
    uncles_hash,
};
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

#[test]
fn the_elements_of_a_block_are_counted_before_they_are_decoded() {
    let spec = ChainSpec::regtest();
    let header = Header::genesis(&spec, B256::ZERO).encode();
    let decode = |transactions: &[u8], uncles: &[u8]| {
        let raw = rlp::list(&[header.clone(), rlp::list(transactions), rlp::list(uncles)].concat());
        Block::decode(&raw, &spec).map(|block| block.transactions.len())
    };
    let transaction = Transaction::remasc(1);
    let most = transaction.encoded().repeat(MAX_LIST_ELEMENTS);
    assert_eq!(decode(&most, &[]), Ok(MAX_LIST_ELEMENTS));
    // Neither a transaction nor an uncle.
    let too_many = |what| Err(DecodeError::ElementCount { what, got: MAX_LIST_ELEMENTS + 1 });
    assert_eq!(decode(&[0x80; MAX_LIST_ELEMENTS + 2], &[]), too_many("transactions"));
    assert_eq!(decode(&[], &[0x80; MAX_LIST_ELEMENTS + 2]), too_many("uncles"));
}

/// A list of 16 MB took 32 bytes of memory for each of its bytes.
#[test]
#[cfg(target_os = "linux")]
fn a_block_of_many_small_elements_takes_no_memory() {
    let most_memory = || -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let raw = rlp::list(&vec![1; 16 << 20]);
    let got = 16 << 20;
    let error = Block::decode(&raw, &ChainSpec::regtest()).unwrap_err();
    assert_eq!(error, DecodeError::ElementCount { what: "block", got });
    assert!(most_memory() < 400 << 10, "{} kB", most_memory());
}
