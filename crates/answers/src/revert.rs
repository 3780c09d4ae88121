//! Errors of failed executions.

use crate::error::{ErrorCode, RpcError};
use rhizome_evm::HaltReason;
use rhizome_primitives::{Bytes, U256};

const PREFIX: &str = "VM Exception while processing transaction: ";
/// `Error(string)`.
const REASON_SELECTOR: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];

/// The error of an execution that reverted with these bytes.
pub(crate) fn reverted(output: Bytes) -> RpcError {
    let message = match reason(&output) {
        Some(reason) => format!("{PREFIX}revert {reason}"),
        None => format!("{PREFIX}transaction reverted"),
    };
    RpcError { data: Some(output), ..RpcError::new(ErrorCode::Reverted, message) }
}

/// The error of a mined transaction that halted: there are no return bytes.
pub(crate) fn halted_when_mined() -> RpcError {
    RpcError::new(ErrorCode::Reverted, format!("{PREFIX}transaction reverted"))
}

/// Returns the error of a halted call, for options that report it.
pub(crate) fn halted(reason: HaltReason) -> RpcError {
    RpcError::new(ErrorCode::Reverted, format!("{PREFIX}{}", name(reason)))
}

/// The halt in the words that other nodes use.
pub(crate) fn name(reason: HaltReason) -> &'static str {
    match reason {
        HaltReason::OutOfGas | HaltReason::GasOverflow | HaltReason::PrecompileUnpaid => "out of gas",
        HaltReason::InvalidInstruction => "invalid opcode",
        HaltReason::BadJump => "invalid jump destination",
        HaltReason::StackUnderflow => "stack underflow",
        HaltReason::StackOverflow => "stack overflow",
        HaltReason::StaticViolation => "write protection",
        HaltReason::ReturnDataBounds => "return data out of bounds",
        HaltReason::CodeHeader => "invalid code header",
        HaltReason::CodeSize => "max code size exceeded",
        HaltReason::InitCodeSize => "max initcode size exceeded",
        HaltReason::CodePrefix => "invalid code: must not begin with 0xef",
        HaltReason::PrecompileFailed => "precompiled contract failed",
        HaltReason::Silent => "execution halted",
    }
}

/// The text of an ABI-encoded `Error(string)`.
pub(crate) fn reason(output: &[u8]) -> Option<String> {
    let arguments = output.strip_prefix(&REASON_SELECTOR)?;
    let offset = word(arguments, 0)?;
    let length = word(arguments, offset)?;
    let start = offset.checked_add(32)?;
    let text = arguments.get(start..start.checked_add(length)?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(32)?)?;
    usize::try_from(U256::from_be_slice(word)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::hex;

    fn explained(output: &str) -> (String, usize) {
        let error = reverted(hex::decode(output).unwrap().into());
        (error.message, error.data.unwrap().len())
    }

    #[test]
    fn reasons_are_decoded() {
        let encoded = format!("08c379a0{:0>64}{:0>64}{:0<64}", "20", "7", hex::encode("unlucky"));
        assert_eq!(explained(&encoded), (format!("{PREFIX}revert unlucky"), 100));
    }

    #[test]
    fn everything_else_is_plain() {
        let far = format!("08c379a0{}", "ff".repeat(32));
        let long = format!("08c379a0{:0>64}{:0>64}", "20", "7");
        for output in ["", "abcdef", "2bbdbc26", "08c379a0", &far, &long] {
            assert_eq!(explained(output), (format!("{PREFIX}transaction reverted"), output.len() / 2));
        }
        assert_eq!(halted_when_mined().data, None);
    }
}
