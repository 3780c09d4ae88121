//! Arbitrary bytes in place of transactions and scripts: bounded work, and never a panic.

use std::time::{Duration, Instant};

use rhizome_bitcoin::partial_tree::PartialTree;
use rhizome_bitcoin::script::p2sh_script;
use rhizome_bitcoin::{
    BitcoinTransaction, OutPoint, TransactionInput, TransactionOutput, hash160, output_kind, parse_script, push_data,
    spends_correctly,
};

use crate::corpus::fuzz_corpus;
use crate::mutation::Random;

/// Largest time of the checks of one transaction, also on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Uses a transaction in every way. Its serialization must lead to the same transaction.
fn use_transaction(transaction: &BitcoinTransaction) {
    let bytes = transaction.serialize();
    assert_eq!(bytes.len(), transaction.size());
    if !transaction.inputs.is_empty() {
        assert_eq!(BitcoinTransaction::parse(&bytes), Ok(transaction.clone()));
        assert_eq!(transaction.txid() == transaction.wtxid(), !transaction.has_witness());
    }
    let _ = BitcoinTransaction::parse_verified(&bytes);
    let inputs = transaction.inputs.len();
    for (index, input) in transaction.inputs.iter().enumerate().take(4) {
        assert!(transaction.legacy_signature_hash(index, &input.script).is_ok());
        assert!(transaction.segwit_signature_hash(index, &input.script, 1).is_ok());
        let _ = parse_script(&input.script);
        for script in transaction.outputs.iter().take(4).map(|output| &output.script) {
            assert!(spends_correctly(transaction, index, script).is_ok());
        }
    }
    assert!(spends_correctly(transaction, inputs, &[]).is_err());
    transaction.outputs.iter().for_each(|output| _ = output_kind(&output.script));
}

fn spend(redeem_script: &[u8], random: &mut Random) -> BitcoinTransaction {
    let mut script = Vec::new();
    for _ in 0..random.below(4) {
        push_data(&mut script, &random.bytes(74));
    }
    push_data(&mut script, redeem_script);
    let outpoint = OutPoint { txid: [7; 32], index: random.below(3) as u32 };
    let sequence = random.next() as u32;
    BitcoinTransaction {
        version: 2,
        inputs: vec![TransactionInput { outpoint, script, sequence, witness: Vec::new() }],
        outputs: vec![TransactionOutput { satoshis: 5, script: vec![0x6a] }],
        lock_time: 0,
    }
}

#[test]
fn fuzz_corpus_bitcoin_transaction() {
    fuzz_corpus("bitcoin-transaction", 20, &[], |bytes, _random| {
        let _ = PartialTree::parse(bytes);
        if let Ok(transaction) = BitcoinTransaction::parse(bytes) {
            use_transaction(&transaction);
        }
    });
}

#[test]
fn fuzz_corpus_bitcoin_script() {
    fuzz_corpus("bitcoin-script", 20, &[], |script, random| {
        let size = parse_script(script).map_or(0, |chunks| chunks.len());
        assert!(size <= script.len());
        let _ = output_kind(script);
        assert!(spends_correctly(&spend(script, random), 0, &p2sh_script(&hash160(script))).is_ok());
    });
}

#[test]
fn large_transactions_take_bounded_time() {
    let start = Instant::now();
    let mut transaction = spend(&[0x51; 500], &mut Random::new(3));
    transaction.outputs = vec![TransactionOutput { satoshis: 1, script: p2sh_script(&[9; 20]) }; 10_000];
    transaction.inputs[0].script = vec![0; 10_000];
    use_transaction(&transaction);
    transaction.inputs = (0..10_000)
        .map(|index| TransactionInput {
            outpoint: OutPoint { txid: [7; 32], index },
            script: vec![1, 1],
            sequence: 0,
            witness: vec![vec![]; 3],
        })
        .collect();
    use_transaction(&transaction);
    // A script of 10,000 multisig operations, each without keys.
    let script = [0, 0, 0, 0xae].repeat(2_500);
    assert_eq!(spends_correctly(&spend(&script, &mut Random::new(3)), 0, &p2sh_script(&hash160(&script))), Ok(false));
    assert!(start.elapsed() < TIME_LIMIT);
}
