//! Requests and their expected answers.
//!
//! A plan is a list of entries: a line `PATH STATUS REQUEST ANSWER` (the latter two are lengths in bytes), then the body of
//! the request and the body of its answer. Nine consecutive `@` stand for an id: each request has unique ids,
//! and the answer must have the same ids in the same order. WebSocket ignores the path, and the status is 200.

use crate::protocol::Protocol;
use std::ops::Range;

const MARK: &[u8] = b"@@@@@@@@@";
const FIRST_ID: u32 = 100_000_000;
const LAST_ID: u32 = 999_999_999;

/// A request and its answer.
pub struct Entry {
    request: Vec<u8>,
    request_ids: Vec<Range<usize>>,
    answer: Vec<u8>,
    answer_ids: Vec<Range<usize>>,
    status: u16,
}

/// Source of unique ids.
pub struct Ids(u32);

impl Ids {
    pub fn new() -> Self {
        Self(FIRST_ID)
    }

    fn take(&mut self, count: usize) -> u32 {
        let count = u32::try_from(count).unwrap_or(0);
        if self.0 > LAST_ID - count {
            self.0 = FIRST_ID;
        }
        self.0 += count;
        self.0 - count
    }
}

impl Entry {
    /// Appends the request to `buffer` and returns its first id.
    pub fn write(&self, buffer: &mut Vec<u8>, ids: &mut Ids) -> u32 {
        let first = ids.take(self.request_ids.len());
        let start = buffer.len();
        buffer.extend_from_slice(&self.request);
        for (id, range) in (first..).zip(&self.request_ids) {
            buffer[start + range.start..start + range.end].copy_from_slice(&digits(id));
        }
        first
    }

    /// Returns the fault of an answer to the request with the ids from `first` on, `None` if it is right.
    pub fn fault(&self, status: u16, body: &[u8], first: u32) -> Option<String> {
        let is_right = status == self.status && body.len() == self.answer.len() && self.is_same(body, first);
        (!is_right).then(|| self.describe(status, body, first))
    }

    fn is_same(&self, body: &[u8], first: u32) -> bool {
        let mut from = 0;
        for (id, range) in (first..).zip(&self.answer_ids) {
            if body[from..range.start] != self.answer[from..range.start] || body[range.clone()] != digits(id) {
                return false;
            }
            from = range.end;
        }
        body[from..] == self.answer[from..]
    }

    fn describe(&self, status: u16, body: &[u8], first: u32) -> String {
        let mut expected = self.answer.clone();
        for (id, range) in (first..).zip(&self.answer_ids) {
            expected[range.clone()].copy_from_slice(&digits(id));
        }
        let same = body.iter().zip(&expected).take_while(|(got, wanted)| got == wanted).count();
        let from = same.saturating_sub(60);
        let show =
            |text: &[u8]| String::from_utf8_lossy(&text[from.min(text.len())..text.len().min(from + 200)]).into_owned();
        format!(
            "expected {} and {} bytes, ...{}, got {status} and {} bytes, ...{}",
            self.status,
            expected.len(),
            show(&expected),
            body.len(),
            show(body),
        )
    }
}

fn digits(id: u32) -> [u8; 9] {
    let mut text = [b'0'; 9];
    let mut rest = id;
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    text
}

/// Reads the entries of a plan and builds their requests.
pub fn read(mut bytes: &[u8], protocol: &Protocol) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
        let line = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let [path, status, request, answer] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("plan: {line}: expected PATH STATUS REQUEST ANSWER"));
        };
        let number = |text: &str| text.parse::<usize>().map_err(|_| format!("plan: {text}: not a number"));
        let (request, answer) = (number(request)?, number(answer)?);
        let bodies = bytes.get(end + 1..end + 1 + request + answer).ok_or("plan: truncated")?;
        let (request, answer) = bodies.split_at(request);
        entries.push(entry(protocol.request(path, request), number(status)?, answer));
        bytes = &bytes[end + 1 + bodies.len()..];
    }
    if entries.is_empty() { Err("plan: no entries".to_owned()) } else { Ok(entries) }
}

fn entry(request: Vec<u8>, status: usize, answer: &[u8]) -> Entry {
    Entry {
        request_ids: marks(&request),
        request,
        answer: answer.to_vec(),
        answer_ids: marks(answer),
        status: u16::try_from(status).unwrap_or(0),
    }
}

fn marks(text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].windows(MARK.len()).position(|part| part == MARK) {
        ranges.push(from + at..from + at + MARK.len());
        from += at + MARK.len();
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http() -> Protocol {
        Protocol::Http { host: "x".to_owned() }
    }

    fn web_socket() -> Protocol {
        Protocol::WebSocket { host: "x".to_owned(), path: "/".to_owned() }
    }

    fn sample(protocol: &Protocol) -> Entry {
        let plan = b"/ 200 16 16\n{\"id\":@@@@@@@@@}{\"id\":@@@@@@@@@}";
        read(plan, protocol).expect("a plan").remove(0)
    }

    #[test]
    fn accepts_an_answer_with_the_id_of_its_request() {
        for protocol in [http(), web_socket()] {
            let mut buffer = b"before".to_vec();
            let mut ids = Ids::new();
            let first = sample(&protocol).write(&mut buffer, &mut ids);
            assert!(buffer.starts_with(b"before") && buffer.ends_with(b"{\"id\":100000000}"));
            assert_eq!(sample(&protocol).fault(200, b"{\"id\":100000000}", first), None);
            assert_eq!(sample(&protocol).write(&mut buffer, &mut ids), first + 1);
        }
    }

    #[test]
    fn rejects_wrong_ids_statuses_lengths_and_contents() {
        for (status, body) in [
            (200, &b"{\"id\":100000001}"[..]),
            (500, b"{\"id\":100000000}"),
            (200, b"{\"id\":10000000}"),
            (200, b"{\"is\":100000000}"),
            (200, b"{\"id\":100000000]"),
        ] {
            assert!(sample(&http()).fault(status, body, FIRST_ID).is_some(), "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn ids_wrap_before_they_have_more_digits() {
        let mut ids = Ids(LAST_ID - 1);
        assert_eq!(ids.take(3), FIRST_ID);
    }

    #[test]
    fn rejects_a_truncated_plan() {
        assert!(read(b"/ 200 12 16\nabc", &http()).is_err());
        assert!(read(b"", &http()).is_err());
        assert!(read(b"/ 200\n", &http()).is_err());
    }
}
