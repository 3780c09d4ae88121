//! Writes JSON text straight into one buffer: no trees, no intermediate strings.

use rhizome_primitives::{B256, U256, hex};

/// Grows a JSON text. Commas are placed by looking at the last byte, so members and elements are
/// simply written one after the other.
#[derive(Debug, Default)]
pub struct JsonWriter {
    out: Vec<u8>,
}

impl JsonWriter {
    /// An empty text.
    pub fn new() -> Self {
        Self::with_capacity(128)
    }

    /// An empty text with room for `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { out: Vec::with_capacity(bytes) }
    }

    /// The text.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    fn separate(&mut self) {
        if !matches!(self.out.last(), None | Some(b'{' | b'[' | b':')) {
            self.out.push(b',');
        }
    }

    /// Opens an object.
    pub fn begin_object(&mut self) {
        self.separate();
        self.out.push(b'{');
    }

    /// Closes an object.
    pub fn end_object(&mut self) {
        self.out.push(b'}');
    }

    /// Opens an array.
    pub fn begin_array(&mut self) {
        self.separate();
        self.out.push(b'[');
    }

    /// Closes an array.
    pub fn end_array(&mut self) {
        self.out.push(b']');
    }

    /// Writes a member name. Names are constants that need no escaping.
    #[inline]
    pub fn key(&mut self, name: &str) -> &mut Self {
        self.separate();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self
    }

    /// `null`.
    pub fn null(&mut self) {
        self.raw(b"null");
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    /// A JSON number.
    pub fn number(&mut self, value: i64) {
        self.raw(value.to_string().as_bytes());
    }

    /// A value that is already JSON text.
    pub fn raw(&mut self, json: &[u8]) {
        self.separate();
        self.out.extend_from_slice(json);
    }

    /// Part of a JSON text, as it is.
    pub fn append(&mut self, part: &[u8]) {
        self.out.extend_from_slice(part);
    }

    /// A QUANTITY.
    pub fn quantity(&mut self, value: u64) {
        self.quantity_bytes(&value.to_be_bytes());
    }

    /// A QUANTITY of up to 256 bits.
    pub fn quantity_wide(&mut self, value: &U256) {
        self.quantity_bytes(&value.to_be_bytes::<32>());
    }

    /// A QUANTITY from big-endian bytes of any length.
    pub fn quantity_bytes(&mut self, bytes: &[u8]) {
        self.open_hex();
        let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
        match bytes.get(first..).and_then(<[u8]>::split_first) {
            None => self.out.push(b'0'),
            Some((lead, rest)) => {
                if lead >> 4 != 0 {
                    self.out.push(digit(lead >> 4));
                }
                self.out.push(digit(lead & 15));
                self.push_hex(rest);
            }
        }
        self.out.push(b'"');
    }

    /// DATA.
    pub fn data(&mut self, bytes: &[u8]) {
        self.open_hex();
        self.push_hex(bytes);
        self.out.push(b'"');
    }

    /// Hex digits without `0x`.
    pub fn bare_hex(&mut self, bytes: &[u8]) {
        self.separate();
        self.out.push(b'"');
        self.push_hex(bytes);
        self.out.push(b'"');
    }

    /// The 64 hex digits of a number.
    pub fn bare_word(&mut self, value: &U256) {
        self.bare_hex(&value.to_be_bytes::<32>());
    }

    /// A member name in hex: `0x` and an address, say.
    pub fn data_key(&mut self, bytes: &[u8]) -> &mut Self {
        self.data(bytes);
        self.out.push(b':');
        self
    }

    /// A member name of 64 hex digits without `0x`.
    pub fn bare_word_key(&mut self, value: &U256) -> &mut Self {
        self.bare_word(value);
        self.out.push(b':');
        self
    }

    /// Bytes in Base64.
    pub fn base64(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        self.separate();
        self.out.push(b'"');
        for three in bytes.chunks(3) {
            let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
            for place in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * place)) as usize % 64];
                self.out.push(if place <= three.len() { digit } else { b'=' });
            }
        }
        self.out.push(b'"');
    }

    /// DATA(32) of a number, padded on the left.
    pub fn word(&mut self, value: &U256) {
        self.data(&value.to_be_bytes::<32>());
    }

    /// DATA(32).
    pub fn hash(&mut self, hash: &B256) {
        self.data(hash.as_slice());
    }

    /// A JSON string, escaped.
    pub fn text(&mut self, text: &str) {
        self.separate();
        self.out.push(b'"');
        for byte in text.bytes() {
            match byte {
                b'"' => self.out.extend_from_slice(b"\\\""),
                b'\\' => self.out.extend_from_slice(b"\\\\"),
                b'\n' => self.out.extend_from_slice(b"\\n"),
                b'\r' => self.out.extend_from_slice(b"\\r"),
                b'\t' => self.out.extend_from_slice(b"\\t"),
                0..=0x1f => {
                    self.out.extend_from_slice(b"\\u00");
                    self.out.push(digit(byte >> 4));
                    self.out.push(digit(byte & 15));
                }
                _ => self.out.push(byte),
            }
        }
        self.out.push(b'"');
    }

    fn open_hex(&mut self) {
        self.separate();
        self.out.extend_from_slice(b"\"0x");
    }

    fn push_hex(&mut self, bytes: &[u8]) {
        let start = self.out.len();
        self.out.resize(start + 2 * bytes.len(), 0);
        if let Some(room) = self.out.get_mut(start..) {
            // The room is exactly twice the input, the only thing the encoder can object to.
            let _ = hex::encode_to_slice(bytes, room);
        }
    }
}

const fn digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

/// A whole answer that is one QUANTITY.
pub fn quantity(value: u64) -> Vec<u8> {
    one(|json| json.quantity(value))
}

/// A whole answer that is one wide QUANTITY.
pub fn quantity_wide(value: &U256) -> Vec<u8> {
    one(|json| json.quantity_wide(value))
}

/// A whole answer that is DATA.
pub fn data(bytes: &[u8]) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(4 + 2 * bytes.len());
    json.data(bytes);
    json.finish()
}

/// A whole answer that is a string.
pub fn text(text: &str) -> Vec<u8> {
    one(|json| json.text(text))
}

/// A whole answer that is a boolean.
pub fn boolean(value: bool) -> Vec<u8> {
    one(|json| json.boolean(value))
}

/// The answer `null`.
pub fn null() -> Vec<u8> {
    b"null".to_vec()
}

fn one(write: impl FnOnce(&mut JsonWriter)) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(72);
    write(&mut json);
    json.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(write: impl FnOnce(&mut JsonWriter)) -> String {
        String::from_utf8(one(write)).unwrap()
    }

    #[test]
    fn quantities_have_no_leading_zeros() {
        assert_eq!(quantity(0), b"\"0x0\"");
        assert_eq!(quantity(0x0f), b"\"0xf\"");
        assert_eq!(quantity(0x100), b"\"0x100\"");
        assert_eq!(quantity(u64::MAX), b"\"0xffffffffffffffff\"");
        assert_eq!(text_of(|json| json.quantity_wide(&U256::from(1u64 << 36))), "\"0x1000000000\"");
        assert_eq!(text_of(|json| json.quantity_bytes(&[])), "\"0x0\"");
        assert_eq!(text_of(|json| json.quantity_bytes(&[0, 0, 0xab])), "\"0xab\"");
    }

    #[test]
    fn data_keeps_every_byte() {
        assert_eq!(data(&[]), b"\"0x\"");
        assert_eq!(data(&[0, 1, 0xff]), b"\"0x0001ff\"");
        assert_eq!(text_of(|json| json.word(&U256::from(5))).len(), 68);
    }

    #[test]
    fn commas_fall_into_place() {
        let written = text_of(|json| {
            json.begin_object();
            json.key("a").begin_array();
            json.quantity(1);
            json.null();
            json.boolean(true);
            json.begin_object();
            json.end_object();
            json.end_array();
            json.key("b").number(-7);
            json.key("c").text("x,[{:");
            json.key("d").null();
            json.end_object();
        });
        assert_eq!(written, r#"{"a":["0x1",null,true,{}],"b":-7,"c":"x,[{:","d":null}"#);
    }

    #[test]
    fn bare_forms_and_names() {
        let written = text_of(|json| {
            json.begin_object();
            json.data_key(&[0xab]).bare_hex(&[1, 2]);
            json.bare_word_key(&U256::from(5)).null();
            json.end_object();
        });
        assert_eq!(written, format!(r#"{{"0xab":"0102","{:0>64}":null}}"#, 5));
        let encoded = [&b""[..], b"a", b"ab", b"abc", &[1, 2]].map(|bytes| text_of(|json| json.base64(bytes)));
        assert_eq!(encoded, [r#""""#, r#""YQ==""#, r#""YWI=""#, r#""YWJj""#, r#""AQI=""#]);
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(text_of(|json| json.text("a\"\\\n\u{1}é")), "\"a\\\"\\\\\\n\\u0001é\"");
    }
}
