//! `eth_getStorageValues`.

use crate::block_id::BlockId;
use crate::error::{Answer, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use crate::sent::{self, Location, Sent};
use crate::state;
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, U256};
use serde_json::Value;

/// Most slots of a request.
const MOST_SLOTS: usize = 1024;

/// Storage slots of accounts.
#[derive(Debug)]
pub struct WantedSlots(Vec<(Address, Vec<U256>)>);

impl WantedSlots {
    /// Reads the JSON text of `{address: [slot]}`.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let refused =
            |message: &str| RpcError::invalid_params(message).with_hint("slots: expected an object: address -> [slot]");
        let Ok(Value::Object(accounts)) = serde_json::from_str(json) else {
            return Err(refused("Invalid slots: must be an object"));
        };
        let at = |member| Location { owner: "slots", member };
        let account = |(account, slots): (&String, &Value)| {
            let address = sent::address(&Sent::Text(account.into()), at("address"))?;
            let Value::Array(slots) = slots else { return Err(refused("Invalid slots: an array is expected")) };
            let slot = |slot| sent::number(&Sent::from(slot), at("slot"));
            Ok((address, slots.iter().map(slot).collect::<Result<Vec<_>, _>>()?))
        };
        let wanted = accounts.iter().map(account).collect::<Result<Vec<_>, RpcError>>()?;
        match wanted.iter().map(|(_, slots)| slots.len()).sum::<usize>() {
            0 => Err(refused("empty request")),
            1..=MOST_SLOTS => Ok(Self(wanted)),
            _ => Err(refused(&format!("too many slots (max {MOST_SLOTS})"))),
        }
    }
}

/// Returns the words of the slots by account, in the order of the request. Slots of more than 32 bytes read as zero, as in
/// `eth_getStorageAt`.
pub fn answer(node: &Node, wanted: &WantedSlots, at: &BlockId<'_>, deadline: &Deadline) -> Answer {
    let state = at.state(node)?;
    let mut json = JsonWriter::with_capacity(128 * (1 + wanted.0.len()));
    json.begin_object();
    for (address, slots) in &wanted.0 {
        json.data_key(address.as_slice()).begin_array();
        for slot in slots {
            if deadline.has_passed() {
                return Err(RpcError::timed_out());
            }
            let value = state::slot(&*state, address, slot)?;
            json.word(&U256::try_from_be_slice(&value).unwrap_or_default());
        }
        json.end_array();
    }
    json.end_object();
    Ok(json.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_the_slots() {
        let account = format!("0x{}", "ab".repeat(20));
        let parsed =
            |slots: usize| WantedSlots::parse(&format!("{{\"{account}\":[{}]}}", vec!["\"0x1\""; slots].join(",")));
        assert_eq!(parsed(1024).unwrap().0[0].1.len(), 1024);
        assert_eq!(parsed(0).unwrap_err().message, "empty request");
        assert_eq!(parsed(1025).unwrap_err().message, "too many slots (max 1024)");
        assert_eq!(WantedSlots::parse("[]").unwrap_err().message, "Invalid slots: must be an object");
    }
}
