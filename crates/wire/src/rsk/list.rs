//! Lists whose elements stay encoded.

use rhizome_primitives::rlp::{Elements, Item, decode_list};
use rhizome_primitives::{ChainSpec, DecodeError, Header, Transaction};

use super::error::RskMessageError;

/// Maximum number of elements of a list (docs/spec/p2p-additions.md, F): as many as a block can have transactions.
pub use rhizome_primitives::MAX_LIST_ELEMENTS;

/// Transactions above this length in bytes are skipped on receipt.
const MAX_TRANSACTION_LENGTH: usize = 131_072;

/// List in received bytes. All its elements are well-formed at their outermost level, and there are at most
/// [`MAX_LIST_ELEMENTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedList<'a> {
    item: Item<'a>,
    length: usize,
}

impl<'a> EncodedList<'a> {
    /// Reads exactly one list; `name` is for errors.
    pub fn decode(raw: &'a [u8], name: &'static str) -> Result<EncodedList<'a>, RskMessageError> {
        EncodedList::of(decode_list(raw)?, name)
    }

    pub(crate) fn of(item: Item<'a>, name: &'static str) -> Result<EncodedList<'a>, RskMessageError> {
        let mut length = 0;
        for element in item.elements(name)? {
            element?;
            length += 1;
            if length > MAX_LIST_ELEMENTS {
                return Err(RskMessageError::TooManyElements(name));
            }
        }
        Ok(EncodedList { item, length })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the encoding of the list.
    pub fn encoding(&self) -> &'a [u8] {
        self.item.encoding()
    }

    /// Iterates over the elements.
    pub fn items(&self) -> impl Iterator<Item = Item<'a>> + use<'a> {
        // Checked when the list was read.
        self.elements().into_iter().flatten().flatten()
    }

    fn elements(&self) -> Option<Elements<'a>> {
        self.item.elements("list").ok()
    }

    /// Decodes the elements as transactions, one by one. Transactions above 131,072 bytes are skipped, as in the reference.
    pub fn transactions(&self) -> impl Iterator<Item = Result<Transaction, DecodeError>> + use<'a> {
        self.items()
            .filter(|item| item.bytes().len() <= MAX_TRANSACTION_LENGTH)
            .map(|item| Transaction::from_item(&item))
    }

    /// Decodes the elements as headers in compressed form, one by one.
    pub fn compressed_headers<'s>(
        &self,
        spec: &'s ChainSpec,
    ) -> impl Iterator<Item = Result<Header, DecodeError>> + use<'a, 's> {
        self.items().map(move |item| Header::from_compressed_item(&item, spec))
    }
}
