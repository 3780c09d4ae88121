//! Selection of a tracer, and options of its output.

use crate::error::RpcError;
use crate::overrides::{self, Overrides};
use crate::sent::{Sent, shortened};
use serde_json::{Map, Value};

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
    /// Number of calls of each method, by the first four bytes of their data.
    FourByte,
    /// Calls as the list of `trace_*`.
    FlatCalls,
    /// Several tracers at once.
    Mux,
    /// Nothing.
    Noop,
    /// Calls with the instructions and storage slots that ERC-7562 restricts.
    Erc7562,
}

/// Tracers by name.
const TRACERS: [(&str, Tracer); 8] = [
    ("rskTracer", Tracer::StructLogs),
    ("callTracer", Tracer::Calls),
    ("prestateTracer", Tracer::Prestate),
    ("4byteTracer", Tracer::FourByte),
    ("flatCallTracer", Tracer::FlatCalls),
    ("muxTracer", Tracer::Mux),
    ("noopTracer", Tracer::Noop),
    ("erc7562Tracer", Tracer::Erc7562),
];

impl Tracer {
    /// Returns the name in requests.
    pub(crate) fn name(self) -> &'static str {
        TRACERS.iter().find(|(_, tracer)| *tracer == self).map_or("", |(name, _)| name)
    }
}

/// The options of `debug_trace*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// Mux: each tracer once.
    pub parts: Vec<TraceOptions>,
    /// ERC-7562: instructions that are not counted; `None`: the usual ones.
    pub ignored_instructions: Option<Vec<u8>>,
}

/// Names of the switches, in the order of `TraceOptions::set`.
const SWITCHES: [&str; 7] =
    ["onlyTopCall", "withLog", "diffMode", "disableCode", "disableMemory", "disableStack", "disableStorage"];
const EXPECTED: &str = "an object with tracer (rskTracer, callTracer, prestateTracer, 4byteTracer, flatCallTracer, \
    muxTracer, noopTracer, erc7562Tracer), tracerConfig, onlyTopCall, withLog, \
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
        if options.tracer == Tracer::Mux {
            options.parts = config.map(parts).transpose()?.unwrap_or_default();
            return Ok(options);
        }
        for (name, value) in members.iter().chain(config.into_iter().flatten()) {
            if is_set(value) {
                options.set(name);
            }
        }
        if let Some(list) = config.and_then(|config| config.get("ignoredOpcodes")).filter(|list| !list.is_null()) {
            options.ignored_instructions = Some(instructions(list)?);
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
    let name = value.as_str().unwrap_or_default();
    let known = TRACERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, tracer)| *tracer);
    known.ok_or_else(|| refusal(format!("Invalid tracer: {}", shortened(&Sent::from(value).quoted()))))
}

/// Reads the tracers of the muxTracer with their configurations.
fn parts(config: &Map<String, Value>) -> Result<Vec<TraceOptions>, RpcError> {
    let mut parts: Vec<TraceOptions> = Vec::new();
    for (name, config) in config {
        let part = TraceOptions::read(&serde_json::json!({ "tracer": name, "tracerConfig": config }))?;
        if part.tracer == Tracer::Mux || parts.iter().any(|other| other.tracer == part.tracer) {
            return Err(refusal(format!("Invalid tracerConfig: {} in a muxTracer", shortened(name))));
        }
        parts.push(part);
    }
    Ok(parts)
}

/// Reads bytes of instructions, as numbers or 0x hex.
fn instructions(list: &Value) -> Result<Vec<u8>, RpcError> {
    let malformed = || refusal("Invalid ignoredOpcodes: an array of bytes, 0x and hex digits, is expected");
    let byte = |value: &Value| match value {
        Value::String(text) => text.strip_prefix("0x").and_then(|digits| u8::from_str_radix(digits, 16).ok()),
        other => other.as_u64().and_then(|number| u8::try_from(number).ok()),
    };
    let list = list.as_array().filter(|list| list.len() <= 256).ok_or_else(malformed)?;
    list.iter().map(|value| byte(value).ok_or_else(malformed)).collect()
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
            (r#"{"tracer":"5byteTracer"}"#, "Invalid tracer: 5byteTracer"),
            (
                r#"{"tracer":"muxTracer","tracerConfig":{"muxTracer":{}}}"#,
                "Invalid tracerConfig: muxTracer in a muxTracer",
            ),
            (
                r#"{"tracer":"muxTracer","tracerConfig":{"noopTracer":1}}"#,
                "Invalid tracerConfig: an object is expected",
            ),
            (r#"{"tracer":""}"#, "Invalid tracer: "),
            (r#"{"tracerConfig":"x"}"#, "Invalid tracerConfig: an object is expected"),
            ("[]", "Invalid trace options"),
            (r#"{"blockOverrides":5}"#, "Invalid blockOverrides: must be an object"),
        ] {
            assert_eq!(message(json), refusal);
        }
        let json = r#"{"tracer":"muxTracer","tracerConfig":{"4byteTracer":null,"callTracer":{"withLog":true}}}"#;
        let tracers = TraceOptions::parse(json).unwrap().parts.into_iter().map(|part| (part.tracer, part.has_logs));
        assert_eq!(tracers.collect::<Vec<_>>(), [(Tracer::FourByte, false), (Tracer::Calls, true)]);
        let json = r#"{"tracer":"erc7562Tracer","tracerConfig":{"ignoredOpcodes":["0x54",1]}}"#;
        assert_eq!(TraceOptions::parse(json).unwrap().ignored_instructions, Some(vec![0x54, 1]));
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
