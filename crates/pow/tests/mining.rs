//! `mining.json`, and solving and completing headers.

use crate::vectors;
use rhizome_bitcoin::coinbase::{compress, synthetic, transaction_id};
use rhizome_bitcoin::merkle::root_of;
use rhizome_bitcoin::{CompressedCoinbase, display};
use rhizome_pow::{MiningSolution, proof_of_work, solve, target};
use rhizome_primitives::{ChainSpec, Header, U256};
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Case {
    Target { difficulty: String, target: String },
    CompressCoinbase { coinbase: String, compressed: String, txid: String },
    ProofFromTxHashes { tx_hashes: Vec<String>, before_rskip92: String, rskip92: String, merkle_root: String },
    ProofFromMerkleHashes { tx_count: u32, merkle_hashes: Vec<String>, before_rskip92: String, rskip92: String },
}

fn digests(texts: &[String]) -> Vec<[u8; 32]> {
    texts.iter().map(|text| hex::decode(text).unwrap().try_into().unwrap()).collect()
}

#[test]
fn golden_cases() {
    let Cases { cases } = vectors::read("mining");
    assert_eq!(cases.len(), 38);
    let coinbase = synthetic(&[1; 32], 0);
    for case in cases {
        match case {
            Case::Target { difficulty, target: expected } => {
                assert_eq!(
                    hex::encode(target(difficulty.parse().unwrap()).to_be_bytes::<32>()),
                    expected,
                    "difficulty {difficulty}"
                );
            }
            Case::CompressCoinbase { coinbase, compressed, txid } => {
                let coinbase = hex::decode(coinbase).unwrap();
                let found = compress(&coinbase);
                assert_eq!(hex::encode(&found), compressed);
                let id = CompressedCoinbase::split(&found).unwrap().hash();
                assert_eq!(id, transaction_id(&coinbase));
                assert_eq!(hex::encode(display(id)), txid);
            }
            Case::ProofFromTxHashes { tx_hashes, before_rskip92, rskip92, merkle_root } => {
                let ids = digests(&tx_hashes);
                let work = MiningSolution::from_transactions(&[0; 80], &coinbase, &ids).unwrap();
                assert_eq!(hex::encode(work.merkle_proof(false)), before_rskip92, "{} ids", ids.len());
                assert_eq!(hex::encode(work.merkle_proof(true)), rskip92, "{} ids", ids.len());
                let leaves: Vec<_> = ids.into_iter().map(display).collect();
                assert_eq!(hex::encode(display(root_of(&leaves))), merkle_root);
            }
            Case::ProofFromMerkleHashes { tx_count, merkle_hashes, before_rskip92, rskip92 } => {
                let work =
                    MiningSolution::from_branch(&[0; 80], &coinbase, &digests(&merkle_hashes), tx_count).unwrap();
                assert_eq!(hex::encode(work.merkle_proof(false)), before_rskip92, "{tx_count} transactions");
                assert_eq!(hex::encode(work.merkle_proof(true)), rskip92, "{tx_count} transactions");
            }
        }
    }
}

#[test]
fn a_solved_header_satisfies_the_rule() {
    let spec = ChainSpec::regtest();
    for (number, fork_data) in [(1, None), (300, None), (449, Some([7; 12])), (1000, Some([9; 12]))] {
        for difficulty in [1_u64, 5, 200] {
            let mut header = Header::new(number, &spec);
            header.difficulty = Some(U256::from(difficulty));
            header.timestamp = 1_700_000_000;
            solve(&mut header, fork_data, &spec, 100_000).unwrap();
            assert_eq!(proof_of_work(&header, &spec), Ok(()), "number {number}, difficulty {difficulty}");
            assert_eq!(header.fork_detection_data(), Ok(fork_data));
        }
    }
}
