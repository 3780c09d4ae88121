//! JSON-RPC over HTTP, on the caller's thread. Requests are batched, repeated with growing pauses, and bounded in bytes and time.

use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::blocking;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::{Outcome, Refusal, RemoteCall, shortened};
use crate::error::ForkError;

/// Calls in one request: nodes accept 50 or more.
const BATCH_CALLS: usize = 40;
/// Largest answer to one request.
const MAX_ANSWER_BYTES: u64 = 32 << 20;
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Time of one attempt.
const ATTEMPT_TIME: Duration = Duration::from_secs(20);
/// Time after which no further attempt begins.
const TOTAL_TIME: Duration = Duration::from_secs(30);
/// Pause before the second attempt. It doubles before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
const MAX_ATTEMPTS: u32 = 6;
/// Attempts to reach a host that no connection is made to: most likely the URL is wrong.
const MAX_CONNECTIONS: u32 = 2;
/// JSON-RPC code of a node that limits rates (EIP-1474).
const LIMIT_EXCEEDED: i64 = -32005;

/// Address of a remote node.
#[derive(Clone)]
pub struct RemoteAddress {
    url: Url,
    header: Option<(HeaderName, HeaderValue)>,
}

impl RemoteAddress {
    /// Parses a URL, and a header in the form NAME=VALUE that is sent with each request. The header is secret.
    pub fn parse(url: &str, header: Option<&str>) -> Result<Self, ForkError> {
        let url = Url::parse(url).map_err(|error| ForkError::Url { reason: error.to_string() })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(ForkError::Url { reason: format!("scheme {}", url.scheme()) });
        }
        let header = header.map(|text| {
            let (name, value) = text.split_once('=')?;
            let mut value = HeaderValue::from_str(value.trim()).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, value))
        });
        match header {
            Some(None) => Err(ForkError::Header),
            header => Ok(Self { url, header: header.flatten() }),
        }
    }

    /// Returns host and port. The rest of a URL may be a key.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Whether scheme, host and port are those of another address.
    pub fn is_host_of(&self, other: &Self) -> bool {
        self.url.origin() == other.url.origin()
    }

    pub(crate) fn url(&self) -> &str {
        self.url.as_str()
    }
}

/// A remote node.
pub(crate) struct Client {
    http: blocking::Client,
    address: RemoteAddress,
    host: String,
    /// Whether the node takes batches, as far as is known.
    has_batches: AtomicBool,
    requests: AtomicU64,
}

/// Result of one attempt that is not an answer.
enum AttemptFailure {
    /// No connection was made.
    Unconnected(ForkError),
    /// The next attempt may succeed. With the pause that the node asks for.
    Temporary(ForkError, Option<Duration>),
    /// The node does not take batches.
    NoBatches,
    Final(ForkError),
}

/// A member of an answer.
#[derive(Deserialize)]
struct CallReply<'a> {
    #[serde(default)]
    id: Option<u64>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Refusal>,
}

impl Client {
    pub(crate) fn new(address: &RemoteAddress) -> Result<Self, ForkError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, value)) = &address.header {
            headers.insert(name, value.clone());
        }
        let http = blocking::Client::builder()
            .default_headers(headers)
            .user_agent(concat!("Rhizome/", env!("CARGO_PKG_VERSION")))
            // A redirection would send the key to another host.
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIME)
            .timeout(ATTEMPT_TIME)
            .build()
            .map_err(|error| ForkError::Client { reason: error.to_string() })?;
        let (address, host) = (address.clone(), address.host());
        Ok(Self { http, address, host, has_batches: AtomicBool::new(true), requests: AtomicU64::new(0) })
    }

    pub(crate) fn address(&self) -> &RemoteAddress {
        &self.address
    }

    /// Returns the number of requests so far, repeated ones included.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns the outcome of each call, in their order.
    pub(crate) fn send(&self, calls: &[RemoteCall]) -> Result<Vec<Outcome>, ForkError> {
        let mut outcomes = Vec::with_capacity(calls.len());
        while let Some(rest) = calls.get(outcomes.len()..).filter(|rest| !rest.is_empty()) {
            let count = if self.has_batches.load(Ordering::Relaxed) { BATCH_CALLS } else { 1 };
            let chunk = rest.get(..count).unwrap_or(rest);
            match self.exchange(chunk) {
                Ok(answered) => outcomes.extend(answered),
                Err(AttemptFailure::NoBatches) => self.has_batches.store(false, Ordering::Relaxed),
                Err(
                    AttemptFailure::Unconnected(error)
                    | AttemptFailure::Temporary(error, _)
                    | AttemptFailure::Final(error),
                ) => {
                    return Err(error);
                }
            }
        }
        Ok(outcomes)
    }

    /// Sends a request until it is answered.
    fn exchange(&self, calls: &[RemoteCall]) -> Result<Vec<Outcome>, AttemptFailure> {
        let begun = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (error, most, wanted) = match self.attempt(calls) {
                Err(AttemptFailure::Unconnected(error)) => (error, MAX_CONNECTIONS, None),
                Err(AttemptFailure::Temporary(error, wanted)) => (error, MAX_ATTEMPTS, wanted),
                done => return done,
            };
            let pause_now = wanted.unwrap_or(pause).min(LONGEST_PAUSE);
            if attempts >= most || begun.elapsed() + pause_now > TOTAL_TIME {
                return Err(AttemptFailure::Final(error));
            }
            thread::sleep(pause_now);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn attempt(&self, calls: &[RemoteCall]) -> Result<Vec<Outcome>, AttemptFailure> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let bodies: Vec<String> = calls.iter().enumerate().map(|(id, call)| body(id, call)).collect();
        let is_batch = calls.len() > 1;
        let body = if is_batch { format!("[{}]", bodies.join(",")) } else { bodies.concat() };
        let sent = self.http.post(self.address.url.clone()).body(body).send();
        // Without the URL, which may contain a key.
        let away = |error: reqwest::Error| {
            let is_unconnected = error.is_connect();
            let error = self.away(&causes(&error.without_url()));
            if is_unconnected { AttemptFailure::Unconnected(error) } else { AttemptFailure::Temporary(error, None) }
        };
        let response = sent.map_err(away)?;
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let mut text = Vec::new();
        let read = response.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut text);
        read.map_err(|error| AttemptFailure::Temporary(self.away(&error.to_string()), None))?;
        if text.len() as u64 > MAX_ANSWER_BYTES {
            return Err(AttemptFailure::Final(self.not_json_rpc("with more than 32 MB")));
        }
        // A node may answer an error with status 400.
        if status.is_success() || status == StatusCode::BAD_REQUEST {
            return self.read(&text, calls.len(), is_batch);
        }
        let error = ForkError::Status { host: self.host.clone(), status: status.as_u16() };
        match status {
            StatusCode::TOO_MANY_REQUESTS => {
                Err(AttemptFailure::Temporary(error, retry_after.map(Duration::from_secs)))
            }
            StatusCode::PAYLOAD_TOO_LARGE if is_batch => Err(AttemptFailure::NoBatches),
            status if status.is_server_error() => {
                Err(AttemptFailure::Temporary(error, retry_after.map(Duration::from_secs)))
            }
            _ => Err(AttemptFailure::Final(error)),
        }
    }

    /// Reads the answer to a request of `count` calls.
    fn read(&self, text: &[u8], count: usize, is_batch: bool) -> Result<Vec<Outcome>, AttemptFailure> {
        let not_json = || AttemptFailure::Final(self.not_json_rpc("with something else than JSON-RPC"));
        if !is_batch {
            let reply: CallReply<'_> = serde_json::from_slice(text).map_err(|_other| not_json())?;
            return Ok(vec![self.outcome(reply)?]);
        }
        let replies: Vec<CallReply<'_>> = match serde_json::from_slice(text) {
            Ok(replies) => replies,
            Err(_other) => {
                let single: CallReply<'_> = serde_json::from_slice(text).map_err(|_other| not_json())?;
                drop(self.outcome(single)?);
                return Err(AttemptFailure::NoBatches);
            }
        };
        let mut outcomes: Vec<Option<Outcome>> = vec![None; count];
        for reply in replies {
            let place = reply.id.and_then(|id| outcomes.get_mut(usize::try_from(id).ok()?));
            let outcome = self.outcome(reply)?;
            if let Some(place) = place {
                *place = Some(outcome);
            }
        }
        let all: Option<Vec<Outcome>> = outcomes.into_iter().collect();
        all.ok_or_else(|| AttemptFailure::Final(self.not_json_rpc("a batch in part")))
    }

    fn outcome(&self, reply: CallReply<'_>) -> Result<Outcome, AttemptFailure> {
        match reply.error {
            Some(Refusal { code: LIMIT_EXCEEDED, message }) => {
                Err(AttemptFailure::Temporary(self.away(&format!("it limits requests: {}", shortened(&message))), None))
            }
            Some(refusal) => Ok(Err(refusal)),
            None => Ok(Ok(compact(reply.result)
                .ok_or_else(|| AttemptFailure::Final(self.not_json_rpc("with a result that is too deep")))?)),
        }
    }

    fn away(&self, reason: &str) -> ForkError {
        ForkError::Away { host: self.host.clone(), reason: reason.to_owned() }
    }

    fn not_json_rpc(&self, what: &'static str) -> ForkError {
        ForkError::NotJsonRpc { host: self.host.clone(), what }
    }
}

fn body(id: usize, RemoteCall { method, params }: &RemoteCall) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// Returns a result without blanks; an absent one is null.
fn compact(result: Option<&RawValue>) -> Option<String> {
    let Some(result) = result else { return Some("null".into()) };
    let text = result.get();
    if !text.contains(|character: char| character.is_ascii_whitespace()) {
        return Some(text.to_owned());
    }
    serde_json::from_str::<serde_json::Value>(text).ok().map(|value| value.to_string())
}

/// Returns the causes of an error, outermost first.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    shortened(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        let address = RemoteAddress::parse("https://node.example:8443/v1/secret", Some("X-Key = abc")).unwrap();
        assert_eq!(address.host(), "node.example:8443");
        let other = |url| RemoteAddress::parse(url, None).unwrap().is_host_of(&address);
        assert!(
            other("https://node.example:8443/other")
                && !other("https://node.example")
                && !other("http://node.example:8443")
        );
        for url in ["node.example", "ws://node.example", "http://", "file:///x"] {
            assert!(RemoteAddress::parse(url, None).is_err(), "{url}");
        }
        for header in ["X-Key", "=abc", "X Key=abc", "X-Key=a\nb"] {
            assert!(matches!(RemoteAddress::parse("http://node", Some(header)), Err(ForkError::Header)), "{header}");
        }
    }

    #[test]
    fn results_lose_their_blanks() {
        let raw = RawValue::from_string("{ \"a\": [ 1,\n2 ] }".into()).unwrap();
        assert_eq!(compact(Some(&raw)).unwrap(), r#"{"a":[1,2]}"#);
        assert_eq!(compact(None).unwrap(), "null");
    }
}
