//! The code entry of an account: length and hash, and the bytes once they were needed.

use rhizome_primitives::{B256, Bytes, keccak256};

use crate::code::ExecutableCode;

/// The code entry of an account.
#[derive(Debug, Clone, Default)]
pub(super) enum Code {
    #[default]
    Absent,
    /// Empty code that was written in this block is present too, although the trie will not have it.
    Present { length: usize, hash: B256, bytes: Option<Bytes>, executable: Option<ExecutableCode> },
}

impl Code {
    /// Returns code whose bytes were not read yet.
    pub(super) fn unread(length: usize, hash: B256) -> Code {
        Code::Present { length, hash, bytes: None, executable: None }
    }

    pub(super) fn saved(bytes: Bytes) -> Code {
        Code::Present { length: bytes.len(), hash: keccak256(&bytes), bytes: Some(bytes), executable: None }
    }

    pub(super) fn length(&self) -> usize {
        match self {
            Code::Absent => 0,
            Code::Present { length, .. } => *length,
        }
    }

    pub(super) fn hash(&self) -> Option<B256> {
        match self {
            Code::Absent => None,
            Code::Present { hash, .. } => Some(*hash),
        }
    }
}
