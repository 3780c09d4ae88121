//! Random bytes in the Bitcoin parts of a header: every parser returns a verdict in bounded time.

use crate::mutation::{Random, with_random};
use crate::{chains, vectors};
use rhizome_bitcoin::coinbase::{compress, tagged_hash, transaction_id};
use rhizome_bitcoin::message::strip_witness;
use rhizome_bitcoin::partial_tree::PartialTree;
use rhizome_bitcoin::{BitcoinBlock, BitcoinHeader, CompressedCoinbase, merkle, sha256d};
use rhizome_pow::{MiningSolution, proof_of_work};
use rhizome_primitives::{Bytes, ChainSpec, Header};
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    net: String,
    raw: String,
}

/// Real and synthetic headers of every set of rules.
fn headers() -> Vec<(ChainSpec, Header)> {
    let read = |file| vectors::read::<Cases>(file).cases.into_iter();
    let cases = read("headers_real").chain(read("pow"));
    cases
        .filter_map(|Case { net, raw }| {
            let spec = chains::spec(&net);
            let header = Header::decode(&hex::decode(raw).unwrap(), &spec).ok()?;
            Some((spec, header))
        })
        .collect()
}

/// A Bitcoin block of a few transactions, some with witness.
fn bitcoin_block(random: &mut Random) -> Vec<u8> {
    let mut block: Vec<u8> = (0..80).map(|_| random.next() as u8).collect();
    let count = random.below(4) as u8;
    block.push(count);
    for _ in 0..count {
        let has_witness = random.below(2) == 0;
        block.extend([1, 0, 0, 0]);
        block.extend(if has_witness { [0, 1].as_slice() } else { &[] });
        block.push(1);
        block.extend([0xee; 36]);
        sized(&mut block, random);
        block.extend([0xff; 4]);
        block.push(1);
        block.extend([0; 8]);
        sized(&mut block, random);
        if has_witness {
            block.push(1);
            sized(&mut block, random);
        }
        block.extend([0; 4]);
    }
    block
}

fn sized(block: &mut Vec<u8>, random: &mut Random) {
    let bytes = random.bytes(100);
    block.push(bytes.len() as u8);
    block.extend(bytes);
}

fn mutated(random: &mut Random, bytes: &Option<Bytes>) -> Option<Bytes> {
    let mut bytes = bytes.as_ref().map(|bytes| bytes.to_vec()).unwrap_or_default();
    match random.below(8) {
        0 => return None,
        1 => bytes = random.bytes(200),
        _ => random.mutate(&mut bytes),
    }
    Some(bytes.into())
}

#[test]
fn fuzz_proofs_of_work() {
    let headers = headers();
    with_random(|random| {
        for _ in 0..20 {
            let (spec, header) = random.pick(&headers);
            let mut header = header.clone();
            match random.below(3) {
                0 => header.bitcoin_header = mutated(random, &header.bitcoin_header),
                1 => header.bitcoin_coinbase = mutated(random, &header.bitcoin_coinbase),
                _ => header.merkle_proof = mutated(random, &header.merkle_proof),
            }
            header.forget_hash();
            let _ = (proof_of_work(&header, spec), header.hash());
        }
    });
}

#[test]
fn fuzz_bitcoin_messages() {
    with_random(|random| {
        for _ in 0..20 {
            let mut bytes = bitcoin_block(random);
            // The generated block is well formed, unless it has no coinbase.
            assert_eq!(BitcoinBlock::parse(&bytes).is_ok(), bytes[80] > 0);
            random.mutate(&mut bytes);
            if random.below(6) == 0 {
                bytes = random.bytes(300);
            }
            if let Ok(block) = BitcoinBlock::parse(&bytes) {
                assert_eq!(block.transaction_ids.first(), Some(&transaction_id(&block.coinbase)));
            }
            let _ = (BitcoinHeader::parse(&bytes), strip_witness(bytes.get(81..).unwrap_or_default()));
            let _ = tagged_hash(&bytes);
            let from_branch =
                MiningSolution::from_branch(&bytes, &bytes, &[[7; 32]; 3][..random.below(4)], random.next() as u32);
            for work in [MiningSolution::from_block(&bytes), from_branch].into_iter().flatten() {
                let _ = (work.hash_for_merged_mining(), work.merkle_proof(true), work.merkle_proof(false));
            }
            let compressed = compress(&bytes);
            let split = CompressedCoinbase::split(&compressed).unwrap();
            assert_eq!(split.hash(), transaction_id(&bytes));
            let _ = CompressedCoinbase::split(&bytes).map(|split| split.hash());
        }
    });
}

#[test]
fn fuzz_merkle_proofs() {
    with_random(|random| {
        for _ in 0..20 {
            let leaves: Vec<_> = (0..1 + random.below(40)).map(|_| sha256d(&random.next().to_be_bytes())).collect();
            let (root, siblings) = (merkle::root_of(&leaves), merkle::siblings_of_first(&leaves));
            let branch = [vec![leaves[0]], siblings.clone()].concat();
            let tree = PartialTree::of_first_leaf(&branch, leaves.len() as u32).encode();
            let list = merkle::proof_of_siblings(&siblings);
            for honest in [tree, list.to_vec()] {
                let mut forged = honest.clone();
                random.mutate(&mut forged);
                let _ = merkle::verify(&forged, leaves[0], root);
                if let Some(tree) = PartialTree::parse(&forged) {
                    let _ = tree.verify(leaves[0], root);
                    assert_eq!(PartialTree::parse(&tree.encode()), Some(tree));
                }
            }
        }
    });
}
