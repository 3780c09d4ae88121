//! Selection of a tracer, and options of its output.

use crate::error::RpcError;
use crate::overrides::{self, Overrides};
use crate::sent::{Sent, shortened};
use serde_json::Value;

/// A tracer by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tracer {
    /// Every instruction, in the shape of the reference.
    #[default]
    StructLogs,
    /// Calls as a tree.
    Calls,
    /// The state that the execution touched.
    Prestate,
}

/// The options of `debug_trace*`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// Which tracer.
    pub tracer: Tracer,
    /// Calls: only the outermost.
    pub has_only_top: bool,
    /// Calls: with logs.
    pub has_logs: bool,
    /// Prestate: before and after, what changed only.
    pub is_diff: bool,
    /// Prestate: without code.
    pub hides_code: bool,
    /// Instructions: without memory.
    pub hides_memory: bool,
    /// Instructions: without stack.
    pub hides_stack: bool,
    /// Instructions and prestate: without storage.
    pub hides_storage: bool,
}

/// Names of the switches, in the order of `TraceOptions::set`.
const SWITCHES: [&str; 7] =
    ["onlyTopCall", "withLog", "diffMode", "disableCode", "disableMemory", "disableStack", "disableStorage"];
const EXPECTED: &str = "an object with tracer (rskTracer, callTracer, prestateTracer), tracerConfig, onlyTopCall, withLog, \
    diffMode, disableCode, disableMemory, disableStack, disableStorage";

impl TraceOptions {
    /// Reads `{tracer?, tracerConfig?, ..switches}`. Switches are members of the options or of `tracerConfig`. The case of
    /// tracers and switches is ignored, `"true"` counts as true, unknown members are ignored.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        Self::read(&serde_json::from_str(json).unwrap_or_default())
    }

    /// Reads the options of a call: those of [`TraceOptions::parse`], and `stateOverrides` and `blockOverrides`.
    pub fn parse_for_call(json: &str) -> Result<(Self, Overrides), RpcError> {
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        let options = Self::read(&value)?;
        let given = |name| value.get(name).filter(|value| !value.is_null());
        let state = given("stateOverrides").map(overrides::state_overrides).transpose()?.unwrap_or_default();
        let block = given("blockOverrides").map(overrides::block_overrides).transpose()?.unwrap_or_default();
        Ok((options, Overrides { state, block }))
    }

    fn read(value: &Value) -> Result<Self, RpcError> {
        let Value::Object(members) = value else { return Err(refusal("Invalid trace options")) };
        let config = match members.get("tracerConfig") {
            None | Some(Value::Null) => None,
            Some(Value::Object(config)) => Some(config),
            Some(_) => return Err(refusal("Invalid tracerConfig: an object is expected")),
        };
        let mut options = Self { tracer: tracer(members.get("tracer"))?, ..Self::default() };
        for (name, value) in members.iter().chain(config.into_iter().flatten()) {
            if is_set(value) {
                options.set(name);
            }
        }
        Ok(options)
    }

    fn set(&mut self, name: &str) {
        let flags = [
            &mut self.has_only_top,
            &mut self.has_logs,
            &mut self.is_diff,
            &mut self.hides_code,
            &mut self.hides_memory,
            &mut self.hides_stack,
            &mut self.hides_storage,
        ];
        for (switch, flag) in SWITCHES.iter().zip(flags) {
            if switch.eq_ignore_ascii_case(name) {
                *flag = true;
            }
        }
    }
}

fn refusal(message: impl Into<String>) -> RpcError {
    RpcError::invalid_params(message).with_hint(format!("options: expected {EXPECTED}"))
}

fn tracer(value: Option<&Value>) -> Result<Tracer, RpcError> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(Tracer::StructLogs) };
    let name = value.as_str().unwrap_or_default().to_ascii_lowercase();
    match name.as_str() {
        "rsktracer" => Ok(Tracer::StructLogs),
        "calltracer" => Ok(Tracer::Calls),
        "prestatetracer" => Ok(Tracer::Prestate),
        _ => Err(refusal(format!("Invalid tracer: {}", shortened(&Sent::from(value).quoted())))),
    }
}

fn is_set(value: &Value) -> bool {
    match value {
        Value::Bool(is_set) => *is_set,
        Value::String(text) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// Parts in the results of `trace_call` and the replays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplayParts {
    /// `trace`: the calls.
    pub has_trace: bool,
    /// `stateDiff`: changes of the state.
    pub has_state_diff: bool,
    /// `vmTrace`: every instruction.
    pub has_vm_trace: bool,
}

impl ReplayParts {
    /// Reads a JSON array of `trace`, `stateDiff`, `vmTrace`.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        Self::read(&serde_json::from_str(json).unwrap_or_default())
    }

    /// Reads an array of `trace`, `stateDiff`, `vmTrace`.
    pub(crate) fn read(value: &Value) -> Result<Self, RpcError> {
        let malformed = || {
            RpcError::invalid_params("Invalid trace types: an array of 'trace', 'stateDiff' and 'vmTrace' is expected.")
        };
        let Value::Array(names) = value else { return Err(malformed()) };
        let mut parts = Self::default();
        for name in names {
            match name.as_str() {
                Some("trace") => parts.has_trace = true,
                Some("stateDiff") => parts.has_state_diff = true,
                Some("vmTrace") => parts.has_vm_trace = true,
                _ => return Err(malformed()),
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        assert_eq!(TraceOptions::parse("{}").unwrap(), TraceOptions::default());
        let parsed = TraceOptions::parse(r#"{"tracer":"callTracer","withLog":true,"onlyTopCall":false}"#).unwrap();
        assert_eq!(parsed, TraceOptions { tracer: Tracer::Calls, has_logs: true, ..TraceOptions::default() });
        let parsed =
            TraceOptions::parse(r#"{"tracer":"CALLTRACER","tracerConfig":{"WITHLOG":"True"},"disableCode":"no"}"#);
        assert_eq!(parsed.unwrap(), TraceOptions { tracer: Tracer::Calls, has_logs: true, ..TraceOptions::default() });
        let message = |json| TraceOptions::parse_for_call(json).unwrap_err().message;
        for (json, refusal) in [
            (r#"{"tracer":"4byteTracer"}"#, "Invalid tracer: 4byteTracer"),
            (r#"{"tracer":""}"#, "Invalid tracer: "),
            (r#"{"tracerConfig":"x"}"#, "Invalid tracerConfig: an object is expected"),
            ("[]", "Invalid trace options"),
            (r#"{"blockOverrides":5}"#, "Invalid blockOverrides: must be an object"),
        ] {
            assert_eq!(message(json), refusal);
        }
        let json = r#"{"blockOverrides":{"number":"0x9"},"stateOverrides":null}"#;
        let (options, overrides) = TraceOptions::parse_for_call(json).unwrap();
        assert_eq!((options, overrides.block.number), (TraceOptions::default(), Some(9)));
    }

    #[test]
    fn parts() {
        let parsed = ReplayParts::parse(r#"["trace","vmTrace"]"#).unwrap();
        assert_eq!(parsed, ReplayParts { has_trace: true, has_vm_trace: true, has_state_diff: false });
        assert!(ReplayParts::parse(r#"["rewards"]"#).is_err() && ReplayParts::parse("{}").is_err());
    }
}
