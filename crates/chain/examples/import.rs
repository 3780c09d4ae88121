//! Imports a file of blocks into an empty chain and says how fast that was.
//!
//! `cargo run --release -p rhizome-chain --example import -- SPEC.json.gz BLOCKS.txt.gz [COUNT [DIRECTORY]]`

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use flate2::read::GzDecoder;
use rhizome_chain::{Chain, ChainConfig, DataDir};
use rhizome_primitives::ChainSpec;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [spec, blocks, rest @ ..] = arguments.as_slice() else {
        return Err("usage: import SPEC.json[.gz] BLOCKS.txt[.gz] [COUNT [DIRECTORY]]".into());
    };
    let count = rest.first().map_or(Ok(u64::MAX), |count| count.parse())?;
    let data_dir = rest.get(1).map_or(DataDir::Temporary, |dir| DataDir::Path(dir.into()));
    let mut text = String::new();
    open(spec)?.read_to_string(&mut text)?;
    let chain = Chain::open(ChainConfig::new(Arc::new(ChainSpec::from_json(&text)?), data_dir))?;
    let (mut transactions, mut gas) = (0, 0);
    let start = Instant::now();
    let lines = chain.import_blocks(open(blocks)?, |line| {
        transactions += line.transactions;
        gas += line.gas_used;
        if line.line >= count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let seconds = start.elapsed().as_secs_f64();
    let imported = match &lines {
        Ok(lines) => *lines,
        Err(error) => {
            eprintln!("{error}");
            error.line - 1
        }
    };
    let rate = |amount: f64| amount / seconds;
    println!(
        "{imported} blocks, {transactions} transactions, {:.1} Mgas in {seconds:.2} s: {:.0} blocks/s, {:.0} transactions/s, {:.0} Mgas/s",
        gas as f64 / 1e6,
        rate(imported as f64),
        rate(transactions as f64),
        rate(gas as f64 / 1e6),
    );
    println!("head {} {}, {} bytes on disk", chain.head().number(), chain.head().hash(), chain.disk_bytes()?.total());
    Ok(())
}

fn open(path: &str) -> Result<Box<dyn BufRead>, Box<dyn Error>> {
    let file = File::open(path)?;
    let is_compressed = Path::new(path).extension().is_some_and(|extension| extension == "gz");
    Ok(if is_compressed { Box::new(BufReader::new(GzDecoder::new(file))) } else { Box::new(BufReader::new(file)) })
}
