//! Requests of instructions for a new frame.

use std::ops::Range;

use rhizome_primitives::{Address, Bytes, U256};

use crate::code::ExecutableCode;
use crate::state::{AccountIndex, Checkpoint};

/// A frame that an instruction has requested.
pub(crate) enum FrameRequest {
    Call(CallFrameRequest),
    Create(CreateFrameRequest),
}

/// A call of code whose gas was charged and whose value was transferred.
pub(crate) struct CallFrameRequest {
    pub(crate) code: ExecutableCode,
    pub(crate) code_address: Address,
    pub(crate) address: Address,
    pub(crate) account: AccountIndex,
    pub(crate) caller: Address,
    pub(crate) value: U256,
    /// Range of the memory that all frames share.
    pub(crate) input: Range<usize>,
    /// Range of the caller's memory.
    pub(crate) output: Range<usize>,
    pub(crate) gas: u64,
    pub(crate) is_static: bool,
    /// Taken before the transfer of the value.
    pub(crate) checkpoint: Checkpoint,
}

/// A creation whose gas was charged, whose account was created and whose value was transferred.
pub(crate) struct CreateFrameRequest {
    pub(crate) code: Bytes,
    pub(crate) address: Address,
    pub(crate) account: AccountIndex,
    pub(crate) creator: Address,
    pub(crate) value: U256,
    pub(crate) gas: u64,
    /// Taken before the creation of the account.
    pub(crate) checkpoint: Checkpoint,
}
