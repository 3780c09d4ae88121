//! Header rules: proof of work and merged mining, difficulty, times, gas limit and price bounds, uncles, fork
//! detection data, the choice between two tips.
//!
//! Pure functions: no state, no storage and no clock (the time of judging is an argument). Rules that need other
//! blocks ask for them through [`Ancestry`]; nothing here executes a transaction or knows an account.
//!
//! Start reading at [`merged_mining::proof_of_work`], then [`header_rules::check_header`] and [`uncles::check_uncles`].

pub mod ancestry;
pub mod best_block;
pub mod difficulty;
mod fallback;
pub mod fork_detection;
pub mod header_rules;
pub mod merged_mining;
pub mod sublists;
pub mod timestamps;
pub mod uncles;
pub mod work;

pub use ancestry::{Ancestry, LookUpError};
pub use best_block::{Tip, is_better};
pub use difficulty::difficulty;
pub use fallback::FallbackError;
pub use fork_detection::{ForkDetectionError, check_fork_detection, fork_detection_data};
pub use header_rules::{HeaderRuleError, check_header};
pub use merged_mining::{PowError, proof_of_work};
pub use uncles::{Family, UncleRuleError, check_candidate, check_uncles};
pub use work::{MiningSolution, MiningSolutionError, SolveError, solve, target};
