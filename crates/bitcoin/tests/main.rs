//! Bitcoin objects: recorded results of the reference, and arbitrary bytes.

#![allow(clippy::unwrap_used)]

#[path = "../../primitives/tests/corpus.rs"]
mod corpus;
#[path = "../../primitives/tests/mutation.rs"]
mod mutation;

mod fuzz;
mod objects;
