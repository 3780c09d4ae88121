use crate::call_object::CallObject;
use crate::error::RpcError;
use crate::overrides::{BlockOverrides, block_overrides, state_overrides};
use rhizome_evm::StateOverrides;
use serde_json::{Map, Value};

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

impl Simulation {
    /// Reads the JSON text of the first parameter.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let refused = || RpcError::invalid_params("Invalid simulation: an object with blockStateCalls is expected.");
        let Ok(Value::Object(members)) = serde_json::from_str(json) else { return Err(refused()) };
        let Some(Value::Array(blocks)) = members.get("blockStateCalls") else { return Err(refused()) };
        let flag = |name| members.get(name).and_then(Value::as_bool).unwrap_or_default();
        Ok(Self {
            blocks: blocks.iter().map(BlockRequest::read).collect::<Result<_, _>>()?,
            traces_transfers: flag("traceTransfers"),
            validates: flag("validation"),
            is_full: flag("returnFullTransactions"),
        })
    }
}

impl BlockRequest {
    fn read(value: &Value) -> Result<Self, RpcError> {
        let object = |name: &str| match value.get(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members.clone()),
            Some(_) => Err(RpcError::invalid_params(format!("Invalid {name}: an object is expected."))),
        };
        let calls = match value.get("calls") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(calls)) => calls.as_slice(),
            Some(_) => return Err(RpcError::invalid_params("Invalid calls: an array is expected.")),
        };
        Ok(Self {
            block: block_overrides(&object("blockOverrides")?)?,
            state: state_overrides(&object("stateOverrides")?)?,
            calls: calls.iter().map(|call| CallObject::parse(&call.to_string())).collect::<Result<_, _>>()?,
        })
    }
}
