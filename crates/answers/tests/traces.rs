//! Golden traces of the suite `evm`, replayed case by case. Shared by the tests of this crate and by the conformance runner.

use rhizome_answers::json::JsonWriter;
use rhizome_answers::options::TraceShape;
use rhizome_answers::tracing::Limit;
use rhizome_answers::tracing::call_tracer::{self, CallTracerForm};
use rhizome_answers::tracing::call_tree::CallTree;
use rhizome_answers::tracing::options::TraceOptions;
use rhizome_answers::tracing::struct_logs::StructLogs;
use rhizome_answers::tracing::traced::Traced;
use rhizome_answers::tracing::transaction_trace::{self, TraceLocation, Window};
use rhizome_evm::Deadline;
use rhizome_evm::tracing::{Inspection, Inspector};
use serde_json::Value;

use super::cases::trace::run;
use super::cases::{Mismatch, Verdict};

const SIZE_LIMIT: usize = 64 << 20;

/// Compares all traces of a case with the output of the reference node.
pub(crate) fn check(file: &Value, forks: &Value, case: &Value) -> Verdict {
    let execute = |inspector: &mut dyn Inspector| {
        let inspection = Inspection { inspector: Some(inspector), changes_limit: None };
        let (transaction, sender, inspected) = run(file, forks, case, inspection)?;
        Ok(Traced::of_transaction(&transaction, sender, inspected.outcome))
    };
    let expect = &case["expect"];
    let limit = Limit::new(SIZE_LIMIT);

    let options = options_of(case)?;
    let mut logs = StructLogs::new(options, TraceShape::Reference, limit, Deadline::none());
    let traced = execute(&mut logs)?;
    compare("debug_traceTransaction", expect, |json| logs.write(json, &traced))?;

    let mut tree = CallTree::new(limit, true, true);
    let traced = execute(&mut tree)?;
    for (name, has_only_top, has_logs) in
        [("callTracer", false, false), ("callTracerWithLog", false, true), ("callTracerOnlyTop", true, false)]
    {
        let form =
            CallTracerForm { shape: TraceShape::Reference, has_only_top, has_logs, first_log: 0, has_console: false };
        compare(name, expect, |json| call_tracer::write(json, &traced, &tree, form, &limit))?;
    }
    let location = TraceLocation {
        block_hash: parsed(&expect["blockHash"], "blockHash")?,
        block_number: number_of(&case["env"]["number"])?,
        transaction_hash: traced.hash,
        position: number_of(&case["env"]["txIndex"])? as usize,
    };
    compare("trace_transaction", expect, |json| {
        json.begin_array();
        let window = &mut Window::all();
        transaction_trace::write(json, &traced, &tree, TraceShape::Reference, Some(&location), window, &limit)?;
        json.end_array();
        Ok(())
    })
}

fn options_of(case: &Value) -> Result<TraceOptions, Mismatch> {
    let mut options = serde_json::json!({});
    for (name, value) in case["options"].as_object().into_iter().flatten() {
        options[name] = (value == "true" || value == true).into();
    }
    TraceOptions::parse(&options.to_string()).map_err(|error| Mismatch::broken("options", error))
}

fn compare(
    name: &str,
    expect: &Value,
    write: impl FnOnce(&mut JsonWriter) -> Result<(), rhizome_answers::RpcError>,
) -> Verdict {
    let Some(expected) = expect.get(name) else { return Ok(()) };
    let mut json = JsonWriter::new();
    write(&mut json).map_err(|error| Mismatch::broken(name, error))?;
    let got = serde_json::from_slice(&json.finish()).map_err(|error| Mismatch::broken(name, error))?;
    difference(name, expected, &got)
}

/// Returns the first difference between two values.
fn difference(at: &str, expected: &Value, got: &Value) -> Verdict {
    match (expected, got) {
        (Value::Object(one), Value::Object(other)) => {
            let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
            names.dedup();
            names.into_iter().try_for_each(|name| {
                let nothing = &Value::from("(absent)");
                let (one, other) = (one.get(name).unwrap_or(nothing), other.get(name).unwrap_or(nothing));
                difference(&format!("{at}.{name}"), one, other)
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.into_iter().try_for_each(|(index, (one, other))| difference(&format!("{at}[{index}]"), one, other))
        }
        _ if expected == got => Ok(()),
        _ => Err(Mismatch { what: at.to_owned(), expected: expected.to_string(), got: got.to_string() }),
    }
}

fn parsed<T: std::str::FromStr>(value: &Value, what: &str) -> Result<T, Mismatch> {
    let text = value.as_str().unwrap_or_default();
    text.parse().map_err(|_error| Mismatch::broken(what, text))
}

fn number_of(value: &Value) -> Result<u64, Mismatch> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let digits = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
    digits.unwrap_or_else(|| text.parse()).map_err(|_error| Mismatch::broken("number", text))
}
