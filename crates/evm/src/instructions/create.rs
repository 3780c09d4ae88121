//! CREATE and CREATE2 up to the frame that runs the init code.

use revm::interpreter::{Host, InstructionResult, num_words};
use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{B256, Bytes, U256, keccak256};

use super::calls::move_value;
use super::context::{InstructionOutcome, OpcodeContext, charge, covers, push};
use super::memory::{expand, expansion_cost, range_end};
use crate::frame_request::{CreateFrameRequest, FrameRequest};
use crate::internal_transactions::{InternalData, InternalTransaction};
use crate::machine::OrStop;

/// Largest size of contract code, in bytes (EIP-170).
pub(crate) const CODE_SIZE_LIMIT: usize = 24_576;
/// Largest size of init code, in bytes (RSKIP-438).
pub(crate) const INIT_CODE_SIZE_LIMIT: usize = 49_152;
/// First byte that new code must not have (RSKIP-544).
pub(crate) const REJECTED_CODE_PREFIX: u8 = 0xef;

const CREATE_COST: u64 = 32_000;
const HASH_COST_PER_WORD: u64 = 6;
/// Price per word of init code (RSKIP-438).
pub(crate) const INIT_CODE_COST_PER_WORD: u64 = 2;
const DEPOSIT_COST_PER_BYTE: u64 = 200;

/// Returns the price of storing code of this size in bytes.
pub(crate) fn deposit_cost(length: usize) -> u64 {
    DEPOSIT_COST_PER_BYTE.saturating_mul(length as u64)
}

pub(super) fn create<const IS_CREATE2: bool>(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    if interpreter.runtime_flag.is_static {
        return Err(InstructionResult::StateChangeDuringStaticCall);
    }
    let (value, offset, size, salt) = if IS_CREATE2 {
        let [value, offset, size, salt] = interpreter.stack.popn().ok_or(InstructionResult::StackUnderflow)?;
        (value, offset, size, salt)
    } else {
        let [value, offset, size] = interpreter.stack.popn().ok_or(InstructionResult::StackUnderflow)?;
        (value, offset, size, U256::ZERO)
    };
    let end = range_end(offset, size)?;
    let size: usize = size.saturating_to();
    let words = num_words(size) as u64;
    let mut cost = CREATE_COST + expansion_cost(interpreter, machine.gas_params(), end);
    if IS_CREATE2 {
        cost += HASH_COST_PER_WORD * words;
    }
    if machine.active_rules.has_init_code_rules {
        cost += INIT_CODE_COST_PER_WORD * words;
    }
    charge(interpreter, cost)?;
    interpreter.extend.kept_gas = interpreter.gas.remaining();
    expand(interpreter, machine.gas_params(), end);
    if machine.active_rules.has_init_code_rules && size > INIT_CODE_SIZE_LIMIT {
        return Err(InstructionResult::CreateInitCodeSizeLimit);
    }
    let creator = interpreter.input.target_address;
    let creator_account = interpreter.extend.account;
    let nonce = machine.state.nonce(creator).or_stop(machine)?;
    if interpreter.input.depth >= machine.active_rules.depth_limit as usize {
        return push(interpreter, U256::ZERO);
    }
    let balance = machine.state.balance_at(creator_account).or_stop(machine)?;
    if !covers(balance, value) {
        return push(interpreter, U256::ZERO);
    }
    let code = match size {
        0 => Bytes::new(),
        _ => Bytes::copy_from_slice(&interpreter.memory.slice_range(end - size..end)),
    };
    let address = if IS_CREATE2 {
        creator.create2(B256::from(salt), keccak256(&code))
    } else {
        created_address(&creator, &nonce)
    };
    // The init code receives all gas. A collision spends it.
    let gas = interpreter.gas.remaining();
    interpreter.gas.spend_all();
    interpreter.extend.peak_gas = interpreter.gas.limit();
    machine.state.increase_nonce(creator).or_stop(machine)?;

    let checkpoint = machine.state.checkpoint();
    let account = machine.state.locate(address.into());
    // Read before the deletions are asked: the outcome depends on them, so that a miner must see an access of the account.
    let exists = machine.state.exists_at(account).or_stop(machine)?;
    if machine.active_rules.has_collisions && machine.origin.deleted_before.contains(&address) {
        return push(interpreter, U256::ZERO);
    }
    if exists {
        let has_code = machine.state.code_length(address).or_stop(machine)? != 0;
        let has_nonce = !machine.state.nonce(address).or_stop(machine)?.is_zero();
        if machine.active_rules.has_collisions && (has_code || has_nonce) {
            return push(interpreter, U256::ZERO);
        }
        machine.state.create_account_with_balance(address).or_stop(machine)?;
    } else {
        machine.state.create_account(address).or_stop(machine)?;
    }
    machine.state.setup_contract(address).or_stop(machine)?;
    if machine.active_rules.has_collisions {
        machine.state.increase_nonce(address).or_stop(machine)?;
    }
    move_value(machine, creator_account, account, value)?;
    machine.note_inner(address);
    let data = InternalData::InitCode(code.clone());
    let internal = InternalTransaction { sender: creator, nonce, receiver: None, value, data };
    machine.frame_records.enter(interpreter.input.depth, internal);
    machine.frame_request =
        Some(FrameRequest::Create(CreateFrameRequest { code, address, account, creator, value, gas, checkpoint }));
    Err(InstructionResult::Suspend)
}
