//! Execution: the state during a block, the virtual machine with the rules of every upgrade, transactions, blocks, local
//! calls, precompiles and the fee distribution.
//!
//! The interpreter of revm runs single instructions. The rules in which RSK differs from Ethereum (gas of calls, creation,
//! storage prices, existence of accounts, precompiles) are here.
//!
//! Must not: store anything, read a clock other than that of a deadline, produce JSON.
//!
//! Start reading at `block` (a block), then `transaction` (one transaction), `frame` (frames of the machine),
//! `instructions` (instructions that differ from revm) and `state` (accounts and storage slots with their undo log).

mod active_rules;
pub mod block;
pub mod block_env;
pub mod call;
mod code;
pub mod deadline;
pub mod error;
mod evm;
#[cfg(test)]
mod fixtures;
mod frame;
mod frame_request;
mod halt;
mod hash_maps;
mod inline_budget;
mod instructions;
mod internal_transactions;
mod machine;
pub mod overrides;
pub mod precompiles;
pub mod replay;
pub mod state;
pub mod sublists;
pub mod tracing;
pub mod transaction;
mod yielding;

pub use block::{BlockExecutor, BlockOutcome};
pub use block_env::{AncestorBlock, Ancestry, AncestryError, BlockEnv, BridgeAnswers};
pub use call::{CallOutcome, CallRequest, CallSequence, call, call_with};
pub use deadline::Deadline;
pub use error::{ExecError, OverrideRefusal, TransactionRefusal, Unexecutable};
pub use frame::End;
pub use halt::HaltReason;
pub use overrides::{AccountOverride, StateOverrides};
pub use replay::{BlockReplay, ReplayLog, ReplayedBlock};
pub use state::{AccessSet, AccountId, Checkpoint, ListedSlot, State};
pub use sublists::{execute_block, execute_block_with_inner_accounts};
pub use transaction::{FeePayment, SublistState, TransactionOutcome, charged_intrinsic_gas};
pub use yielding::yield_periodically;
