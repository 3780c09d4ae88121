//! The rules that instructions need, resolved once per block.

use rhizome_primitives::{Rule, Rules};

/// Largest depth of a frame before RSKIP-150.
const OLD_DEPTH_LIMIT: u32 = 1024;
/// Largest depth of a frame from RSKIP-150 on.
const DEPTH_LIMIT: u32 = 400;

/// The rules of a block as flags and limits of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActiveRules {
    /// A frame at this depth must not start another frame.
    pub(crate) depth_limit: u32,
    /// RSKIP-88: contracts may call the Bridge.
    pub(crate) may_call_bridge: bool,
    /// RSKIP-90: return data and EXTCODESIZE of precompiles.
    pub(crate) has_precompile_return_data: bool,
    /// RSKIP-125: CREATE2, address collisions, nonce 1 of new contracts.
    pub(crate) has_collisions: bool,
    /// RSKIP-150: requested gas saturates, output of precompiles is truncated.
    pub(crate) has_bounded_calls: bool,
    /// RSKIP-169: code hash of contracts without code.
    pub(crate) has_standard_code_hash: bool,
    /// RSKIP-171: calls without a frame clear the return buffer.
    pub(crate) clears_return_buffer: bool,
    /// Until RSKIP-191: DUPN, SWAPN, TXINDEX.
    pub(crate) has_old_opcodes: bool,
    /// RSKIP-197: a failed precompile fails the call, not the calling frame.
    pub(crate) has_precompile_failures: bool,
    /// RSKIP-438: limit and price of init code.
    pub(crate) has_init_code_rules: bool,
    /// RSKIP-453: a failed creation is reverted.
    pub(crate) reverts_failed_creations: bool,
    /// RSKIP-516: input of some precompiles is truncated.
    pub(crate) truncates_precompile_input: bool,
    /// RSKIP-544: code that starts with 0xEF is rejected.
    pub(crate) rejects_code_prefix: bool,
}

impl ActiveRules {
    pub(crate) fn new(rules: &Rules) -> ActiveRules {
        let has = |rule| rules.is_active(rule);
        ActiveRules {
            depth_limit: if has(Rule::Rskip150) { DEPTH_LIMIT } else { OLD_DEPTH_LIMIT },
            may_call_bridge: has(Rule::Rskip88),
            has_precompile_return_data: has(Rule::Rskip90),
            has_collisions: has(Rule::Rskip125),
            has_bounded_calls: has(Rule::Rskip150),
            has_standard_code_hash: has(Rule::Rskip169),
            clears_return_buffer: has(Rule::Rskip171),
            has_old_opcodes: !has(Rule::Rskip191),
            has_precompile_failures: has(Rule::Rskip197),
            has_init_code_rules: has(Rule::Rskip438),
            reverts_failed_creations: has(Rule::Rskip453),
            truncates_precompile_input: has(Rule::Rskip516),
            rejects_code_prefix: has(Rule::Rskip544),
        }
    }
}
