//! The Bridge (0x01000006) is not implemented: a call ends the execution with an error instead of a wrong answer.

use super::table::{Contract, ContractContext, ContractFailure, ContractOutput};
use crate::error::ExecError;
use rhizome_primitives::B256;

pub(super) struct Bridge;

impl Contract for Bridge {
    /// Nothing, so that every call gets as far as [`Contract::run`].
    fn required_gas(&self, _input: &[u8], _ctx: &ContractContext<'_>) -> u64 {
        0
    }

    /// A contract does not know its transaction: the executor, who does, fills in which one it was.
    fn run(&self, _input: &[u8], _ctx: &mut ContractContext<'_>) -> Result<ContractOutput, ContractFailure> {
        Err(ContractFailure::Fatal(ExecError::BridgeUnsupported { index: 0, hash: B256::ZERO }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precompiles::golden::{self, GivenChain};
    use rhizome_primitives::{ChainSpec, Rules};

    #[test]
    fn never_answers() {
        let spec = ChainSpec::regtest();
        let env = golden::env(&golden::load("precompiles")["cases"][0]["env"]);
        let ancestry = GivenChain::new(None, &spec);
        let (mut state, mut logs) = (golden::state_of(&serde_json::json!({})), Vec::new());
        let mut ctx = golden::context(&spec, Rules::all(), &env, &ancestry, &mut state, &mut logs);
        assert_eq!(Bridge.required_gas(&[1, 2, 3, 4], &ctx), 0);
        let result = Bridge.run(&[1, 2, 3, 4], &mut ctx);
        assert!(matches!(result, Err(ContractFailure::Fatal(ExecError::BridgeUnsupported { .. }))));
    }
}
