//! Sends requests over many connections and compares every answer, byte for byte, with the expected answer. Or subscribes on
//! many connections and compares the notifications.
//!
//! One thread: on a small machine the generator competes with the server, so it must be cheap. Start reading at `run.rs`
//! (requests) or `subscribers.rs`; `plan.rs` has the requests, `protocol.rs` the interface of HTTP and WebSocket, `report.rs`
//! the result.

mod channel;
mod connection;
mod head;
mod http;
mod options;
mod plan;
mod protocol;
mod report;
mod run;
mod subscribers;
mod websocket;

use options::Work;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let options = options::read(std::env::args().skip(1))?;
    match &options.work {
        Work::Plan(file) => {
            let plan = plan::read(&std::fs::read(file)?, &options.protocol)?;
            println!("{}", run::run(&options, &plan)?);
        }
        Work::Subscribe => subscribers::run(&options, std::io::stdin().lock(), std::io::stdout().lock())?,
    }
    Ok(())
}
