//! Execution: the state during a block, the virtual machine with the rules of every upgrade, transactions, blocks, local
//! calls, built-in contracts and the fee distribution.
//!
//! The interpreter of revm runs single instructions; everything that this chain does differently (gas of calls, creation,
//! storage prices, existence of accounts, built-in contracts) is here.
//!
//! Must not: store anything, read a clock other than a caller's deadline, produce JSON, guess what a missing part of the Bridge
//! would do.
//!
//! Start reading at `block` (a block), then `transaction` (one transaction), `frame` (frames of the machine),
//! `instructions` (what differs) and `state` (accounts and cells with their undo log).

pub mod block;
pub mod block_env;
mod budget;
pub mod call;
mod code;
pub mod deadline;
pub mod error;
mod evm;
#[cfg(test)]
mod fixtures;
mod frame;
mod gates;
mod halt;
mod instructions;
mod machine;
mod maps;
pub mod observe;
pub mod overrides;
pub mod precompiles;
pub mod replay;
pub mod state;
pub mod sublists;
mod tracer;
pub mod transaction;
mod turn;

pub use block::{BlockExecutor, BlockOutcome};
pub use block_env::{AncestorBlock, Ancestry, AncestryError, BlockEnv};
pub use call::{CallOutcome, CallRequest, call, call_with, inspect_call};
pub use deadline::Deadline;
pub use error::{ExecError, TransactionRefusal, Unexecutable};
pub use frame::End;
pub use halt::HaltReason;
pub use overrides::{AccountOverride, OverrideRefusal, StateOverrides};
pub use replay::{BlockReplay, ReplayLog, ReplayedBlock};
pub use state::{AccessSet, AccountId, Checkpoint, State};
pub use sublists::execute_block;
pub use transaction::{Container, FeePayment, TransactionOutcome, basic_cost};
pub use turn::stand_back;
