//! SELFDESTRUCT: the balance is transferred at once, the account is deleted at the end of the transaction.

use revm::interpreter::InstructionResult;

use super::accounts::address_of;
use super::context::{InstructionOutcome, OpcodeContext, charge};
use crate::machine::OrStop;

const BASE_COST: u64 = 5_000;
/// Charged if the heir does not exist, also if the balance is zero.
const NEW_ACCOUNT_COST: u64 = 25_000;

pub(super) fn selfdestruct(context: OpcodeContext<'_, '_>) -> InstructionOutcome {
    let OpcodeContext { interpreter, host: machine } = context;
    if interpreter.runtime_flag.is_static {
        return Err(InstructionResult::StateChangeDuringStaticCall);
    }
    let Some([heir]) = interpreter.stack.popn() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let heir = address_of(heir);
    let exists = machine.state.exists(heir).or_stop(machine)?;
    charge(interpreter, BASE_COST + if exists { 0 } else { NEW_ACCOUNT_COST })?;
    machine.note_inner(heir);
    let own = interpreter.input.target_address;
    let account = interpreter.extend.account;
    let balance = machine.state.balance_at(account).or_stop(machine)?;
    if !balance.is_zero() {
        machine.frame_records.count(interpreter.input.depth);
        machine.state.add_balance_at(account, -balance).or_stop(machine)?;
        if heir != own {
            machine.state.add_balance(heir, balance).or_stop(machine)?;
        }
    }
    machine.deletions.push(own);
    Err(InstructionResult::SelfDestruct)
}
