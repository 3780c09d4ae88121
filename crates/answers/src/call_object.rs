//! The object that describes a call, an estimate or a transaction to send.

use crate::error::RpcError;
use crate::parameters;
use rhizome_evm::CallRequest;
use rhizome_primitives::{Address, Bytes, U256};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

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

/// The members as they were sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow)]
    from: Member<'a>,
    to: Member<'a>,
    gas: Member<'a>,
    gas_limit: Member<'a>,
    gas_price: Member<'a>,
    value: Member<'a>,
    nonce: Member<'a>,
    chain_id: Member<'a>,
    data: Member<'a>,
    input: Member<'a>,
}

/// Its JSON text, none when it is absent or null.
type Member<'a> = Option<&'a RawValue>;

impl CallObject {
    /// Reads the JSON text of an object.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let members: Option<Members<'_>> = serde_json::from_str(json).ok();
        // A list would do as well, one member after the other.
        let Some(members) = members.filter(|_| !json.trim_start().starts_with('[')) else {
            return Err(RpcError::invalid_params("Invalid call object: an object is expected."));
        };
        Ok(Self {
            from: address(members.from, "from")?,
            to: address(members.to, "to")?,
            gas: number(members.gas, "gas")?,
            gas_limit: number(members.gas_limit, "gasLimit")?,
            gas_price: number(members.gas_price, "gasPrice")?,
            value: number(members.value, "value")?,
            nonce: number(members.nonce, "nonce")?,
            chain_id: number(members.chain_id, "chainId")?.zip(text(members.chain_id, "chainId")?.map(Into::into)),
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

/// A member as text: numbers count as their digits.
fn text<'a>(member: Member<'a>, name: &str) -> Result<Option<Cow<'a, str>>, RpcError> {
    let Some(json) = member.map(RawValue::get) else { return Ok(None) };
    if let Ok(text) = serde_json::from_str::<&str>(json) {
        return Ok(Some(text.into()));
    }
    match serde_json::from_str(json) {
        Ok(Value::String(text)) => Ok(Some(text.into())),
        Ok(Value::Number(number)) => Ok(Some(number.to_string().into())),
        _ => Err(RpcError::invalid_params(format!("Invalid {name}: a string is expected."))),
    }
}

fn address(member: Member<'_>, name: &str) -> Result<Option<Address>, RpcError> {
    if member.is_none() {
        return Ok(None);
    }
    // What is no text is refused in the words of a malformed address.
    let text = text(member, name).ok().flatten().unwrap_or_default();
    parameters::address(&text).map(Some)
}

/// An empty text counts as absent.
fn number(member: Member<'_>, name: &str) -> Result<Option<U256>, RpcError> {
    text(member, name)?.filter(|text| !text.is_empty()).map(|text| parameters::number(&text)).transpose()
}

/// `input` and `data`: the one that is not empty; two different ones are refused.
fn payload(members: &Members<'_>) -> Result<Bytes, RpcError> {
    let read = |member, name| text(member, name)?.map_or_else(|| Ok(Bytes::new()), |text| parameters::bytes(&text));
    let (input, data) = (read(members.input, "input")?, read(members.data, "data")?);
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
                "gasPrice":"","chainId":"33","data":"\u0030x01","unknown":[1]}"#,
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
        assert_eq!(message(r#"{"gas":true}"#), "Invalid gas: a string is expected.");
        assert!(message("[]").starts_with("Invalid call object"));
        assert!(message(" [null,null,null,null,null,null,null,null,null,null]").starts_with("Invalid call object"));
        assert!(message("{").starts_with("Invalid call object"));
    }
}
