//! Faults of objects of a request, for the order of faults: a caller that has rejected another parameter looks for a fault
//! that takes precedence over that one.

use crate::call_object::CallObject;
use crate::error::Answer;
use crate::json::JsonWriter;
use crate::overrides;
use crate::sent::{Fault, FaultClass};
use crate::simulation::Simulation;

/// Returns the fault of an object: `{"message","hint","shows"}`, or `null` if there is none. `shows` is absent for faults
/// of form. `name` is the name of the parameter. Only calls, transactions, overrides and simulations are checked.
pub fn answer(name: &str, json: &str) -> Answer {
    let value = || serde_json::from_str(json).unwrap_or_default();
    let fault = match name {
        "call" => CallObject::read_call(json).err(),
        "transaction" => CallObject::read_transaction(json).err(),
        "simulation" => Simulation::read(json).err(),
        "stateOverrides" => overrides::state_overrides(&value()).err(),
        "blockOverrides" => overrides::block_overrides(&value()).err(),
        _ => None,
    };
    let mut writer = JsonWriter::new();
    match fault {
        Some(fault) => write(&mut writer, &fault),
        None => writer.null(),
    }
    Ok(writer.finish())
}

fn write(json: &mut JsonWriter, fault: &Fault) {
    json.begin_object();
    json.key("message").text(&fault.message);
    if let Some(hint) = &fault.hint {
        json.key("hint").text(hint);
    }
    match fault.class {
        FaultClass::Form => {}
        FaultClass::InUse => json.key("shows").text("in use"),
        FaultClass::OnlyHere => json.key("shows").text("only here"),
    }
    json.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &str, json: &str) -> String {
        String::from_utf8(answer(name, json).unwrap()).unwrap()
    }

    #[test]
    fn names_the_class_of_the_fault() {
        assert_eq!(fault("call", r#"{"gas":"0x1"}"#), "null");
        assert!(fault("call", r#"{"gas":"zz"}"#).ends_with(r#"decimal"}"#));
        assert!(fault("call", r#"{"gas":"abc"}"#).ends_with(r#""shows":"in use"}"#));
        assert!(fault("call", "5").ends_with(r#""shows":"only here"}"#));
        assert!(fault("transaction", "{}").eq("null"));
        assert!(fault("transaction", r#"{"gas":"0x"}"#).starts_with(r#"{"message":"from is null""#));
        assert!(fault("stateOverrides", "5").starts_with(r#"{"message":"Invalid stateOverrides: must be an object""#));
        assert!(fault("blockOverrides", "5").starts_with(r#"{"message":"Invalid blockOverrides: must be an object""#));
        assert!(fault("simulation", "5").starts_with(r#"{"message":"Invalid simulation"#));
        assert_eq!(fault("filter", "5"), "null");
    }
}
