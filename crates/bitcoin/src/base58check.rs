//! Base58Check: a payload and the first four bytes of its double SHA-256, in Bitcoin's base 58.

/// Returns the text of `payload`, version bytes included.
pub fn encode(payload: &[u8]) -> String {
    bs58::encode(payload).with_check().into_string()
}

/// Returns the payload of `text`, version bytes included; `None` if a character or the checksum is wrong. Takes time that
/// grows with the square of the length: callers reject texts that are too long for their payload first.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    bs58::decode(text).with_check(None).into_vec().ok()
}
