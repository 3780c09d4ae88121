//! Which tracer, and what it shows.

use crate::error::RpcError;
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

impl TraceOptions {
    /// Reads `{tracer?, onlyTopCall?, withLog?, diffMode?, disableCode?, disableMemory?, disableStack?, disableStorage?}`
    /// with booleans.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let Ok(Value::Object(members)) = serde_json::from_str(json) else {
            return Err(RpcError::invalid_params("Invalid trace options: an object is expected."));
        };
        let tracer = match members.get("tracer").and_then(Value::as_str) {
            None | Some("rskTracer") => Tracer::StructLogs,
            Some("callTracer") => Tracer::Calls,
            Some("prestateTracer") => Tracer::Prestate,
            Some(other) => return Err(RpcError::invalid_params(format!("Invalid tracer: {other}"))),
        };
        Ok(Self {
            tracer,
            has_only_top: is_set(&members, "onlyTopCall"),
            has_logs: is_set(&members, "withLog"),
            is_diff: is_set(&members, "diffMode"),
            hides_code: is_set(&members, "disableCode"),
            hides_memory: is_set(&members, "disableMemory"),
            hides_stack: is_set(&members, "disableStack"),
            hides_storage: is_set(&members, "disableStorage"),
        })
    }
}

fn is_set(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name) == Some(&Value::Bool(true))
}

/// What `trace_call` and the replays show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplayParts {
    /// `trace`: the calls.
    pub has_trace: bool,
    /// `stateDiff`: what changed in the state.
    pub has_state_diff: bool,
    /// `vmTrace`: every instruction.
    pub has_vm_trace: bool,
}

impl ReplayParts {
    /// Reads a JSON array of `trace`, `stateDiff`, `vmTrace`.
    pub fn parse(json: &str) -> Result<Self, RpcError> {
        let malformed = || {
            RpcError::invalid_params("Invalid trace types: an array of 'trace', 'stateDiff' and 'vmTrace' is expected.")
        };
        let Ok(Value::Array(names)) = serde_json::from_str(json) else { return Err(malformed()) };
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
        assert!(TraceOptions::parse(r#"{"tracer":"4byteTracer"}"#).is_err());
        assert!(TraceOptions::parse("[]").is_err());
    }

    #[test]
    fn parts() {
        let parsed = ReplayParts::parse(r#"["trace","vmTrace"]"#).unwrap();
        assert_eq!(parsed, ReplayParts { has_trace: true, has_vm_trace: true, has_state_diff: false });
        assert!(ReplayParts::parse(r#"["rewards"]"#).is_err() && ReplayParts::parse("{}").is_err());
    }
}
