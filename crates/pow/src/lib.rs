//! Header rules: proof of work and merged mining, difficulty, times, gas limit and price bounds, uncles, fork
//! detection data, and the choice between two tips.
//!
//! Pure functions without state, storage or clock: the current time is an argument. Rules that need other blocks read
//! them through [`BlockLookup`]. Must not: execute a transaction or know an account.
//!
//! Start reading at [`merged_mining::proof_of_work`], then [`header_rules::check_header`] and [`uncles::check_uncles`].

pub mod best_block;
pub mod block_lookup;
pub mod difficulty;
mod fallback;
pub mod fork_detection;
pub mod header_rules;
pub mod merged_mining;
pub mod mining_solution;
pub mod sublists;
pub mod timestamps;
pub mod uncles;

pub use best_block::{Tip, is_better};
pub use block_lookup::{BlockLookup, LookUpError};
pub use difficulty::difficulty;
pub use fallback::FallbackError;
pub use fork_detection::{ForkDetectionError, check_fork_detection, fork_detection_data};
pub use header_rules::{HeaderRuleError, check_header};
pub use merged_mining::{PowError, proof_of_work};
pub use mining_solution::{MiningSolution, MiningSolutionError, SolveError, solve, target};
pub use uncles::{UncleRuleError, UncleWindow, check_candidate, check_uncles};
