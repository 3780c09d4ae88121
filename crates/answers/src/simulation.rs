//! Blocks of calls on top of a block of the chain, of which nothing is kept.
//!
//! `request` says what is asked for, `blocks` lays the blocks out, `run` executes them, `transfers` watches coins move.

mod blocks;
mod request;
mod run;
mod transfers;

pub use request::Simulation;
pub(crate) use run::{SimulatedBlock, run};
