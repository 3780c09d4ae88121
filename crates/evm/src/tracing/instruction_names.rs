//! Names of instructions.

use revm::bytecode::opcode::{self, OpCode};

use crate::instructions::stack_use;

/// Returns the name of an instruction in the reference, active or not; `None` if the byte is no instruction.
pub fn instruction_name(byte: u8) -> Option<&'static str> {
    stack_use(byte)?;
    Some(match byte {
        0xa8 => "DUPN",
        0xa9 => "SWAPN",
        0xaa => "TXINDEX",
        0xfc => "HEADER",
        opcode::KECCAK256 => "SHA3",
        opcode::SELFDESTRUCT => "SUICIDE",
        opcode::DIFFICULTY => "DIFFICULTY",
        byte => OpCode::new(byte)?.as_str(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_old_names_of_the_reference() {
        let names = [0x01, 0x20, 0x44, 0xfc, 0xff, 0xa8, 0x5f].map(instruction_name);
        let old = ["ADD", "SHA3", "DIFFICULTY", "HEADER", "SUICIDE", "DUPN", "PUSH0"].map(Some);
        assert_eq!(names, old);
        assert_eq!([0x0c, 0xfe, 0xef].map(instruction_name), [None; 3]);
    }
}
