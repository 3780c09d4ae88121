//! Random and mutated bytes: decoding never panics, and what was decoded and written again stays as it is.

use crate::vectors::{bytes, cases};
use rhizome_primitives::{Block, ChainSpec, Header, Receipt, Rule, Transaction, rlp};

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn bytes(&mut self, longest: usize) -> Vec<u8> {
        (0..self.below(longest)).map(|_| self.next() as u8).collect()
    }

    /// Changes, removes, inserts or cuts off a few bytes; favours bytes that mean something in RLP.
    fn mutate(&mut self, data: &mut Vec<u8>) {
        const MARKS: &[u8] = &[0, 1, 0x7f, 0x80, 0x81, 0xb7, 0xb8, 0xbf, 0xc0, 0xc1, 0xf7, 0xf8, 0xff];
        for _ in 0..=self.below(4) {
            let at = self.below(data.len());
            let byte = if self.below(2) == 0 { MARKS[self.below(MARKS.len())] } else { self.next() as u8 };
            match self.below(8) {
                0 => data.truncate(at),
                1 if !data.is_empty() => {
                    data.remove(at);
                }
                2 => data.insert(at, byte),
                _ if !data.is_empty() => data[at] = byte,
                _ => data.push(byte),
            }
        }
    }
}

fn walk(data: &[u8], depth: usize) {
    if let Ok(items) = rlp::decode_all(data) {
        let total: usize = items.iter().map(|item| item.encoding().len()).sum();
        assert_eq!(total, data.len());
        for item in items.iter().filter(|item| item.is_list() && depth < 20) {
            walk(item.content(), depth + 1);
        }
    }
}

fn transaction(data: &[u8]) {
    if let Ok(first) = Transaction::decode(data) {
        // Even values of v below 27 are written as another byte than the one that gave the chain id, and a half of the
        // signature that is zero is written as missing.
        if first.chain_id() < 0 || (first.is_signed() && (first.r().is_zero() || first.s().is_zero())) {
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

/// A version 0 header that carries the elements of a later version writes no version element, and version 1 drops the base
/// event: such encodings cannot be read back everywhere.
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
fn random_bytes() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let spec = ChainSpec::regtest();
    for _ in 0..20_000 {
        let data = random.bytes(80);
        walk(&data, 0);
        transaction(&data);
        transaction(&rlp::list(&data));
        header(&rlp::list(&data), &spec);
        let _ = Receipt::decode(&rlp::list(&data));
        let _ = Block::decode(&rlp::list(&data), &spec);
    }
}

#[test]
fn mutated_transactions() {
    let mut random = Random(1);
    for case in cases("blocks/transactions.json") {
        for _ in 0..60 {
            let mut data = bytes(&case, "raw").to_vec();
            random.mutate(&mut data);
            walk(&data, 0);
            transaction(&data);
        }
    }
}

#[test]
fn mutated_headers() {
    let mut random = Random(2);
    let specs = crate::vectors::Specs::load();
    for case in cases("blocks/headers.json") {
        for _ in 0..60 {
            let mut data = bytes(&case, "raw").to_vec();
            random.mutate(&mut data);
            header(&data, specs.of(&case));
        }
    }
}

#[test]
fn mutated_receipts_and_blocks() {
    let mut random = Random(3);
    for case in cases("blocks/receipts.json") {
        for _ in 0..100 {
            let mut data = bytes(&case, "encoded").to_vec();
            random.mutate(&mut data);
            if let Ok(receipt) = Receipt::decode(&data) {
                assert_eq!(Receipt::decode(&receipt.encode()), Ok(receipt));
            }
        }
    }
    let spec = ChainSpec::testnet();
    for case in cases("blocks/blocks_real.json").iter().filter(|case| case["block"].is_string()) {
        for _ in 0..3_000 {
            let mut data = bytes(case, "block").to_vec();
            random.mutate(&mut data);
            let Ok(block) = Block::decode(&data, &spec) else { continue };
            if is_regular(&block.header) && block.uncles.iter().all(is_regular) {
                let Ok(again) = Block::decode(&block.encode(), &spec) else { continue };
                assert_eq!(again.encode(), block.encode());
            }
        }
    }
}
