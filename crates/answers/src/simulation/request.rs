use crate::call_object::CallObject;
use crate::error::RpcError;
use crate::overrides::{BlockOverrides, block_overrides, state_overrides};
use crate::sent::{Fault, FaultClass};
use rhizome_evm::StateOverrides;
use serde_json::{Map, Value};

const EXPECTED: &str = "an object with blockStateCalls, traceTransfers, validation, returnFullTransactions";
const MEMBER: &str = "simulation.blockStateCalls";
const EXPECTED_BLOCKS: &str = "objects with blockOverrides, stateOverrides and calls";

/// Parameter of `eth_simulateV1`.
#[derive(Debug, Clone, Default)]
pub struct Simulation {
    pub(crate) blocks: Vec<BlockRequest>,
    /// Transfers of coins appear as logs.
    pub(crate) traces_transfers: bool,
    /// Calls must satisfy the rules of transactions, except for the signature.
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

impl Simulation {
    /// Reads the JSON text of the first parameter.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        Ok(Self::read(json)?)
    }

    /// [`Simulation::parse`] with the class of the fault.
    pub(crate) fn read(json: &str) -> Result<Self, Fault> {
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        let members = object(&value, "simulation", EXPECTED)?;
        let blocks = list(members.get("blockStateCalls").unwrap_or(&Value::Null))?;
        let blocks = blocks.iter().map(BlockRequest::read).collect::<Result<_, _>>()?;
        let [traces_transfers, validates, is_full] =
            ["traceTransfers", "validation", "returnFullTransactions"].map(|name| match members.get(name) {
                None | Some(Value::Null) => Ok(false),
                Some(Value::Bool(is_set)) => Ok(*is_set),
                Some(_) => Err(Fault {
                    class: FaultClass::OnlyHere,
                    message: "Invalid input: must be a boolean".into(),
                    hint: Some(format!("{name}: expected true or false")),
                }),
            });
        Ok(Self { blocks, traces_transfers: traces_transfers?, validates: validates?, is_full: is_full? })
    }
}

impl BlockRequest {
    fn read(value: &Value) -> Result<Self, Fault> {
        let members = object(value, MEMBER, EXPECTED_BLOCKS)?;
        let present = |name| members.get(name).filter(|value| !value.is_null());
        let block = present("blockOverrides").map(block_overrides).transpose()?.unwrap_or_default();
        let state = present("stateOverrides").map(state_overrides).transpose()?.unwrap_or_default();
        let calls = present("calls").map(list).transpose()?.map_or(&[][..], Vec::as_slice);
        let calls = calls.iter().map(CallObject::parse_value).collect::<Result<_, _>>()?;
        Ok(Self { block, state, calls })
    }
}

fn object<'a>(value: &'a Value, name: &str, expected: &str) -> Result<&'a Map<String, Value>, Fault> {
    value.as_object().ok_or_else(|| Fault {
        class: FaultClass::Form,
        message: format!("Invalid {name}: must be an object"),
        hint: Some(format!("{name}: expected {expected}")),
    })
}

fn list(value: &Value) -> Result<&Vec<Value>, Fault> {
    value.as_array().ok_or_else(|| Fault {
        class: FaultClass::Form,
        message: "Invalid simulation: an array is expected".into(),
        hint: Some(format!("{MEMBER}: expected {EXPECTED_BLOCKS}")),
    })
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
