//! Overrides of a call: accounts (third parameter) and block fields (fourth parameter).

use crate::error::RpcError;
use crate::sent::{self, Fault, FaultClass, Location, Sent};
use rhizome_evm::{AccountOverride, BlockEnv, StateOverrides};
use rhizome_primitives::{Address, I256, U256};
use serde_json::{Map, Value};

const STATE: &str = "stateOverrides";
const BLOCK: &str = "blockOverrides";
const EXPECTED_STATE: &str = "an object: address -> {balance, nonce, code, state, stateDiff, movePrecompileToAddress}";
const EXPECTED_BLOCK: &str =
    "an object with number, time, gasLimit, feeRecipient, difficulty, prevRandao, baseFeePerGas";

/// Overrides of one call. None by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Accounts.
    pub state: StateOverrides,
    /// Block fields.
    pub block: BlockOverrides,
}

/// Fields of the block that a call sees; `None` leaves the field unchanged.
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
    /// Difficulty, also the value of PREVRANDAO.
    pub difficulty: Option<U256>,
    /// Value of BASEFEE: on this chain the minimum gas price, in wei.
    pub base_fee: Option<U256>,
}

impl Overrides {
    /// Reads two JSON objects; an empty text means no overrides.
    pub fn parse(state: &str, block: &str) -> Result<Self, RpcError> {
        let state = match state {
            "" => Ok(StateOverrides::default()),
            json => state_overrides(&serde_json::from_str(json).unwrap_or_default()),
        };
        let block = match block {
            "" => Ok(BlockOverrides::default()),
            json => block_overrides(&serde_json::from_str(json).unwrap_or_default()),
        };
        match (state, block) {
            // A fault of form in the later parameter takes precedence over a late fault.
            (Err(late), Err(form)) if late.class != FaultClass::Form && form.class == FaultClass::Form => {
                Err(form.into())
            }
            (state, block) => Ok(Self { state: state?, block: block? }),
        }
    }

    /// Whether nothing is overridden.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl BlockOverrides {
    /// Applies the overrides to a block.
    pub(crate) fn apply(&self, env: &mut BlockEnv) {
        env.number = self.number.unwrap_or(env.number);
        env.timestamp = self.time.unwrap_or(env.timestamp);
        env.gas_limit = self.gas_limit.unwrap_or(env.gas_limit);
        env.coinbase = self.fee_recipient.unwrap_or(env.coinbase);
        env.difficulty = self.difficulty.unwrap_or(env.difficulty);
        env.minimum_gas_price = self.base_fee.unwrap_or(env.minimum_gas_price);
    }
}

/// Reads state overrides. Null members count as absent, unknown ones are ignored.
pub(crate) fn state_overrides(value: &Value) -> Result<StateOverrides, Fault> {
    let accounts = object(value, STATE, STATE)?.iter().map(|(account, value)| account_override(account, value));
    Ok(StateOverrides { accounts: accounts.collect::<Result<_, _>>()? })
}

fn account_override(account: &str, value: &Value) -> Result<AccountOverride, Fault> {
    let members = object(value, STATE, STATE)?;
    let at = |member| Location { owner: STATE, member };
    let number = |name| present(members, name).map(|sent| sent::number(&sent, at(name))).transpose();
    let balance = number("balance")?;
    let nonce = number("nonce")?;
    let code = present(members, "code").map(|sent| sent::bytes(&sent, at("code"))).transpose()?;
    let moved = "movePrecompileToAddress";
    let move_precompile_to = present(members, moved).map(|sent| sent::address(&sent, at(moved))).transpose()?;
    let state = slots(members, "state", "stateOverrides.state")?;
    let state_diff = slots(members, "stateDiff", "stateOverrides.stateDiff")?;
    let address = sent::address(&Sent::Text(account.into()), at("address"))?;
    let too_large = |_sign| at("balance").fault(FaultClass::Form, "Invalid balance: 2^255 or more", "less than 2^255");
    let balance = balance.map(I256::try_from).transpose().map_err(too_large)?;
    Ok(AccountOverride { address, balance, nonce, code, state, state_diff, move_precompile_to })
}

/// Reads block overrides under their current and older names.
pub(crate) fn block_overrides(value: &Value) -> Result<BlockOverrides, Fault> {
    let members = object(value, BLOCK, BLOCK)?;
    let at = |member| Location { owner: BLOCK, member };
    let wide = |name| present(members, name).map(|sent| sent::number(&sent, at(name))).transpose();
    let number = |name| Ok::<_, Fault>(wide(name)?.map(|number| number.saturating_to::<u64>()));
    let address = |name| present(members, name).map(|sent| sent::address(&sent, at(name))).transpose();
    let (height, time, gas_limit) = (number("number")?, number("time")?, number("gasLimit")?);
    let (fee_recipient, coinbase) = (address("feeRecipient")?, address("coinbase")?);
    let (difficulty, randao) = (wide("difficulty")?, wide("prevRandao")?);
    let base_fee = wide("baseFeePerGas")?;
    let fee_recipient = fee_recipient.or(coinbase);
    Ok(BlockOverrides { number: height, time, gas_limit, fee_recipient, difficulty: difficulty.or(randao), base_fee })
}

/// Returns an object. `name` goes into the message, `parameter` selects the hint.
fn object<'a>(value: &'a Value, name: &str, parameter: &str) -> Result<&'a Map<String, Value>, Fault> {
    let expected = if parameter == STATE { EXPECTED_STATE } else { EXPECTED_BLOCK };
    value.as_object().ok_or_else(|| Fault {
        class: FaultClass::Form,
        message: format!("Invalid {name}: must be an object"),
        hint: Some(format!("{name}: expected {expected}")),
    })
}

fn present<'a>(members: &'a Map<String, Value>, name: &str) -> Option<Sent<'a>> {
    members.get(name).filter(|value| !value.is_null()).map(Sent::from)
}

/// Reads `{slot: word}`. `path` goes into messages.
fn slots(members: &Map<String, Value>, name: &str, path: &str) -> Result<Option<Vec<(U256, U256)>>, Fault> {
    let Some(value) = members.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    let at = |member| Location { owner: STATE, member };
    let slots = object(value, path, STATE)?.iter().map(|(slot, word)| {
        let slot = sent::number(&Sent::Text(slot.into()), at("slot"))?;
        Ok((slot, sent::number(&Sent::from(word), at("word"))?))
    });
    slots.collect::<Result<_, _>>().map(Some)
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

    /// Allow lists of contracts look at the last of equal members.
    #[test]
    fn last_of_equal_members_counts() {
        let address = "0x00000000000000000000000000000000000000ff";
        for accounts in [
            format!(r#"{{"{address}":{{"code":"0x00"}},"{address}":{{}}}}"#),
            format!(r#"{{"{address}":{{"code":"0x00","code":null}}}}"#),
        ] {
            let overrides = Overrides::parse(&accounts, "").unwrap();
            assert_eq!(overrides.state.accounts.len(), 1);
            assert!(overrides.state.accounts.iter().all(|account| account.code.is_none()));
        }
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
            r#"{"stateDiff":{"0x1":[]}}"#,
            r#"{"movePrecompileToAddress":"0x1"}"#,
        ] {
            assert!(Overrides::parse(&format!("{{\"{address}\":{account}}}"), "").is_err(), "{account}");
        }
        assert!(Overrides::parse(r#"{"bad":{}}"#, "").is_err());
        let error = Overrides::parse("", r#"{"time":"soon"}"#).unwrap_err();
        assert_eq!(error.message, "Invalid param soon: value must be a valid hex or string number.");
        let hint = "blockOverrides.time: expected a number, 0x and hex digits, or decimal";
        assert_eq!(error.details.unwrap().hint, hint);
        assert_eq!(Overrides::parse("[]", "").unwrap_err().message, "Invalid stateOverrides: must be an object");
        // A fault of form in the second precedes a late fault in the first.
        let late = format!(r#"{{"{address}":{{"nonce":"abc"}}}}"#);
        assert_eq!(Overrides::parse(&late, "5").unwrap_err().message, "Invalid blockOverrides: must be an object");
        assert!(Overrides::parse("", r#"{"time":"soon"}"#).is_err());
    }
}
