//! Random and mutated bytes: decoding never panics, and decoded objects survive encoding and decoding.

use crate::corpus::fuzz_corpus;
use crate::mutation::with_random;
use crate::vectors::{bytes, cases};
use rhizome_primitives::{Block, ChainSpec, Header, Receipt, Rule, Transaction, rlp};

fn walk(data: &[u8], depth: usize) {
    if let Ok(items) = rlp::decode_all(data) {
        let total: usize = items.iter().map(|item| item.encoding().len()).sum();
        assert_eq!(total, data.len());
        for item in items.iter().filter(|item| item.is_list() && depth < 20) {
            walk(item.content(), depth + 1);
        }
    }
}

/// Even values of v below 27 are encoded as a different byte than was decoded, and r or s of zero is encoded as
/// absent.
fn is_written_as_read(transaction: &Transaction) -> bool {
    transaction.chain_id() >= 0
        && !(transaction.is_signed() && (transaction.r().is_zero() || transaction.s().is_zero()))
}

fn transaction(data: &[u8]) {
    if let Ok(first) = Transaction::decode(data) {
        if !is_written_as_read(&first) {
            return;
        }
        let again = Transaction::decode(&first.encode()).unwrap();
        assert_eq!(again, first);
        assert_eq!((again.hash(), again.raw_hash()), (first.hash(), first.raw_hash()));
        assert_eq!(again.fields_valid(), first.fields_valid());
        assert_eq!(again.recover_sender(), first.recover_sender());
        assert_eq!((again.gas_price(), again.value(), again.data()), (first.gas_price(), first.value(), first.data()));
    }
}

/// A version 0 header with the elements of a later version has no version element, and version 1 drops the base event:
/// such encodings cannot be decoded everywhere.
fn is_regular(header: &Header) -> bool {
    match header.version {
        0 => header.edges.is_none() && header.base_event.is_none(),
        1 => !header.rules().is_active(Rule::Rskip535),
        _ => true,
    }
}

fn header(data: &[u8], spec: &ChainSpec) {
    if let Ok(first) = Header::decode(data, spec) {
        let encoded = first.encode();
        let _ = (first.hash(), first.hash_for_merged_mining(), first.extension_wire());
        if is_regular(&first) {
            let again = Header::decode(&encoded, spec).unwrap();
            assert_eq!(again.encode(), encoded);
            assert_eq!(again.hash(), first.hash());
        }
    }
}

#[test]
fn fuzz_random_bytes() {
    let spec = ChainSpec::regtest();
    with_random(|random| {
        for _ in 0..80 {
            let data = random.bytes(80);
            walk(&data, 0);
            transaction(&data);
            transaction(&rlp::list(&data));
            header(&rlp::list(&data), &spec);
            let _ = Receipt::decode(&rlp::list(&data));
            let _ = Block::decode(&rlp::list(&data), &spec);
        }
    });
}

#[test]
fn fuzz_mutated_transactions() {
    let cases = cases("blocks/transactions.json");
    with_random(|random| {
        for _ in 0..80 {
            let mut data = bytes(random.pick(&cases), "raw").to_vec();
            random.mutate(&mut data);
            walk(&data, 0);
            transaction(&data);
        }
    });
}

#[test]
fn fuzz_mutated_headers() {
    let specs = crate::vectors::Specs::load();
    let cases = cases("blocks/headers.json");
    with_random(|random| {
        for _ in 0..80 {
            let case = random.pick(&cases);
            let mut data = bytes(case, "raw").to_vec();
            random.mutate(&mut data);
            header(&data, specs.of(case));
        }
    });
}

#[test]
fn fuzz_mutated_receipts_and_blocks() {
    let spec = ChainSpec::testnet();
    let receipts = cases("blocks/receipts.json");
    let blocks: Vec<_> =
        cases("blocks/blocks_real.json").into_iter().filter(|case| case["block"].is_string()).collect();
    with_random(|random| {
        for _ in 0..20 {
            let mut data = bytes(random.pick(&receipts), "encoded").to_vec();
            random.mutate(&mut data);
            if let Ok(receipt) = Receipt::decode(&data) {
                assert_eq!(Receipt::decode(&receipt.encode()), Ok(receipt));
            }
            let mut data = bytes(random.pick(&blocks), "block").to_vec();
            random.mutate(&mut data);
            block(&data, &spec);
        }
    });
}

fn block(data: &[u8], spec: &ChainSpec) {
    let Ok(block) = Block::decode(data, spec) else { return };
    let is_stable = block.transactions.iter().all(is_written_as_read);
    if is_stable && is_regular(&block.header) && block.uncles.iter().all(is_regular) {
        let Ok(again) = Block::decode(&block.encode(), spec) else { return };
        assert_eq!(again.encode(), block.encode());
    }
}

#[test]
fn fuzz_corpus_rlp() {
    fuzz_corpus("rlp", 200, &[], |data, _| walk(data, 0));
}

#[test]
fn fuzz_corpus_transaction() {
    fuzz_corpus("transaction", 40, &[], |data, _| transaction(data));
}

#[test]
fn fuzz_corpus_header() {
    let specs = [ChainSpec::regtest(), ChainSpec::testnet()];
    fuzz_corpus("header", 40, &[], |data, _| specs.iter().for_each(|spec| header(data, spec)));
}

#[test]
fn fuzz_corpus_block() {
    let specs = [ChainSpec::regtest(), ChainSpec::testnet()];
    fuzz_corpus("block", 20, &[], |data, _| specs.iter().for_each(|spec| block(data, spec)));
}

#[test]
fn fuzz_corpus_receipt() {
    fuzz_corpus("receipt", 40, &[], |data, _| {
        if let Ok(receipt) = Receipt::decode(data) {
            assert_eq!(Receipt::decode(&receipt.encode()), Ok(receipt));
        }
    });
}
