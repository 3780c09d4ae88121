//! The identity of an account.

use rhizome_primitives::Address;
use rhizome_trie::keys::{NULL_ADDRESS, REMASC_SENDER};

/// An account of the state: an address of 20 bytes, with two exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountId {
    /// An ordinary account.
    Address(Address),
    /// The sender of REMASC transactions, whose address is a single zero byte.
    RemascSender,
    /// The receiver of the fees of headers without a coinbase, whose address has no bytes.
    Null,
}

impl AccountId {
    /// Returns the bytes from which the trie key is made.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            AccountId::Address(address) => address.as_slice(),
            AccountId::RemascSender => REMASC_SENDER,
            AccountId::Null => NULL_ADDRESS,
        }
    }

    /// Returns the address as contracts and users see it: zero for the exceptions.
    pub fn address(&self) -> Address {
        match self {
            AccountId::Address(address) => *address,
            AccountId::RemascSender | AccountId::Null => Address::ZERO,
        }
    }
}

impl From<Address> for AccountId {
    fn from(address: Address) -> AccountId {
        AccountId::Address(address)
    }
}

impl From<&Address> for AccountId {
    fn from(address: &Address) -> AccountId {
        AccountId::Address(*address)
    }
}

impl From<Option<Address>> for AccountId {
    fn from(coinbase: Option<Address>) -> AccountId {
        coinbase.map_or(AccountId::Null, AccountId::Address)
    }
}
