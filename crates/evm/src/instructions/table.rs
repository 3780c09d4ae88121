//! The instruction table under the rules of a block.

use revm::bytecode::opcode::{self, OpCode};
use revm::interpreter::instructions::gas_table;
use revm::interpreter::{GasTable, Instruction, InstructionTable, instruction_table};
use rhizome_primitives::{Rule, Rules};

use super::calls::{self, CALL, CALLCODE, DELEGATECALL, STATICCALL, STATICCALL_WITH_VALUE};
use super::context::RskInterpreter;
use super::{accounts, create, logs, memory_limit, old_opcodes, own_code, return_data, selfdestruct, storage};
use crate::machine::Machine;

const DUPN: u8 = 0xa8;
const SWAPN: u8 = 0xa9;
const TXINDEX: u8 = 0xaa;
/// First byte of a code header. Never executed.
const HEADER: u8 = 0xfc;

/// The instruction table of a block.
pub(crate) type Instructions<'e> = InstructionTable<RskInterpreter, Machine<'e>>;

/// Fixed price of each instruction. It does not depend on the rules, because an inactive instruction spends all gas of
/// the frame.
pub(crate) const GAS: GasTable = static_gas();

const fn static_gas() -> GasTable {
    let mut table = gas_table();
    table[opcode::SLOAD as usize] = 200;
    table[opcode::BALANCE as usize] = 400;
    table[opcode::EXTCODESIZE as usize] = 700;
    table[opcode::EXTCODECOPY as usize] = 700;
    table[opcode::EXTCODEHASH as usize] = 400;
    // These instructions check operands or the frame before they charge gas.
    let mut later = 0;
    while later < CHARGED_LATER.len() {
        table[CHARGED_LATER[later] as usize] = 0;
        later += 1;
    }
    table[DUPN as usize] = 3;
    table[SWAPN as usize] = 3;
    table[TXINDEX as usize] = 2;
    table
}

const CHARGED_LATER: [u8; 13] = [
    opcode::SSTORE,
    opcode::LOG0,
    opcode::LOG1,
    opcode::LOG2,
    opcode::LOG3,
    opcode::LOG4,
    opcode::CREATE,
    opcode::CALL,
    opcode::CALLCODE,
    opcode::DELEGATECALL,
    opcode::CREATE2,
    opcode::STATICCALL,
    opcode::SELFDESTRUCT,
];

/// Instructions of revm that RSK never had.
const NEVER: [u8; 7] = [
    opcode::CLZ,
    opcode::BLOBHASH,
    opcode::BLOBBASEFEE,
    opcode::SLOTNUM,
    opcode::DUPN,
    opcode::SWAPN,
    opcode::EXCHANGE,
];

/// Instructions that a rule activates.
const ACTIVATED: [(u8, Rule); 13] = [
    (opcode::SHL, Rule::Rskip120),
    (opcode::SHR, Rule::Rskip120),
    (opcode::SAR, Rule::Rskip120),
    (opcode::STATICCALL, Rule::Rskip91),
    (opcode::CREATE2, Rule::Rskip125),
    (opcode::EXTCODEHASH, Rule::Rskip140),
    (opcode::CHAINID, Rule::Rskip152),
    (opcode::SELFBALANCE, Rule::Rskip151),
    (opcode::BASEFEE, Rule::Rskip412),
    (opcode::TLOAD, Rule::Rskip446),
    (opcode::TSTORE, Rule::Rskip446),
    (opcode::MCOPY, Rule::Rskip445),
    (opcode::PUSH0, Rule::Rskip398),
];

/// Returns the instruction table under these rules. `has_memory_limit`: for frames with at least
/// [`super::UNBOUNDED_MEMORY_GAS`].
pub(crate) fn instructions<'e>(rules: &Rules, has_memory_limit: bool) -> Instructions<'e> {
    let mut table = instruction_table::<RskInterpreter, Machine<'e>>();
    if has_memory_limit {
        memory_limit::limit_memory(&mut table);
    }
    let mut set = |byte: u8, instruction| table[usize::from(byte)] = instruction;

    set(opcode::SLOAD, Instruction::new(storage::sload));
    set(opcode::SSTORE, Instruction::new(storage::sstore));
    set(opcode::BALANCE, Instruction::new(accounts::balance));
    set(opcode::SELFBALANCE, Instruction::new(accounts::selfbalance));
    set(opcode::EXTCODESIZE, Instruction::new(accounts::extcodesize));
    set(opcode::EXTCODEHASH, Instruction::new(accounts::extcodehash));
    set(opcode::EXTCODECOPY, Instruction::new(accounts::extcodecopy));
    set(opcode::CODESIZE, Instruction::new(own_code::codesize));
    set(opcode::CODECOPY, Instruction::new(own_code::codecopy));
    set(opcode::CALL, Instruction::new(calls::call::<CALL>));
    set(opcode::CALLCODE, Instruction::new(calls::call::<CALLCODE>));
    set(opcode::DELEGATECALL, Instruction::new(calls::call::<DELEGATECALL>));
    set(
        opcode::STATICCALL,
        match rules.is_active(Rule::Rskip103) {
            true => Instruction::new(calls::call::<STATICCALL>),
            false => Instruction::new(calls::call::<STATICCALL_WITH_VALUE>),
        },
    );
    set(opcode::CREATE, Instruction::new(create::create::<false>));
    set(opcode::CREATE2, Instruction::new(create::create::<true>));
    set(opcode::SELFDESTRUCT, Instruction::new(selfdestruct::selfdestruct));
    set(opcode::RETURNDATACOPY, Instruction::new(return_data::returndatacopy));
    set(opcode::LOG0, Instruction::new(logs::log::<0>));
    set(opcode::LOG1, Instruction::new(logs::log::<1>));
    set(opcode::LOG2, Instruction::new(logs::log::<2>));
    set(opcode::LOG3, Instruction::new(logs::log::<3>));
    set(opcode::LOG4, Instruction::new(logs::log::<4>));
    if !rules.is_active(Rule::Rskip191) {
        set(DUPN, Instruction::new(old_opcodes::dupn));
        set(SWAPN, Instruction::new(old_opcodes::swapn));
        set(TXINDEX, Instruction::new(old_opcodes::txindex));
    }
    for byte in NEVER {
        set(byte, Instruction::unknown());
    }
    for (byte, rule) in ACTIVATED {
        if !rules.is_active(rule) {
            set(byte, Instruction::unknown());
        }
    }
    table
}

/// Whether the byte is an instruction under these rules.
pub(crate) fn is_instruction(byte: u8, rules: &Rules) -> bool {
    stack_use(byte).is_some()
        && byte != HEADER
        && ACTIVATED.iter().all(|(activated, rule)| *activated != byte || rules.is_active(*rule))
        && (!matches!(byte, DUPN | SWAPN | TXINDEX) || !rules.is_active(Rule::Rskip191))
}

/// Returns the number of items that an instruction takes from the stack and pushes, active or not. `None` for a byte that
/// never was an instruction.
pub(crate) fn stack_use(byte: u8) -> Option<(usize, usize)> {
    match byte {
        DUPN => Some((2, 2)),
        SWAPN => Some((3, 2)),
        TXINDEX => Some((0, 1)),
        HEADER => Some((0, 0)),
        opcode::INVALID => None,
        byte if NEVER.contains(&byte) => None,
        byte => OpCode::new(byte).map(|code| (code.inputs().into(), code.outputs().into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_depend_on_the_rules() {
        let is_active = |byte, rules| is_instruction(byte, &rules);
        assert!(!is_active(opcode::PUSH0, Rules::none()) && is_active(opcode::PUSH0, Rules::all()));
        assert!(is_active(TXINDEX, Rules::none()) && !is_active(TXINDEX, Rules::all()));
        for byte in NEVER.into_iter().chain([HEADER, opcode::INVALID, 0x0c, 0xef]) {
            assert!(!is_active(byte, Rules::none()) && !is_active(byte, Rules::all()));
        }
        let count = (0..=u8::MAX).filter(|byte| is_active(*byte, Rules::all())).count();
        assert_eq!(count, 146);
    }
}
