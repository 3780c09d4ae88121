//! HTTP/1.1 (`httparse`): requests, and the end of answers.

use crate::protocol::{Answer, Body, ReadError};

/// Most headers of an answer.
const MAX_HEADERS: usize = 32;

pub fn request(host: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    request.extend_from_slice(body);
    request
}

/// The part of an answer before its body.
pub struct Head {
    pub status: u16,
    /// Where the body starts.
    pub end: usize,
    pub length: Option<usize>,
    pub is_chunked: bool,
    pub is_last: bool,
    /// `Sec-WebSocket-Accept`.
    pub accept: Option<String>,
}

/// Reads the head at the start of `bytes`.
pub fn head(bytes: &[u8]) -> Result<Head, ReadError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let end = match response.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Err(ReadError::Incomplete),
        Err(_) => return Err(no_length()),
    };
    let mut head = Head {
        status: response.code.ok_or_else(no_length)?,
        end,
        length: None,
        is_chunked: false,
        is_last: false,
        accept: None,
    };
    for header in response.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let text = || std::str::from_utf8(header.value).map_err(|_| no_length());
        if is("content-length") {
            head.length = Some(text()?.parse().map_err(|_| no_length())?);
        } else if is("transfer-encoding") {
            head.is_chunked = text()? == "chunked";
        } else if is("connection") {
            head.is_last = text()?.eq_ignore_ascii_case("close");
        } else if is("sec-websocket-accept") {
            head.accept = Some(text()?.to_owned());
        }
    }
    Ok(head)
}

/// Reads the answer in `bytes` and returns its length. Bytes after it are an error.
pub fn first(bytes: &[u8]) -> Result<(Answer, usize), ReadError> {
    let head = head(bytes)?;
    let start = head.end;
    let (body, end) = if let Some(length) = head.length {
        let end = start.checked_add(length).ok_or_else(no_length)?;
        (Body::At(start..end), end)
    } else if head.is_chunked {
        let (body, end) = chunks(bytes, start)?;
        (Body::Joined(body), end)
    } else {
        return Err(no_length());
    };
    match bytes.len() {
        length if length < end => Err(ReadError::Incomplete),
        length if length > end => Err(ReadError::invalid("bytes after the answer")),
        _ => Ok((Answer { status: head.status, body, is_last: head.is_last }, end)),
    }
}

fn no_length() -> ReadError {
    ReadError::invalid("no HTTP answer of known length")
}

fn chunks(bytes: &[u8], mut at: usize) -> Result<(Vec<u8>, usize), ReadError> {
    let mut body = Vec::new();
    loop {
        let rest = bytes.get(at..).ok_or(ReadError::Incomplete)?;
        let (line, length) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete(found)) => found,
            Ok(httparse::Status::Partial) => return Err(ReadError::Incomplete),
            Err(_) => return Err(no_length()),
        };
        let length = usize::try_from(length).map_err(|_| no_length())?;
        let start = at + line;
        let end = start.checked_add(length).ok_or_else(no_length)?;
        body.extend_from_slice(bytes.get(start..end).ok_or(ReadError::Incomplete)?);
        at = end + 2;
        if bytes.len() < at {
            return Err(ReadError::Incomplete);
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
    fn reads_a_body_with_a_length() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        let (answer, end) = read(text);
        assert_eq!((answer.status, end), (200, text.len()));
        assert!(matches!(answer.body, Body::At(range) if &text[range.clone()] == b"{}"));
        assert_eq!(first(&text[..text.len() - 1]).err(), Some(ReadError::Incomplete));
    }

    #[test]
    fn joins_chunks() {
        let text = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        let (answer, end) = read(text);
        assert_eq!(end, text.len());
        assert!(matches!(answer.body, Body::Joined(body) if body == b"abcde"));
        for end in 0..text.len() {
            assert_eq!(first(&text[..end]).err(), Some(ReadError::Incomplete), "{end}");
        }
    }

    #[test]
    fn detects_the_last_answer_of_a_connection() {
        let is_last = |text: &[u8]| read(text).0.is_last;
        assert!(is_last(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n"));
        assert!(!is_last(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"));
        assert!(!is_last(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    }

    #[test]
    fn rejects_invalid_answers() {
        for text in [
            "nonsense\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP",
        ] {
            assert!(matches!(first(text.as_bytes()), Err(ReadError::Invalid(_))), "{text}");
        }
    }
}
