//! What a call pretends: other accounts (third parameter) and another block (fourth parameter).

use crate::error::RpcError;
use crate::parameters;
use rhizome_evm::{AccountOverride, BlockEnv, StateOverrides};
use rhizome_primitives::{Address, I256, U256};
use serde_json::{Map, Value};

/// What a call pretends. Nothing by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// About accounts.
    pub state: StateOverrides,
    /// About its block.
    pub block: BlockOverrides,
}

/// Members of the block that a call sees; what is none stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockOverrides {
    /// Height.
    pub number: Option<u64>,
    /// Seconds since 1970.
    pub time: Option<u64>,
    /// Gas limit.
    pub gas_limit: Option<u64>,
    /// The miner.
    pub fee_recipient: Option<Address>,
    /// Difficulty, which PREVRANDAO shows too.
    pub difficulty: Option<U256>,
    /// What BASEFEE shows: on this chain the lowest gas price, in wei.
    pub base_fee: Option<U256>,
}

impl Overrides {
    /// Reads two JSON objects; an empty text is none.
    pub fn parse(state: &str, block: &str) -> Result<Self, RpcError> {
        let state = if state.is_empty() { StateOverrides::default() } else { state_overrides(&object(state)?)? };
        let block = if block.is_empty() { BlockOverrides::default() } else { block_overrides(&object(block)?)? };
        Ok(Self { state, block })
    }

    /// Whether nothing is pretended.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl BlockOverrides {
    /// Changes a block.
    pub(crate) fn apply(&self, env: &mut BlockEnv) {
        env.number = self.number.unwrap_or(env.number);
        env.timestamp = self.time.unwrap_or(env.timestamp);
        env.gas_limit = self.gas_limit.unwrap_or(env.gas_limit);
        env.coinbase = self.fee_recipient.unwrap_or(env.coinbase);
        env.difficulty = self.difficulty.unwrap_or(env.difficulty);
        env.minimum_gas_price = self.base_fee.unwrap_or(env.minimum_gas_price);
    }
}

fn object(json: &str) -> Result<Map<String, Value>, RpcError> {
    match serde_json::from_str(json) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(RpcError::invalid_params("Invalid override: an object is expected.")),
    }
}

/// Account by account. Members that are null count as absent, unknown ones are ignored.
fn state_overrides(members: &Map<String, Value>) -> Result<StateOverrides, RpcError> {
    let mut accounts = Vec::with_capacity(members.len());
    for (address, value) in members {
        let address = parameters::address(address)?;
        let Value::Object(members) = value else {
            return Err(RpcError::invalid_params(format!("Invalid override of {address}: an object is expected.")));
        };
        let balance = member(members, "balance", parameters::number)?;
        let balance = balance.map(I256::try_from).transpose();
        accounts.push(AccountOverride {
            address,
            balance: balance.map_err(|_sign| RpcError::invalid_params("Invalid balance: 2^255 or more"))?,
            nonce: member(members, "nonce", parameters::number)?,
            code: member(members, "code", parameters::bytes)?,
            state: cells(members, "state")?,
            state_diff: cells(members, "stateDiff")?,
            move_precompile_to: member(members, "movePrecompileToAddress", parameters::address)?,
        });
    }
    Ok(StateOverrides { accounts })
}

/// The members that other nodes know, under their present and their older names.
fn block_overrides(members: &Map<String, Value>) -> Result<BlockOverrides, RpcError> {
    let number = |name| member(members, name, |text| Ok(parameters::number(text)?.saturating_to::<u64>()));
    let wide = |name| member(members, name, parameters::number);
    let address = |name| member(members, name, parameters::address);
    Ok(BlockOverrides {
        number: number("number")?,
        time: number("time")?,
        gas_limit: number("gasLimit")?,
        fee_recipient: address("feeRecipient")?.or(address("coinbase")?),
        difficulty: wide("difficulty")?.or(wide("prevRandao")?),
        base_fee: wide("baseFeePerGas")?,
    })
}

fn member<T>(
    members: &Map<String, Value>,
    name: &str,
    read: impl FnOnce(&str) -> Result<T, RpcError>,
) -> Result<Option<T>, RpcError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => read(text).map(Some),
        Some(Value::Number(number)) => read(&number.to_string()).map(Some),
        Some(_) => Err(RpcError::invalid_params(format!("Invalid {name}: a string is expected."))),
    }
}

/// `{slot: word}`.
fn cells(members: &Map<String, Value>, name: &str) -> Result<Option<Vec<(U256, U256)>>, RpcError> {
    let cells = match members.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(cells)) => cells,
        Some(_) => return Err(RpcError::invalid_params(format!("Invalid {name}: an object is expected."))),
    };
    let cell = |(slot, word): (&String, &Value)| match word {
        Value::String(word) => Ok((parameters::number(slot)?, parameters::number(word)?)),
        _ => Err(RpcError::invalid_params(format!("Invalid {name}: a word is expected."))),
    };
    cells.iter().map(cell).collect::<Result<_, RpcError>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members() {
        let text = r#"{"0x00000000000000000000000000000000000000ff":{"balance":"0x5","nonce":7,"code":"0x60","x":1,
            "state":null,"stateDiff":{"0x01":"0x2a"}},"0000000000000000000000000000000000000004":{}}"#;
        let overrides = Overrides::parse(text, r#"{"time":"0x64","coinbase":null,"number":"9"}"#).unwrap();
        let account = overrides.state.accounts.iter().find(|account| account.nonce.is_some()).unwrap();
        assert_eq!(account.balance, Some(I256::try_from(5).unwrap()));
        assert_eq!(account.state_diff, Some(vec![(U256::from(1), U256::from(42))]));
        assert_eq!(
            (overrides.state.accounts.len(), overrides.block.time, overrides.block.number),
            (2, Some(100), Some(9))
        );
        assert!(Overrides::parse("", "").unwrap().is_empty() && Overrides::parse("{}", "{}").unwrap().is_empty());
    }

    #[test]
    fn refusals() {
        let address = "0x00000000000000000000000000000000000000ff";
        for account in [
            "5",
            r#"{"balance":"-5"}"#,
            r#"{"balance":[]}"#,
            r#"{"code":"zz"}"#,
            r#"{"state":[]}"#,
            r#"{"stateDiff":{"x":"0x1"}}"#,
            r#"{"stateDiff":{"0x1":5}}"#,
            r#"{"movePrecompileToAddress":"0x1"}"#,
        ] {
            assert!(Overrides::parse(&format!("{{\"{address}\":{account}}}"), "").is_err(), "{account}");
        }
        assert!(Overrides::parse(r#"{"bad":{}}"#, "").is_err());
        assert!(Overrides::parse("", r#"{"time":"soon"}"#).is_err());
    }
}
