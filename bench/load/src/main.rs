//! Sends requests over many connections and compares every answer, byte for byte, with the expected one.
//!
//! One thread: on a small machine the generator competes with what it measures, so it has to be cheap. Start reading in
//! `run.rs`; `plan.rs` says what is sent, `answer.rs` reads what comes back, `report.rs` sums up.

mod answer;
mod connection;
mod options;
mod plan;
mod report;
mod run;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let options = options::read(std::env::args().skip(1))?;
    let plan = plan::read(&std::fs::read(&options.plan)?, &options.host)?;
    println!("{}", run::run(&options, &plan)?);
    Ok(())
}
