//! Credentials of URLs as a header (RFC 7617).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use object_store::HeaderValue;
use percent_encoding::percent_decode_str;

/// Returns the value of an `Authorization` header. `credentials`: user and password as in a URL, separated by a colon.
/// `None` if they are empty.
pub(crate) fn basic_authorization(credentials: &str) -> Option<HeaderValue> {
    if credentials.is_empty() {
        return None;
    }
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let decoded: Vec<u8> =
        percent_decode_str(user).chain(std::iter::once(b':')).chain(percent_decode_str(password)).collect();
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(decoded))).ok()?;
    value.set_sensitive(true);
    Some(value)
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
