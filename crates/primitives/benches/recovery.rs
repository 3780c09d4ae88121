//! Sender recovery one by one and in batches, in microseconds for each transaction including its hash; the best of
//! several rounds: `cargo bench -p rhizome-primitives --bench recovery --profile release`.

use rhizome_primitives::{Bytes, DecodeError, SignatureError, Transaction, U256, UnsignedTransaction, keccak256};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

// Short rounds, so that some of them run on an otherwise idle processor.
const ROUNDS: usize = 300;
const TRANSACTIONS: usize = 96;

fn main() -> Result<(), Box<dyn Error>> {
    let transactions: Vec<Transaction> = (0..TRANSACTIONS).map(signed).collect::<Result<_, _>>()?;
    let alone = |all: &[Transaction]| all.iter().map(Transaction::recover_sender).count();
    println!("one by one: {:.2} us", best(&transactions, alone)?);
    for size in [2, 4, 8, 16, 32, 96] {
        let many = |all: &[Transaction]| all.chunks(size).map(Transaction::recover_senders).count();
        println!("{size} at once: {:.2} us", best(&transactions, many)?);
    }
    Ok(())
}

fn best(transactions: &[Transaction], recover: impl Fn(&[Transaction]) -> usize) -> Result<f64, DecodeError> {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        // Senders are cached in the transaction, so each round needs fresh ones.
        let fresh: Vec<Transaction> =
            transactions.iter().map(|known| Transaction::decode(known.encoded())).collect::<Result<_, _>>()?;
        let began = Instant::now();
        black_box(recover(black_box(&fresh)));
        best = best.min(began.elapsed().as_secs_f64() * 1e6 / fresh.len() as f64);
    }
    Ok(best)
}

fn signed(index: usize) -> Result<Transaction, SignatureError> {
    let unsigned = UnsignedTransaction {
        nonce: U256::from(index),
        gas_price: U256::from(60_000_000),
        gas_limit: 21_000,
        to: None,
        value: U256::from(1),
        data: Bytes::new(),
    };
    Transaction::sign(unsigned, 33, &keccak256(index.to_be_bytes()))
}
