//! Replays the steps of a transcript and compares, with regard to what each step says about conformance.

use crate::dispatch::dispatch;
use rhizome_answers::{Answer, Node};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What became of the steps.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    /// The product may or must differ from the recording, and does as described.
    pub(crate) better: usize,
    /// The product must differ and does not: the choice of the reference was asked for.
    pub(crate) as_recorded: usize,
    /// Steps of methods that this crate does not have.
    pub(crate) others: BTreeMap<String, usize>,
    pub(crate) failures: Vec<String>,
}

enum Verdict {
    Passed,
    Better,
    AsRecorded,
    Failed(String),
}

impl Tally {
    /// Runs one step.
    pub(crate) fn run(&mut self, node: &Node, step: &Value) {
        let request = &step["request"];
        let method = request["method"].as_str().unwrap_or_default();
        let Some(answer) = ask(node, request) else {
            *self.others.entry(method.into()).or_default() += 1;
            return;
        };
        match judge(node, step, &as_response(answer)) {
            Verdict::Passed => self.passed += 1,
            Verdict::Better => self.better += 1,
            Verdict::AsRecorded => self.as_recorded += 1,
            Verdict::Failed(difference) => {
                self.failures.push(format!("step {} {method} {}: {difference}", step["n"], short(&request["params"])));
            }
        }
    }

    /// Prints the numbers of a file and fails on any failure that `known` does not name by its step.
    pub(crate) fn conclude(&self, file: &str, known: &[u64]) {
        let total = self.passed + self.better + self.as_recorded + self.failures.len();
        println!(
            "{file}: {total} steps, {} passed ({} equal, {} better, {} as recorded), {} failed, not here: {:?}",
            total - self.failures.len(),
            self.passed,
            self.better,
            self.as_recorded,
            self.failures.len(),
            self.others
        );
        let number = |failure: &String| {
            failure
                .strip_prefix("step ")
                .and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok())
                .unwrap_or_default()
        };
        let unexpected: Vec<&String> =
            self.failures.iter().filter(|failure| !known.contains(&number(failure))).collect();
        assert!(
            unexpected.is_empty(),
            "{file}:\n{}",
            unexpected.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("\n")
        );
        let failed: Vec<u64> = self.failures.iter().map(number).collect();
        let passing: Vec<&u64> = known.iter().filter(|step| !failed.contains(step)).collect();
        assert!(passing.is_empty(), "{file}: steps {passing:?} are listed as failing, but pass");
    }
}

fn ask(node: &Node, request: &Value) -> Option<Answer> {
    let mut parameters = request["params"].as_array().cloned().unwrap_or_default();
    parameters.iter_mut().for_each(expand);
    dispatch(node, request["method"].as_str()?, &parameters)
}

/// `{{X*N}}` in a text stands for N times X.
fn expand(value: &mut Value) {
    if let Value::String(text) = value
        && let Some((before, rest)) = text.split_once("{{")
        && let Some((repeated, after)) = rest.split_once("}}")
        && let Some((unit, count)) = repeated.split_once('*')
    {
        *text = format!("{before}{}{after}", unit.repeat(count.parse().unwrap()));
    }
}

/// The members `result` or `error` of a response.
fn as_response(answer: Answer) -> Value {
    match answer {
        Ok(text) => json!({ "result": serde_json::from_slice::<Value>(&text).unwrap() }),
        Err(error) => {
            let mut members: Map<String, Value> = serde_json::from_slice(&error.to_json()).unwrap();
            members.remove("cause");
            json!({ "error": members })
        }
    }
}

fn judge(node: &Node, step: &Value, ours: &Value) -> Verdict {
    let conformance = &step["conformance"];
    let mut ours = json!({ "response": ours });
    let mut recorded =
        json!({ "response": { "result": step["response"]["result"], "error": step["response"]["error"] } });
    prune(&mut recorded);
    if conformance["withRemoved"] == true {
        take_removed(&mut ours);
    }
    let product = &conformance["product"];
    let fields = product["fields"].as_object();
    let has_fields = fields
        .is_some_and(|fields| fields.iter().all(|(name, value)| ours["response"]["result"].get(name) == Some(value)));
    let free = conformance["mayDiffer"].as_array().into_iter().chain(step["volatile"].as_array()).flatten();
    for path in free.filter_map(Value::as_str) {
        let path = parse_path(path);
        remove(&mut ours, &path);
        remove(&mut recorded, &path);
    }
    for path in step["unordered"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let pointer = path.trim_start_matches('$').replace('.', "/");
        for side in [&mut ours, &mut recorded] {
            if let Some(Value::Array(elements)) = side.pointer_mut(&pointer) {
                elements.sort_by_key(Value::to_string);
            }
        }
    }
    let is_equal = ours == recorded;
    for name in fields.into_iter().flat_map(Map::keys) {
        let path = ["response", "result", name].map(|name| Segment::Member(name.into()));
        remove(&mut ours, &path);
        remove(&mut recorded, &path);
    }
    // A transaction that the recording does not find has no other members to compare.
    let has_fields = has_fields && (ours == recorded || recorded["response"]["result"].is_null());
    // A description in words says that the recording is wrong.
    let is_better = has_fields || is_product(node, product, &ours) || (is_in_words(product) && !is_equal);
    match conformance["level"].as_str() {
        Some("fix") if is_better => Verdict::Better,
        Some("fix") if is_equal => Verdict::AsRecorded,
        Some("may") if is_equal => Verdict::Passed,
        Some("may") if is_better => Verdict::Better,
        None | Some("exact") if is_equal => Verdict::Passed,
        _ => Verdict::Failed(format!("expected {}, got {}", short(&recorded), short(&ours))),
    }
}

fn is_in_words(product: &Value) -> bool {
    product.as_object().is_some_and(|members| members.keys().eq(["text"]))
}

/// Whether the answer is what the product shall say instead of the recording.
fn is_product(node: &Node, product: &Value, ours: &Value) -> bool {
    let ours = &ours["response"];
    if let Some(codes) = product["error"].as_array() {
        return codes.contains(&ours["error"]["code"]);
    }
    if let Some(request) = product.get("sameAs") {
        return ask(node, request).is_some_and(|answer| as_response(answer) == *ours);
    }
    match product.get("result") {
        Some(Value::String(kind)) if kind == "QUANTITY" => {
            let quantity = |value: &Value| u128::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok();
            let least = quantity(&product["min"]).unwrap_or_default();
            quantity(&ours["result"]).is_some_and(|value| value >= least)
        }
        Some(result) => ours.get("result") == Some(result),
        None => false,
    }
}

/// Log objects of searches carry `removed: false`, which the recording has not.
fn take_removed(response: &mut Value) {
    for log in response["response"]["result"].as_array_mut().into_iter().flatten() {
        assert_eq!(log.as_object_mut().and_then(|log| log.remove("removed")), Some(Value::Bool(false)));
    }
}

/// A step has either a result, which may be null, or an error.
fn prune(recorded: &mut Value) {
    let response = recorded["response"].as_object_mut().unwrap();
    let unused = if response["error"].is_null() { "error" } else { "result" };
    response.remove(unused);
}

#[derive(Debug, Clone)]
enum Segment {
    Member(String),
    Anywhere(String),
    Index(usize),
    EveryIndex,
}

/// `$.response.result..output`, `$.response.result[*].hash` and so on.
fn parse_path(path: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap();
    while !rest.is_empty() {
        if let Some(index) = rest.strip_prefix('[') {
            let (index, after) = index.split_once(']').unwrap();
            segments.push(index.parse().map_or(Segment::EveryIndex, Segment::Index));
            rest = after;
            continue;
        }
        let (is_anywhere, name) = match rest.strip_prefix("..") {
            Some(name) => (true, name),
            None => (false, rest.strip_prefix('.').unwrap()),
        };
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (name, after) = name.split_at(end);
        segments.push(if is_anywhere { Segment::Anywhere(name.into()) } else { Segment::Member(name.into()) });
        rest = after;
    }
    segments
}

fn remove(value: &mut Value, path: &[Segment]) {
    let Some((first, rest)) = path.split_first() else { return };
    match (first, value) {
        (Segment::Member(name), Value::Object(members)) if rest.is_empty() => {
            members.remove(name);
        }
        (Segment::Member(name), Value::Object(members)) => {
            if let Some(member) = members.get_mut(name) {
                remove(member, rest);
            }
        }
        (Segment::Index(index), Value::Array(elements)) => {
            if let Some(element) = elements.get_mut(*index) {
                remove(element, rest);
            }
        }
        (Segment::EveryIndex, Value::Array(elements)) => elements.iter_mut().for_each(|element| remove(element, rest)),
        (Segment::Anywhere(name), Value::Object(members)) => {
            members.remove(name);
            members.values_mut().for_each(|member| remove(member, path));
        }
        (Segment::Anywhere(_), Value::Array(elements)) => elements.iter_mut().for_each(|element| remove(element, path)),
        _ => {}
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 2000 { text } else { text.chars().take(2000).collect::<String>() + "…" }
}
