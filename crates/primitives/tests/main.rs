//! Golden vectors and random inputs.

#![allow(clippy::unwrap_used)]

mod activations;
mod blocks;
mod chain_specs;
mod corpus;
mod headers;
mod mutation;
mod random;
mod receipts;
mod rlp;
mod transactions;
mod vectors;
