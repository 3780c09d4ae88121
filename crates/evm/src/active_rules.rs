//! The rules that the machine asks for often, resolved once per block.

use rhizome_primitives::{Rule, Rules};

/// Depth of the deepest frame before RSKIP-150.
const OLD_DEPTH_LIMIT: u32 = 1024;
/// Depth of the deepest frame with RSKIP-150.
const DEPTH_LIMIT: u32 = 400;

/// What the rules of a block mean for the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActiveRules {
    /// A frame of this depth starts no other one.
    pub(crate) depth_limit: u32,
    /// RSKIP-88: contracts may call the Bridge.
    pub(crate) may_call_bridge: bool,
    /// RSKIP-90: return data and EXTCODESIZE of built-in contracts.
    pub(crate) has_contract_return_data: bool,
    /// RSKIP-125: CREATE2, collisions, nonce 1.
    pub(crate) has_collisions: bool,
    /// RSKIP-150: requested gas saturates, output of built-in contracts is cut.
    pub(crate) has_bounded_calls: bool,
    /// RSKIP-169: code hash of contracts without code.
    pub(crate) has_standard_code_hash: bool,
    /// RSKIP-171: calls without a frame empty the return buffer.
    pub(crate) cleans_return_buffer: bool,
    /// Until RSKIP-191: DUPN, SWAPN, TXINDEX.
    pub(crate) has_old_opcodes: bool,
    /// RSKIP-197: failures of built-in contracts fail the call only.
    pub(crate) has_contract_failures: bool,
    /// RSKIP-438: limit and price of init code.
    pub(crate) has_init_code_rules: bool,
    /// RSKIP-453: failed creations leave nothing.
    pub(crate) undoes_failed_creations: bool,
    /// RSKIP-516: input of some built-in contracts is cut.
    pub(crate) cuts_contract_input: bool,
    /// RSKIP-544: code that starts with 0xEF is refused.
    pub(crate) refuses_code_prefix: bool,
}

impl ActiveRules {
    pub(crate) fn new(rules: &Rules) -> ActiveRules {
        let has = |rule| rules.is_active(rule);
        ActiveRules {
            depth_limit: if has(Rule::Rskip150) { DEPTH_LIMIT } else { OLD_DEPTH_LIMIT },
            may_call_bridge: has(Rule::Rskip88),
            has_contract_return_data: has(Rule::Rskip90),
            has_collisions: has(Rule::Rskip125),
            has_bounded_calls: has(Rule::Rskip150),
            has_standard_code_hash: has(Rule::Rskip169),
            cleans_return_buffer: has(Rule::Rskip171),
            has_old_opcodes: !has(Rule::Rskip191),
            has_contract_failures: has(Rule::Rskip197),
            has_init_code_rules: has(Rule::Rskip438),
            undoes_failed_creations: has(Rule::Rskip453),
            cuts_contract_input: has(Rule::Rskip516),
            refuses_code_prefix: has(Rule::Rskip544),
        }
    }
}
