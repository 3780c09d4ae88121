//! Credentials of URLs as a header (RFC 7617).

use object_store::HeaderValue;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the value of an `Authorization` header. `credentials`: user and password as in a URL, separated by a colon.
/// `None` if they are empty.
pub(crate) fn basic_authorization(credentials: &str) -> Option<HeaderValue> {
    if credentials.is_empty() {
        return None;
    }
    let mut decoded = percent_decoded(credentials.as_bytes());
    if !decoded.contains(&b':') {
        decoded.push(b':');
    }
    let mut value = HeaderValue::from_str(&format!("Basic {}", base64(&decoded))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn percent_decoded(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let [first, rest @ ..] = text {
        let escaped = rest.split_first_chunk::<2>().filter(|_| *first == b'%');
        let escaped = escaped.and_then(|(digits, rest)| Some((*hex::decode(digits).ok()?.first()?, rest)));
        let (byte, rest) = escaped.unwrap_or((*first, rest));
        out.push(byte);
        text = rest;
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let mut word = [0; 4];
        word.iter_mut().skip(1).zip(group).for_each(|(to, from)| *to = *from);
        let word = u32::from_be_bytes(word);
        for position in 0..4 {
            let digit = DIGITS.get((word >> (18 - 6 * position)) as usize & 63);
            out.push(digit.filter(|_| position <= group.len()).map_or('=', |digit| char::from(*digit)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_decoded_and_encoded() {
        for (credentials, expected) in [
            ("Aladdin:open%20sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("user", "Basic dXNlcjo="),
            ("a:100%", "Basic YToxMDAl"),
            ("a:%zz%4", "Basic YTolenolNA=="),
        ] {
            assert_eq!(basic_authorization(credentials).unwrap(), expected);
        }
    }
}
