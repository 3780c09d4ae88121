//! `web3_sha3`.

use crate::error::{Answer, RpcError};
use crate::json;
use crate::parameters;
use rhizome_primitives::keccak256;

/// Keccak-256 of the bytes. The prefix is obligatory here: plain text is a common mistake of callers.
pub fn answer(data: &str) -> Answer {
    let refusal = || RpcError::invalid_params("Parameter must be hexadecimal encoded with the '0x' prefix.");
    if !data.starts_with("0x") {
        return Err(refusal());
    }
    let bytes = parameters::bytes(data).map_err(|_words| refusal())?;
    Ok(json::data(keccak256(&bytes).as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_bytes_not_text() {
        let expected = b"\"0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad\"";
        assert_eq!(answer("0x68656c6c6f20776f726c64").unwrap(), expected);
        let nothing = b"\"0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470\"";
        assert_eq!(answer("0x").unwrap(), nothing);
        assert!(answer("hello").is_err() && answer("0xzz").is_err());
    }
}
