//! HTTP: requests, and where answers end.

use crate::protocol::{Answer, Body, Missing};

pub fn request(host: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    request.extend_from_slice(body);
    request
}

/// What stands before a body.
pub struct Head<'a> {
    pub status: u16,
    lines: &'a [u8],
    /// Where the body begins.
    pub end: usize,
}

/// The head at the beginning of `bytes`.
pub fn head(bytes: &[u8]) -> Result<Head<'_>, Missing> {
    let end = bytes.windows(4).position(|part| part == b"\r\n\r\n").ok_or(Missing::Bytes)?;
    let lines = &bytes[..end];
    let status = lines.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    Ok(Head { status: status.ok_or_else(no_length)?, lines, end: end + 4 })
}

impl<'a> Head<'a> {
    /// Of a header; `name` is in small letters and has its colon.
    pub fn value(&self, name: &[u8]) -> Option<&'a str> {
        let line = self
            .lines
            .split(|&byte| byte == b'\n')
            .find(|line| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))?;
        std::str::from_utf8(&line[name.len()..]).ok().map(str::trim)
    }
}

/// The answer in `bytes`, and its length: nothing else may have come.
pub fn first(bytes: &[u8]) -> Result<(Answer, usize), Missing> {
    let head = head(bytes)?;
    let start = head.end;
    let is_last = head.value(b"connection:").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    let (body, end) = if let Some(length) = head.value(b"content-length:") {
        let end = length.parse().ok().and_then(|length: usize| start.checked_add(length)).ok_or_else(no_length)?;
        (Body::At(start..end), end)
    } else if head.value(b"transfer-encoding:") == Some("chunked") {
        let (pieces, end) = chunks(bytes, start)?;
        (Body::Pieces(pieces), end)
    } else {
        return Err(no_length());
    };
    match bytes.len() {
        length if length < end => Err(Missing::Bytes),
        length if length > end => Err(Missing::sense("bytes after the answer")),
        _ => Ok((Answer { status: head.status, body, is_last }, end)),
    }
}

fn no_length() -> Missing {
    Missing::sense("no HTTP answer of known length")
}

fn chunks(bytes: &[u8], mut at: usize) -> Result<(Vec<u8>, usize), Missing> {
    let mut body = Vec::new();
    loop {
        let rest = bytes.get(at..).ok_or(Missing::Bytes)?;
        let line = rest.windows(2).position(|part| part == b"\r\n").ok_or(Missing::Bytes)?;
        let length = std::str::from_utf8(&rest[..line]).map_err(|_| no_length())?;
        let length = usize::from_str_radix(length, 16).map_err(|_| no_length())?;
        let start = at + line + 2;
        let piece = start.checked_add(length).ok_or_else(no_length)?;
        let piece = bytes.get(start..piece).ok_or(Missing::Bytes)?;
        body.extend_from_slice(piece);
        at = start + length + 2;
        if bytes.len() < at {
            return Err(Missing::Bytes);
        }
        if length == 0 {
            return Ok((body, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (Answer, usize) {
        first(text).expect("an answer")
    }

    #[test]
    fn a_body_of_known_length() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        let (answer, end) = read(text);
        assert_eq!((answer.status, end), (200, text.len()));
        assert!(matches!(answer.body, Body::At(place) if &text[place.clone()] == b"{}"));
        assert_eq!(first(&text[..text.len() - 1]).err(), Some(Missing::Bytes));
    }

    #[test]
    fn a_body_in_pieces() {
        let text = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        let (answer, end) = read(text);
        assert_eq!(end, text.len());
        assert!(matches!(answer.body, Body::Pieces(body) if body == b"abcde"));
        for end in 0..text.len() {
            assert_eq!(first(&text[..end]).err(), Some(Missing::Bytes), "{end}");
        }
    }

    #[test]
    fn the_last_answer_of_a_connection() {
        let is_last = |text: &[u8]| read(text).0.is_last;
        assert!(is_last(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n"));
        assert!(!is_last(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"));
        assert!(!is_last(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    }

    #[test]
    fn what_is_no_answer() {
        for text in [
            "nonsense\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP",
        ] {
            assert!(matches!(first(text.as_bytes()), Err(Missing::Sense(_))), "{text}");
        }
    }
}
