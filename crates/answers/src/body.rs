//! A large request body, split into requests: the byte ranges of their members. Nothing is copied, and only the envelopes
//! are parsed.

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt::{self, Write};
use std::ops::Range;

/// Deepest nesting of a body.
const MOST_LEVELS: usize = 64;
/// Values in a body: texts, numbers, lists, objects, members of lists and objects.
const MOST_VALUES: usize = 50_000;
/// Parameters whose positions are returned. No method takes as many.
const LOCATED_PARAMETERS: usize = 8;
/// Elements of a batch that are no requests do not count, up to this number for each request that is allowed.
const FAULTY_PER_REQUEST: usize = 20;

/// Faults of a body as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFault {
    /// Not JSON, or not UTF-8.
    NotJson,
    /// Nested more than 64 levels deep.
    TooDeep,
    /// More than 50,000 values.
    TooManyValues,
    /// A batch without elements.
    EmptyBatch,
    /// A batch of more requests than are allowed.
    LongBatch,
}

/// Faults of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestFault {
    None = 0,
    NoObject = 1,
    Id = 2,
    Version = 3,
    Method = 4,
    Params = 5,
}

/// The parts of a request, in bytes from the beginning of the body. An empty range stands for an absent part.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    fault: Option<RequestFault>,
    id: Range<usize>,
    method: Range<usize>,
    /// None: given by name.
    count: Option<usize>,
    params: Vec<Range<usize>>,
}

/// Says where the requests of a body are, as JSON: `{"fault": NAME}`, or `{"isBatch", "requests"}`. A request is a list of
/// numbers: its fault (0 to 5), beginning and end of its id and of its method, the number of its parameters (-1: they were
/// given by name), beginning and end of each parameter.
pub fn split(body: &[u8], most_requests: usize) -> Vec<u8> {
    let text = match split_requests(body, most_requests) {
        Ok((is_batch, requests)) => written(is_batch, &requests),
        Err(fault) => format!("{{\"fault\":\"{fault:?}\"}}"),
    };
    text.into_bytes()
}

fn split_requests(body: &[u8], most_requests: usize) -> Result<(bool, Vec<Request>), BodyFault> {
    let text = std::str::from_utf8(body).map_err(|_fault| BodyFault::NotJson)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    measure(text.as_bytes())?;
    let raw: &RawValue = serde_json::from_str(text).map_err(|_fault| BodyFault::NotJson)?;
    let split = Splitter { body };
    if !raw.get().starts_with('[') {
        return Ok((false, vec![split.request(raw)]));
    }
    let elements: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_fault| BodyFault::NotJson)?;
    if elements.is_empty() {
        return Err(BodyFault::EmptyBatch);
    }
    if elements.len() > most_requests.saturating_mul(FAULTY_PER_REQUEST) {
        return Err(BodyFault::LongBatch);
    }
    let members = elements.iter().map(|element| members(element)).collect::<Vec<_>>();
    if members.iter().flatten().filter(|members| members.method.is_some()).count() > most_requests {
        return Err(BodyFault::LongBatch);
    }
    Ok((true, members.into_iter().map(|members| split.parts(members)).collect()))
}

/// Rejects bodies that are nested too deeply or have too many values, before parsing. Unbalanced brackets are not JSON.
fn measure(text: &[u8]) -> Result<(), BodyFault> {
    let (mut depth, mut deepest, mut values, mut last) = (0_usize, 0, 1_usize, 0_u8);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(text, at).ok_or(BodyFault::NotJson)?;
            }
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
                values += 1;
            }
            b']' | b'}' => {
                depth = depth.checked_sub(1).ok_or(BodyFault::NotJson)?;
                // The first value of a container was counted with its opening.
                values -= usize::from(last == byte - 2);
            }
            b',' => values += 1,
            _ => {}
        }
        if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            last = byte;
        }
        at += 1;
    }
    match () {
        () if depth > 0 => Err(BodyFault::NotJson),
        () if deepest > MOST_LEVELS => Err(BodyFault::TooDeep),
        () if values > MOST_VALUES => Err(BodyFault::TooManyValues),
        () => Ok(()),
    }
}

/// Returns the position of the closing quotation mark.
fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The members of an envelope; the last of several equal ones counts.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
}

/// Returns the members of an object; `None` for other values.
fn members(raw: &RawValue) -> Option<Envelope<'_>> {
    raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EnvelopeVisitor;

        impl<'de> Visitor<'de> for EnvelopeVisitor {
            type Value = Envelope<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Envelope::default();
                // A name with invalid escapes is not a member of the envelope.
                while let Some(name) = map.next_key::<&'de RawValue>()? {
                    let name = serde_json::from_str::<String>(name.get()).unwrap_or_default();
                    match name.as_str() {
                        "jsonrpc" => members.jsonrpc = Some(map.next_value()?),
                        "id" => members.id = Some(map.next_value()?),
                        "method" => members.method = Some(map.next_value()?),
                        "params" => members.params = Some(map.next_value()?),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct Splitter<'a> {
    body: &'a [u8],
}

impl Splitter<'_> {
    fn request(&self, raw: &RawValue) -> Request {
        self.parts(members(raw))
    }

    fn parts(&self, members: Option<Envelope<'_>>) -> Request {
        let mut request = Request { fault: None, id: 0..0, method: 0..0, count: Some(0), params: Vec::new() };
        let Some(Envelope { jsonrpc, id, method, params }) = members else {
            request.fault = Some(RequestFault::NoObject);
            return request;
        };
        if let Some(id) = id {
            if matches!(id.get().as_bytes().first(), Some(b'{' | b'[' | b't' | b'f')) {
                request.fault = Some(RequestFault::Id);
                return request;
            }
            request.id = self.range_of(id);
        }
        if jsonrpc.is_some_and(|raw| serde_json::from_str::<String>(raw.get()).ok().as_deref() != Some("2.0")) {
            request.fault = Some(RequestFault::Version);
            return request;
        }
        match method.filter(|raw| raw.get().starts_with('"')) {
            Some(method) => request.method = self.range_of(method),
            None => {
                request.fault = Some(RequestFault::Method);
                return request;
            }
        }
        let Some(params) = params.filter(|raw| raw.get() != "null") else { return request };
        match params.get().as_bytes().first() {
            Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(params.get()) {
                Ok(values) => {
                    request.count = Some(values.len());
                    request.params = values.iter().take(LOCATED_PARAMETERS).map(|raw| self.range_of(raw)).collect();
                }
                Err(_fault) => request.fault = Some(RequestFault::Params),
            },
            Some(b'{') => {
                let is_empty = params.get()[1..].trim_start().starts_with('}');
                request.count = is_empty.then_some(0);
            }
            _ => request.fault = Some(RequestFault::Params),
        }
        request
    }

    /// Returns the range of a part in the body.
    fn range_of(&self, part: &RawValue) -> Range<usize> {
        let start = part.get().as_ptr().addr() - self.body.as_ptr().addr();
        start..start + part.get().len()
    }
}

fn written(is_batch: bool, requests: &[Request]) -> String {
    let mut text = format!("{{\"isBatch\":{is_batch},\"requests\":[");
    for (index, Request { fault, id, method, count, params }) in requests.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let fault = fault.unwrap_or(RequestFault::None) as u8;
        let count = count.map_or(-1, |count| i64::try_from(count).unwrap_or(i64::MAX));
        let _never = write!(text, "{comma}[{fault},{},{},{},{},{count}", id.start, id.end, method.start, method.end);
        for Range { start, end } in params {
            let _never = write!(text, ",{start},{end}");
        }
        text.push(']');
    }
    text + "]}"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(body: &str) -> Option<BodyFault> {
        split_requests(body.as_bytes(), 50).err()
    }

    fn only(body: &str) -> Request {
        let (is_batch, mut requests) = split_requests(body.as_bytes(), 50).unwrap();
        assert!(!is_batch && requests.len() == 1);
        requests.remove(0)
    }

    #[test]
    fn parts_of_a_request() {
        let body = "\u{feff} {\"id\" : 1.0, \"x\\ud800\":[1], \"method\":\"a\\u0062\",\"params\":[ {\"b\":[]} ,2]} ";
        let request = only(body);
        let text = |range: &Range<usize>| &body[range.clone()];
        assert_eq!((text(&request.id), text(&request.method)), ("1.0", "\"a\\u0062\""));
        assert_eq!(request.params.iter().map(text).collect::<Vec<_>>(), ["{\"b\":[]}", "2"]);
        assert_eq!((request.fault, request.count), (None, Some(2)));
    }

    #[test]
    fn envelopes() {
        let of = |body: &str| {
            let request = only(body);
            (request.fault, request.count)
        };
        for (body, expected) in [
            (r#"{"method":"a"}"#, (None, Some(0))),
            (r#"{"method":"a","params":null}"#, (None, Some(0))),
            (r#"{"method":"a","params":{ }}"#, (None, Some(0))),
            (r#"{"method":"a","params":{"x":1}}"#, (None, None)),
            (r#"{"id":{},"method":"a"}"#, (Some(RequestFault::Id), Some(0))),
            (r#"{"id":true,"method":"a"}"#, (Some(RequestFault::Id), Some(0))),
            (r#"{"jsonrpc":"1.0","method":"a"}"#, (Some(RequestFault::Version), Some(0))),
            (r#"{"jsonrpc":2,"method":"a"}"#, (Some(RequestFault::Version), Some(0))),
            (r#"{"method":5}"#, (Some(RequestFault::Method), Some(0))),
            (r#"{"method":"a","params":5}"#, (Some(RequestFault::Params), Some(0))),
            ("1", (Some(RequestFault::NoObject), Some(0))),
        ] {
            assert_eq!(of(body), expected, "{body}");
        }
        let body = r#"{"id":1,"id":2,"method":"a","method":"b"}"#;
        assert_eq!(&body[only(body).id], "2");
    }

    #[test]
    fn faults() {
        for body in ["", " ", "{", "[1,]", "\"", "{}{}", "[[[", "]", "{\"id\":1} x", "[1}"] {
            assert_eq!(fault(body), Some(BodyFault::NotJson), "{body}");
        }
        assert_eq!(split_requests(b"\"\xff\"", 50).err(), Some(BodyFault::NotJson));
        assert_eq!(fault("[]"), Some(BodyFault::EmptyBatch));
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!((fault(&nested(64)), fault(&nested(65))), (None, Some(BodyFault::TooDeep)));
        assert_eq!(fault(&"[".repeat(1000)), Some(BodyFault::NotJson));
        assert_eq!(fault(&format!("\"{}\"", "[\\\"".repeat(1000))), None);
        let values = |count: usize| format!("{{\"method\":\"a\",\"params\":[{}1]}}", "1, ".repeat(count - 1));
        // The object, its members, and those of the list.
        assert_eq!((fault(&values(49_997)), fault(&values(49_998))), (None, Some(BodyFault::TooManyValues)));
        assert_eq!(fault(&format!("{{\"params\":[{}{{}}]}}", "{ },".repeat(49_000))), None);
    }

    #[test]
    fn batches() {
        let batch = |count: usize, element: &str| format!("[{}{element}]", format!("{element},").repeat(count - 1));
        assert_eq!(fault(&batch(50, r#"{"method":"a"}"#)), None);
        assert_eq!(fault(&batch(51, r#"{"method":1}"#)), Some(BodyFault::LongBatch));
        assert_eq!((fault(&batch(1000, "1")), fault(&batch(1001, "1"))), (None, Some(BodyFault::LongBatch)));
        let (is_batch, requests) = split_requests(br#"[1,{"id":3,"method":"a"}]"#, 50).unwrap();
        assert!(is_batch && requests[0].fault == Some(RequestFault::NoObject) && requests[1].id == (9..10));
    }

    #[test]
    fn writes_ranges_as_numbers() {
        let ranges = String::from_utf8(split(br#"{"id":7,"method":"a","params":[true]}"#, 50)).unwrap();
        assert_eq!(ranges, r#"{"isBatch":false,"requests":[[0,6,7,17,20,1,31,35]]}"#);
        assert_eq!(split(b"[", 50), br#"{"fault":"NotJson"}"#);
    }
}
