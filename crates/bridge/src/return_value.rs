//! Return values of methods and their ABI encoding (docs/spec/bridge.md, 2.3).

use rhizome_primitives::{Bytes, I256, U256, abi};

/// The value that a method returns.
#[derive(Debug)]
pub(crate) enum ReturnValue {
    /// The method returns no value.
    None,
    /// A value of any static type.
    Word(U256),
    /// `bytes` or `string`.
    Bytes(Vec<u8>),
    /// `string[]`.
    Strings(Vec<Vec<u8>>),
}

impl ReturnValue {
    pub(crate) fn number(number: u64) -> Self {
        Self::Word(U256::from(number))
    }

    /// A result code, which may be negative.
    pub(crate) fn code(code: i64) -> Self {
        Self::Word(I256::try_from(code).map_or(U256::ZERO, I256::into_raw))
    }

    pub(crate) fn flag(flag: bool) -> Self {
        Self::number(u64::from(flag))
    }

    /// Returns the ABI encoding; `None` if the method returns no value.
    pub(crate) fn encode(self) -> Option<Bytes> {
        match self {
            Self::None => None,
            Self::Word(word) => Some(abi::encode_word(word)),
            Self::Bytes(bytes) => Some(abi::encode_bytes(&bytes)),
            Self::Strings(strings) => Some(abi::encode_list(&strings)),
        }
    }
}
