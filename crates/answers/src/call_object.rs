//! The object that describes a call, an estimate or a transaction to send.

use crate::error::RpcError;
use crate::parameters;
use rhizome_evm::CallRequest;
use rhizome_primitives::{Address, Bytes, U256};
use serde_json::{Map, Value};

/// A call object. Absent and null members are none; unknown members are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallObject {
    /// Sender.
    pub from: Option<Address>,
    /// Receiver; none is a creation.
    pub to: Option<Address>,
    /// Gas.
    pub gas: Option<U256>,
    /// Gas of a transaction to send, when `gas` is absent.
    pub gas_limit: Option<U256>,
    /// Wei for each unit of gas.
    pub gas_price: Option<U256>,
    /// Wei.
    pub value: Option<U256>,
    /// Nonce of a transaction to send.
    pub nonce: Option<U256>,
    /// Chain of a transaction to send: the number, and the text as sent.
    pub chain_id: Option<(U256, String)>,
    /// Payload: `input` or `data`.
    pub data: Bytes,
}

impl CallObject {
    /// Reads the JSON text of an object.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let Ok(Value::Object(members)) = serde_json::from_str(json) else {
            return Err(RpcError::invalid_params("Invalid call object: an object is expected."));
        };
        Ok(Self {
            from: address(&members, "from")?,
            to: address(&members, "to")?,
            gas: number(&members, "gas")?,
            gas_limit: number(&members, "gasLimit")?,
            gas_price: number(&members, "gasPrice")?,
            value: number(&members, "value")?,
            nonce: number(&members, "nonce")?,
            chain_id: number(&members, "chainId")?.zip(text(&members, "chainId")?),
            data: payload(&members)?,
        })
    }

    /// What the EVM is asked to run, with `gas` as the limit.
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

/// A member as text: numbers count as their digits, null as absent.
fn text(members: &Map<String, Value>, name: &str) -> Result<Option<String>, RpcError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(RpcError::invalid_params(format!("Invalid {name}: a string is expected."))),
    }
}

fn address(members: &Map<String, Value>, name: &str) -> Result<Option<Address>, RpcError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => parameters::address(text).map(Some),
        // Refused in the words of a malformed address.
        Some(_) => parameters::address("").map(Some),
    }
}

/// An empty text counts as absent.
fn number(members: &Map<String, Value>, name: &str) -> Result<Option<U256>, RpcError> {
    text(members, name)?.filter(|text| !text.is_empty()).map(|text| parameters::number(&text)).transpose()
}

/// `input` and `data`: the one that is not empty; two different ones are refused.
fn payload(members: &Map<String, Value>) -> Result<Bytes, RpcError> {
    let read = |name| text(members, name)?.map_or(Ok(Bytes::new()), |text| parameters::bytes(&text));
    let (input, data) = (read("input")?, read("data")?);
    if input.is_empty() {
        return Ok(data);
    }
    if !data.is_empty() && data != input {
        return Err(RpcError::invalid_params("Invalid call object: 'data' and 'input' differ."));
    }
    Ok(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> String {
        CallObject::parse(json).unwrap_err().message
    }

    #[test]
    fn members() {
        let object = CallObject::parse(
            r#"{"from":"0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826","to":null,"gas":21000,"value":"0x64",
                "gasPrice":"","chainId":"33","data":"0x01","unknown":[1]}"#,
        )
        .unwrap();
        assert!(object.from.is_some() && object.to.is_none() && object.gas_price.is_none());
        assert_eq!(object.gas, Some(U256::from(21000)));
        assert_eq!(object.chain_id, Some((U256::from(33), "33".into())));
        let request = object.request(7);
        assert_eq!((request.gas, request.value, request.data.as_ref()), (7, U256::from(100), &[1][..]));
    }

    #[test]
    fn input_and_data() {
        let data = |json: &str| CallObject::parse(json).unwrap().data;
        assert_eq!(data(r#"{"data":"0x01","input":"0x"}"#).as_ref(), &[1]);
        assert_eq!(data(r#"{"data":"0x","input":"0x02"}"#).as_ref(), &[2]);
        assert_eq!(data(r#"{"data":"0x03","input":"0x03"}"#).as_ref(), &[3]);
        assert_eq!(message(r#"{"data":"0x01","input":"0x02"}"#), "Invalid call object: 'data' and 'input' differ.");
    }

    #[test]
    fn refusals() {
        let bad_address = "Invalid address: null, empty or invalid hex value.";
        assert_eq!(message(r#"{"to":""}"#), bad_address);
        assert_eq!(message(r#"{"to":["0x"]}"#), bad_address);
        assert_eq!(message(r#"{"from":"0x0"}"#), bad_address);
        assert_eq!(message(r#"{"gas":"zz"}"#), "Invalid param zz: value must be a valid hex or string number.");
        assert_eq!(message(r#"{"data":"zz"}"#), "Invalid data format: invalid hex value.");
        assert!(message("[]").starts_with("Invalid call object"));
        assert!(message("{").starts_with("Invalid call object"));
    }
}
