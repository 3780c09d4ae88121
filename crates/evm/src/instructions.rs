//! The instructions that differ from revm, and the table that combines them with the instructions of revm.

mod accounts;
mod calls;
mod context;
mod create;
mod logs;
mod memory;
mod memory_limit;
mod old_opcodes;
mod own_code;
mod precompiles;
mod return_data;
mod selfdestruct;
mod storage;
mod table;

pub(crate) use accounts::{address_of, precompile_of};
pub(crate) use context::RskInterpreter;
pub(crate) use create::{
    CODE_SIZE_LIMIT, INIT_CODE_COST_PER_WORD, INIT_CODE_SIZE_LIMIT, REJECTED_CODE_PREFIX, deposit_cost,
};
pub(crate) use memory_limit::UNBOUNDED_MEMORY_GAS;
pub(crate) use table::{GAS, Instructions, instructions, is_instruction, stack_use};
