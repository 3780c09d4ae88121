//! The block and the caller of a call.

use crate::constants::{Constants, constants};
use crate::error::{MethodFailure, Result};
use rhizome_primitives::{Address, B256, Network, Rule, Rules, U256};

/// The instruction that makes a call. Transactions count as CALL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallMode {
    /// CALL.
    Call,
    /// STATICCALL.
    Static,
    /// DELEGATECALL or CALLCODE.
    Delegated,
}

/// A call of the Bridge, as the machine that makes it describes it.
pub struct Call<'a> {
    /// The network, which selects the constants.
    pub network: Network,
    /// Rules of the executing block.
    pub rules: Rules,
    /// Number of the executing block.
    pub block_number: u64,
    /// Time of the executing block, in seconds.
    pub block_timestamp: u64,
    /// The calling contract, or the sender of the transaction.
    pub caller: Address,
    /// Wei sent with the call. The value of a direct call arrives only after it.
    pub value: U256,
    /// The instruction that makes the call.
    pub mode: CallMode,
    /// True if a transaction makes the call, not a contract.
    pub is_direct: bool,
    /// True for local execution, outside of any block (docs/spec/bridge.md, 1.5).
    pub is_local: bool,
    /// Hash of the transaction; if a contract calls, that of the internal transaction.
    pub transaction_hash: B256,
    /// Hash of the signed transaction that led to the call; zero in local execution.
    pub origin_transaction_hash: B256,
    /// Returns the compressed key that signed the transaction; `None` if the call is not direct or not signed.
    pub public_key: &'a dyn Fn() -> Option<Vec<u8>>,
    /// Returns true once the deadline of a local call has passed.
    pub is_past_deadline: &'a dyn Fn() -> bool,
}

impl Call<'static> {
    /// Returns a local call that neither a transaction nor a contract makes.
    pub(crate) fn local(network: Network, rules: Rules, block_number: u64) -> Self {
        Self {
            network,
            rules,
            block_number,
            block_timestamp: 0,
            caller: Address::ZERO,
            value: U256::ZERO,
            mode: CallMode::Call,
            is_direct: false,
            is_local: true,
            transaction_hash: B256::ZERO,
            origin_transaction_hash: B256::ZERO,
            public_key: &|| None,
            is_past_deadline: &|| false,
        }
    }
}

/// A call and the constants of its network.
pub(crate) struct CallContext<'a> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) constants: &'static Constants,
}

impl<'a> CallContext<'a> {
    /// Adds the constants to a call. Fails on the devnet, for which the reference has no constants either.
    pub(crate) fn of(call: &'a Call<'a>) -> Result<CallContext<'a>> {
        let constants = constants(call.network).ok_or(MethodFailure::Rejected)?;
        Ok(CallContext { call, constants })
    }

    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.call.rules.is_active(rule)
    }

    /// Returns the minimum amount of a peg-in, satoshis.
    pub(crate) fn minimum_peg_in(&self) -> i64 {
        let [old, new] = self.constants.minimum_peg_in;
        (if self.has(Rule::Rskip219) { new } else { old }) as i64
    }

    pub(crate) fn caller(&self) -> Address {
        self.call.caller
    }
}
