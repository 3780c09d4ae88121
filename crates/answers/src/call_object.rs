//! Object that describes a call, an estimate or a transaction to send.

use crate::error::RpcError;
use crate::overrides::Overrides;
use crate::sent::{self, Fault, FaultClass, Location, Members, Sent};
use rhizome_evm::CallRequest;
use rhizome_primitives::{Address, Bytes, U256};
use serde_json::{Map, Value};

/// All members, in the order in which the reference reads them.
const MEMBERS: [&str; 10] = ["from", "to", "gas", "gasPrice", "gasLimit", "nonce", "chainId", "value", "data", "input"];

/// Call object. Absent and null members are `None`; unknown members are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallObject {
    /// Sender.
    pub from: Option<Address>,
    /// Receiver; `None` for a creation.
    pub to: Option<Address>,
    /// Gas. Transactions may call it `gasLimit`, which calls ignore.
    pub gas: Option<U256>,
    /// Wei per unit of gas.
    pub gas_price: Option<U256>,
    /// Wei.
    pub value: Option<U256>,
    /// Nonce of a transaction to send.
    pub nonce: Option<U256>,
    /// Chain id of a transaction to send: the number, and the text as sent.
    pub chain_id: Option<(U256, String)>,
    /// Payload: `input` or `data`.
    pub data: Bytes,
}

/// Method family that takes the object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Empty numbers count as absent.
    Call,
    /// Empty numbers are rejected, because they would be signed as zero.
    Transaction,
}

impl Use {
    fn owner(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Transaction => "transaction",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Call => "an object with from, to, gas, gasPrice, value, data",
            Self::Transaction => "an object with from, to, gas, gasPrice, value, data, nonce",
        }
    }

    fn fault(self, message: &str) -> Fault {
        let hint = Some(format!("{}: expected {}", self.owner(), self.expected()));
        Fault { class: FaultClass::OnlyHere, message: message.into(), hint }
    }
}

impl CallObject {
    /// Reads the JSON text of the object of a call.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        Ok(Self::read_call(json)?)
    }

    /// Reads the JSON texts of a call and of its overrides; empty texts of overrides mean none.
    pub fn parse_with_overrides(
        call: &str,
        state_overrides: &str,
        block_overrides: &str,
    ) -> Result<(Self, Overrides), RpcError> {
        let call = match Self::read_call(call) {
            Err(fault) if fault.class != FaultClass::Form => {
                // A fault of form in a later parameter takes precedence.
                Overrides::parse(state_overrides, block_overrides)?;
                return Err(fault.into());
            }
            call => call?,
        };
        Ok((call, Overrides::parse(state_overrides, block_overrides)?))
    }

    /// Reads the JSON text of a transaction to send.
    pub fn parse_transaction(json: &str) -> Result<Self, RpcError> {
        Ok(Self::read_transaction(json)?)
    }

    /// [`CallObject::parse_transaction`] with the class of the fault.
    pub(crate) fn read_transaction(json: &str) -> Result<Self, Fault> {
        let members = Members::parse(json);
        let get = |name: &str| members.as_ref().and_then(|members| members.get(name));
        let read = match &members {
            Some(_) => Self::read(get, Use::Transaction).and_then(|object| refuse_empty_numbers(get).map(|()| object)),
            None => Err(Use::Transaction.fault("Invalid transaction object")),
        };
        // The reference checks the sender before it uses other members.
        let has_sender = get("from").is_some_and(|from| from != Sent::Null);
        read.map_err(|fault| match fault.class {
            FaultClass::Form => fault,
            _ if has_sender => fault,
            _ => Fault { class: FaultClass::Form, message: "from is null".into(), ..fault },
        })
    }

    /// Reads a call among the calls of a simulation.
    pub(crate) fn parse_value(value: &Value) -> Result<Self, Fault> {
        let Value::Object(members) = value else { return Err(Use::Call.fault("Invalid call object")) };
        Self::read(|name| Map::get(members, name).map(Sent::from), Use::Call)
    }

    /// [`CallObject::parse`] with the class of the fault.
    pub(crate) fn read_call(json: &str) -> Result<Self, Fault> {
        let members = Members::parse(json).ok_or_else(|| Use::Call.fault("Invalid call object"))?;
        Self::read(|name| members.get(name), Use::Call)
    }

    fn read<'a>(get: impl Fn(&str) -> Option<Sent<'a>>, usage: Use) -> Result<Self, Fault> {
        Self::read_members(&get, usage).map_err(|fault| match fault.class {
            FaultClass::Form => fault,
            _ => first_fault_of_form(&get, usage).unwrap_or(fault),
        })
    }

    /// Reads the members in the order of the reference.
    fn read_members<'a>(get: &impl Fn(&str) -> Option<Sent<'a>>, usage: Use) -> Result<Self, Fault> {
        let at = |member| Location { owner: usage.owner(), member };
        let present = |name| get(name).filter(|sent| *sent != Sent::Null);
        let is_empty = |sent: &Sent<'_>| {
            usage == Use::Call && matches!(sent, Sent::Text(text) if matches!(text.as_ref(), "" | "0x"))
        };
        let address = |name| present(name).map(|sent| sent::address(&sent, at(name))).transpose();
        let number = |name| {
            let sent = present(name).filter(|sent| !is_empty(sent));
            sent.map(|sent| sent::number_or_late(&sent, at(name))).transpose()
        };
        let bytes = |name| present(name).map(|sent| sent::bytes(&sent, at(name))).transpose();
        let (from, to) = (address("from")?, address("to")?);
        let (gas, gas_price, gas_limit) = (number("gas")?, number("gasPrice")?, number("gasLimit")?);
        let (nonce, chain_id) = (number("nonce")?, number("chainId")?);
        let chain_id = chain_id.zip(get("chainId").map(|sent| sent.quoted().into_owned()));
        let value = number("value")?;
        let (data, input) = (bytes("data")?.unwrap_or_default(), bytes("input")?.unwrap_or_default());
        // `input` is the newer name of `data`. Two different payloads are ambiguous.
        if !data.is_empty() && !input.is_empty() && data != input {
            return Err(usage.fault("Invalid input: data and input are both given and differ"));
        }
        let data = if data.is_empty() { input } else { data };
        let gas = if usage == Use::Transaction { gas.or(gas_limit) } else { gas };
        Ok(Self { from, to, gas, gas_price, value, nonce, chain_id, data })
    }

    /// Returns the call for the EVM, with `gas` as the limit.
    pub fn request(&self, gas: u64) -> CallRequest {
        CallRequest {
            from: self.from,
            to: self.to,
            gas,
            gas_price: self.gas_price.unwrap_or_default(),
            value: self.value.unwrap_or_default(),
            data: self.data.clone(),
        }
    }
}

fn first_fault_of_form<'a>(get: impl Fn(&str) -> Option<Sent<'a>>, usage: Use) -> Option<Fault> {
    MEMBERS.into_iter().find_map(|name| {
        let at = Location { owner: usage.owner(), member: name };
        let sent = get(name).filter(|sent| *sent != Sent::Null)?;
        let fault = match name {
            "from" | "to" => sent::address(&sent, at).err(),
            "data" | "input" => sent::bytes(&sent, at).err(),
            _ => sent::number_or_late(&sent, at).err(),
        };
        fault.filter(|fault| fault.class == FaultClass::Form)
    })
}

fn refuse_empty_numbers<'a>(get: impl Fn(&str) -> Option<Sent<'a>>) -> Result<(), Fault> {
    for member in ["gas", "gasLimit", "gasPrice", "value", "nonce"] {
        if get(member).is_some_and(|sent| sent == Sent::Text("0x".into())) {
            let at = Location { owner: "transaction", member };
            let expected = "a number, 0x and hex digits, or decimal";
            return Err(at.fault(FaultClass::InUse, "Invalid param 0x: no digits", expected));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: &str = "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826";

    fn call(json: &str) -> CallObject {
        CallObject::parse(json).unwrap()
    }

    #[test]
    fn reads_calls() {
        let object = call(
            r#"{"from":"0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826","to":null,"gas":21000,"value":"0x64",
                "gasPrice":"","chainId":"33","data":"\u0030x01","unknown":[1]}"#,
        );
        assert!(object.from.is_some() && object.to.is_none() && object.gas_price.is_none());
        assert_eq!(object.gas, Some(U256::from(21000)));
        assert_eq!(object.chain_id, Some((U256::from(33), "33".into())));
        let request = object.request(7);
        assert_eq!((request.gas, request.value, request.data.as_ref()), (7, U256::from(100), &[1][..]));
        assert_eq!(
            call(r#"{"value":"","gas":"0x","gasLimit":"0x1","type":"0x2","accessList":[]}"#),
            CallObject::default()
        );
        assert_eq!(
            call(r#"{"to":"cd2a3d9f938e13cd947ec05abc7fe734df8dd826"}"#).to,
            call(&format!(r#"{{"to":"{ACCOUNT}"}}"#)).to
        );
        assert_eq!(call(r#"{"gas":1.0}"#).gas, Some(U256::ONE));
    }

    #[test]
    fn last_of_equal_members_counts() {
        assert_eq!(call(r#"{"gas":"0x1","gas":"0x2"}"#).gas, Some(U256::from(2)));
        assert_eq!(call(r#"{"gas":"0x1","\u0067as":null}"#).gas, None);
    }

    #[test]
    fn input_replaces_empty_data() {
        let data = |json: &str| call(json).data;
        assert_eq!(data(r#"{"data":"0x01","input":"0x"}"#).as_ref(), &[1]);
        assert_eq!(data(r#"{"data":"0x","input":"0x02"}"#).as_ref(), &[2]);
        assert_eq!(data(r#"{"data":"0xAB","input":"0xab"}"#).as_ref(), &[0xab]);
        assert_eq!(data(r#"{"data":""}"#).as_ref(), &[0; 0]);
    }

    #[test]
    fn refuses_calls() {
        let address = "Invalid address: null, empty or invalid hex value.";
        let differ = "Invalid input: data and input are both given and differ";
        let data = "Invalid data format: invalid hex value.";
        for (json, message) in [
            ("null", "Invalid call object"),
            ("[]", "Invalid call object"),
            ("\"x\"", "Invalid call object"),
            (r#"{"to":""}"#, address),
            (r#"{"to":["0x"]}"#, address),
            (r#"{"from":"0x0"}"#, address),
            (r#"{"from":"0xd2a3d9f938e13cd947ec05abc7fe734df8dd826"}"#, "Invalid address format: invalid hex value."),
            (r#"{"data":"zz"}"#, data),
            (r#"{"data":"0x123"}"#, data),
            (r#"{"data":5}"#, data),
            (r#"{"gas":"zz"}"#, "Invalid param zz: value must be a valid hex or string number."),
            (r#"{"gas":true}"#, "Invalid param true: value must be a valid hex or string number."),
            (r#"{"gas":{}}"#, "Invalid param {: value must be a valid hex or string number."),
            (r#"{"gas":1e30}"#, "Invalid param 1.0E30: value must be a valid hex or string number."),
            (r#"{"gas":-1}"#, "Invalid param -1: value must be a valid hex or string number."),
            (r#"{"gasPrice":"1.5"}"#, "Invalid param 1.5: value must be a valid hex or string number."),
            (r#"{"data":"0x01","input":"0x02"}"#, differ),
            // The first fault of form precedes late faults.
            (r#"{"gasLimit":"yy","gas":"zz"}"#, "Invalid param zz: value must be a valid hex or string number."),
            (r#"{"gas":"abc","data":"zz"}"#, data),
            (r#"{"gas":"abc"}"#, "Number values should not contain letters or hex values should start with 0x."),
        ] {
            assert_eq!(CallObject::parse(json).unwrap_err().message, message, "{json}");
        }
        let error = CallObject::parse(r#"{"gas":"zz"}"#).unwrap_err();
        assert_eq!(error.details.unwrap().hint, "call.gas: expected a number, 0x and hex digits, or decimal");
    }

    #[test]
    fn fault_of_form_in_overrides_precedes_late_faults_of_the_call() {
        let message = |call: &str, state: &str| CallObject::parse_with_overrides(call, state, "").unwrap_err().message;
        assert_eq!(message(r#"{"gas":"abc"}"#, "5"), "Invalid stateOverrides: must be an object");
        assert!(message(r#"{"gas":"zz"}"#, "5").starts_with("Invalid param zz"));
        assert!(message(r#"{"gas":"abc"}"#, "").starts_with("Number values"));
    }

    #[test]
    fn refuses_transactions() {
        let empty = "Number values should not contain letters or hex values should start with 0x.";
        for (json, message) in [
            (r#"{"from":"0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826","value":""}"#, empty),
            (r#"{"from":"0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826","value":"0x"}"#, "Invalid param 0x: no digits"),
            (r#"{"to":"0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826","gas":"0x"}"#, "from is null"),
            (r#"{"gas":"zz"}"#, "Invalid param zz: value must be a valid hex or string number."),
            ("5", "from is null"),
        ] {
            assert_eq!(CallObject::parse_transaction(json).unwrap_err().message, message, "{json}");
        }
        assert_eq!(CallObject::parse_transaction(r#"{"gasLimit":"0x5"}"#).unwrap().gas, Some(U256::from(5)));
    }
}
