//! Answers against recorded transcripts of the reference node.

#![allow(clippy::unwrap_used)]

mod automine;
mod development;
mod dispatch;
mod estimates;
mod mining;
mod node;
mod reads;
mod scenario;
mod transcript;
