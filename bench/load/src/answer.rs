//! HTTP answers: where they end.

/// A complete answer at the beginning of a buffer.
pub struct Answer {
    pub status: u16,
    /// The body, when it is not in pieces.
    pub body: Body,
    /// Where the next answer begins.
    pub end: usize,
    /// The server closes the connection after it.
    pub is_last: bool,
}

/// Where the body is.
pub enum Body {
    At(usize, usize),
    Pieces(Vec<u8>),
}

/// Why there is no answer.
pub enum Missing {
    /// More bytes have to come.
    Bytes,
    /// These bytes are no answer.
    Sense,
}

/// The first answer in `bytes`.
pub fn first(bytes: &[u8]) -> Result<Answer, Missing> {
    let head = bytes.windows(4).position(|part| part == b"\r\n\r\n").ok_or(Missing::Bytes)?;
    let lines = &bytes[..head];
    let start = head + 4;
    let status = lines.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let status = status.ok_or(Missing::Sense)?;
    let is_last = header(lines, b"connection:").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    if let Some(length) = header(lines, b"content-length:") {
        let length: usize = length.parse().map_err(|_| Missing::Sense)?;
        let end = start + length;
        return if bytes.len() < end {
            Err(Missing::Bytes)
        } else {
            Ok(Answer { status, body: Body::At(start, end), end, is_last })
        };
    }
    match header(lines, b"transfer-encoding:") {
        Some("chunked") => {
            let (pieces, end) = chunks(bytes, start)?;
            Ok(Answer { status, body: Body::Pieces(pieces), end, is_last })
        }
        _ => Err(Missing::Sense),
    }
}

fn header<'a>(lines: &'a [u8], name: &[u8]) -> Option<&'a str> {
    let line = lines
        .split(|&byte| byte == b'\n')
        .find(|line| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))?;
    std::str::from_utf8(&line[name.len()..]).ok().map(str::trim)
}

fn chunks(bytes: &[u8], mut at: usize) -> Result<(Vec<u8>, usize), Missing> {
    let mut body = Vec::new();
    loop {
        let rest = bytes.get(at..).ok_or(Missing::Bytes)?;
        let line = rest.windows(2).position(|part| part == b"\r\n").ok_or(Missing::Bytes)?;
        let length = std::str::from_utf8(&rest[..line]).map_err(|_| Missing::Sense)?;
        let length = usize::from_str_radix(length, 16).map_err(|_| Missing::Sense)?;
        let start = at + line + 2;
        let piece = bytes.get(start..start + length).ok_or(Missing::Bytes)?;
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

    #[test]
    fn a_body_of_known_length() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP";
        let answer = first(text).ok().expect("an answer");
        assert_eq!((answer.status, answer.end), (200, text.len() - 4));
        assert!(matches!(answer.body, Body::At(start, end) if &text[start..end] == b"{}"));
        assert!(matches!(first(&text[..text.len() - 5]), Err(Missing::Bytes)));
    }

    #[test]
    fn a_body_in_pieces() {
        let text = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        let answer = first(text).ok().expect("an answer");
        assert_eq!(answer.end, text.len());
        assert!(matches!(answer.body, Body::Pieces(body) if body == b"abcde"));
        for end in 0..text.len() {
            assert!(matches!(first(&text[..end]), Err(Missing::Bytes)), "{end}");
        }
    }

    #[test]
    fn the_last_answer_of_a_connection() {
        let is_last = |text: &[u8]| first(text).ok().expect("an answer").is_last;
        assert!(is_last(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n"));
        assert!(!is_last(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"));
        assert!(!is_last(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    }

    #[test]
    fn what_is_no_answer() {
        assert!(matches!(first(b"nonsense\r\n\r\n"), Err(Missing::Sense)));
        assert!(matches!(first(b"HTTP/1.1 200 OK\r\n\r\n"), Err(Missing::Sense)));
        assert!(matches!(first(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), Err(Missing::Sense)));
    }
}
