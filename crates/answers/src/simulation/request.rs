use crate::call_object::CallObject;
use crate::error::RpcError;
use crate::overrides::{BlockOverrides, Overrides};
use rhizome_evm::StateOverrides;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What `eth_simulateV1` is asked for.
#[derive(Debug, Clone, Default)]
pub struct Simulation {
    pub(crate) blocks: Vec<BlockRequest>,
    /// Transfers of coins show up as logs.
    pub(crate) traces_transfers: bool,
    /// Calls must satisfy what transactions must, but for their signature.
    pub(crate) validates: bool,
    /// Blocks list transaction objects instead of hashes.
    pub(crate) is_full: bool,
}

/// One block of calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockRequest {
    pub(crate) block: BlockOverrides,
    pub(crate) state: StateOverrides,
    pub(crate) calls: Vec<CallObject>,
}

/// The members as they were sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SimulationMembers<'a> {
    #[serde(borrow)]
    block_state_calls: Vec<&'a RawValue>,
    trace_transfers: Option<bool>,
    validation: Option<bool>,
    return_full_transactions: Option<bool>,
}

/// The members of one block as they were sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockMembers<'a> {
    #[serde(borrow)]
    block_overrides: Option<&'a RawValue>,
    state_overrides: Option<&'a RawValue>,
    calls: Option<Vec<&'a RawValue>>,
}

impl Simulation {
    /// Reads the JSON text of the first parameter.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let refused = || RpcError::invalid_params("Invalid simulation: an object with blockStateCalls is expected.");
        let members: SimulationMembers<'_> = object(json).ok_or_else(refused)?;
        Ok(Self {
            blocks: members.block_state_calls.into_iter().map(BlockRequest::read).collect::<Result<_, _>>()?,
            traces_transfers: members.trace_transfers.unwrap_or_default(),
            validates: members.validation.unwrap_or_default(),
            is_full: members.return_full_transactions.unwrap_or_default(),
        })
    }
}

impl BlockRequest {
    fn read<'a>(json: &'a RawValue) -> Result<Self, RpcError> {
        let refused =
            || RpcError::invalid_params("Invalid blockStateCalls: objects with a list of calls are expected.");
        let members: BlockMembers<'_> = object(json.get()).ok_or_else(refused)?;
        let text = |overrides: Option<&'a RawValue>| overrides.map_or("", RawValue::get);
        let Overrides { state, block } =
            Overrides::parse(text(members.state_overrides), text(members.block_overrides))?;
        let calls = members.calls.unwrap_or_default();
        let calls = calls.into_iter().map(|call| CallObject::parse(call.get())).collect::<Result<_, _>>()?;
        Ok(Self { block, state, calls })
    }
}

/// None for what is no object with such members.
fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    // A list would do as well, one member after the other.
    let is_object = json.trim_start().starts_with('{');
    is_object.then(|| serde_json::from_str(json).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members() {
        let simulation = Simulation::parse(
            r#"{"validation":true,"traceTransfers":null,"x":1,"blockStateCalls":[{"calls":[{"data":"0x01"},{}],
                "blockOverrides":{"number":"0x9"},"stateOverrides":null},{"calls":null}]}"#,
        )
        .unwrap();
        assert!(simulation.validates && !simulation.traces_transfers && !simulation.is_full);
        let [first, second] = simulation.blocks.as_slice() else { panic!("two blocks are expected") };
        assert_eq!((first.calls.len(), first.block.number, second.calls.len()), (2, Some(9), 0));
    }

    #[test]
    fn refusals() {
        for json in [
            "5",
            "{}",
            "[[]]",
            r#"{"blockStateCalls":{}}"#,
            r#"{"blockStateCalls":[5]}"#,
            r#"{"blockStateCalls":[{"calls":{}}]}"#,
            r#"{"blockStateCalls":[{"calls":[5]}]}"#,
            r#"{"blockStateCalls":[{"stateOverrides":[]}]}"#,
            r#"{"blockStateCalls":[{"blockOverrides":"x"}]}"#,
        ] {
            assert!(Simulation::parse(json).is_err(), "{json}");
        }
    }
}
