//! Measures the import of a heavier branch against the import of the same blocks into an empty chain, and the time from a
//! transaction to its block.
//!
//! `cargo run --release -p rhizome-chain --example branch -- [HEAD [BRANCH]]`

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use rhizome_chain::{Chain, ChainConfig, ChainError, DataDir, MineError, PoolOptions, PoolRejection};
use rhizome_primitives::{Address, Bytes, ChainSpec, Transaction, U256, UnsignedTransaction, keccak256};

const NOW: u64 = 1_700_000_000;

#[derive(Debug, thiserror::Error)]
enum SendError {
    #[error(transparent)]
    Pool(#[from] PoolRejection),
    #[error(transparent)]
    Mine(Box<MineError>),
    #[error(transparent)]
    Chain(#[from] ChainError),
}

impl From<MineError> for SendError {
    fn from(error: MineError) -> Self {
        Self::Mine(Box::new(error))
    }
}

fn open(name: &'static str) -> Result<Arc<Chain>, Box<dyn Error>> {
    let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
    config.extra_data = Bytes::from_static(name.as_bytes());
    config.pool = PoolOptions { has_rate_limiter: false, ..PoolOptions::default() };
    Ok(Chain::open(config)?)
}

fn transfer(nonce: u64) -> Result<Transaction, Box<dyn Error>> {
    let unsigned = UnsignedTransaction {
        nonce: U256::from(nonce),
        gas_price: U256::from(1),
        gas_limit: 21_000,
        to: Some(Address::repeat_byte(0x77)),
        value: U256::from(1),
        data: Bytes::new(),
    };
    Ok(Transaction::sign(unsigned, 33, &keccak256("cow"))?)
}

fn mined(name: &'static str, count: u64) -> Result<Vec<u8>, Box<dyn Error>> {
    let chain = open(name)?;
    let mut times = Vec::new();
    for nonce in 0..count {
        let transaction = transfer(nonce)?;
        let start = Instant::now();
        chain.submit_and_mine(NOW, 1, |chain| Ok::<_, SendError>(chain.submit(transaction)?))?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    if let (Some(low), Some(middle)) = (times.get(times.len() / 10), times.get(times.len() / 2)) {
        println!("{name}: sent and mined in {low:?} (10 %), {middle:?} (median)");
    }
    let mut file = Vec::new();
    chain.export_blocks(1, u64::MAX, &mut file, |_| ControlFlow::Continue(()))?;
    Ok(file)
}

fn import(chain: &Chain, file: &[u8]) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    chain.import_blocks(file, |_| ControlFlow::Continue(()))?;
    Ok(start.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let head = arguments.next().unwrap_or(Ok(5_199))?;
    let branch = arguments.next().unwrap_or(Ok(5_299))?;
    let (of_head, of_branch) = (mined("head", head)?, mined("branch", branch)?);
    let straight = import(&*open("")?, &of_branch)?;
    let chain = open("")?;
    import(&chain, &of_head)?;
    let over = import(&chain, &of_branch)?;
    println!("{branch} blocks: {straight:.2} s into an empty chain, {over:.2} s over a head at {head}");
    println!("head {} {}", chain.head().number(), chain.head().hash());
    Ok(())
}
