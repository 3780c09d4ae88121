//! Simulation of blocks of calls on top of a block of the chain. The results are not stored.
//!
//! `request` parses the request, `blocks` arranges the blocks, `run` executes them, `transfers` records value transfers.

mod blocks;
mod request;
mod run;
mod transfers;

pub use request::Simulation;
pub(crate) use run::{SimulatedBlock, run};
