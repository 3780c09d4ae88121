//! Reader of the fields of a message, in order. More elements than a message has are ignored, as in the reference.

use rhizome_primitives::rlp::{Elements, Item, decode_list, read_difficulty, read_u64};
use rhizome_primitives::{B256, DecodeError, U256};

use super::error::RskMessageError;
use super::identifier::BlockIdentifier;
use super::list::{EncodedList, MAX_LIST_ELEMENTS};

/// Unread fields of a message.
pub(crate) struct MessageFields<'a>(Elements<'a>);

impl<'a> MessageFields<'a> {
    /// Starts to read exactly one list.
    pub(crate) fn decode(raw: &'a [u8], name: &'static str) -> Result<MessageFields<'a>, RskMessageError> {
        Ok(MessageFields(decode_list(raw)?.elements(name)?))
    }

    pub(crate) fn of(item: Item<'a>, name: &'static str) -> Result<MessageFields<'a>, RskMessageError> {
        Ok(MessageFields(item.elements(name)?))
    }

    pub(crate) fn optional_item(&mut self) -> Result<Option<Item<'a>>, RskMessageError> {
        Ok(self.0.next().transpose()?)
    }

    pub(crate) fn item(&mut self, name: &'static str) -> Result<Item<'a>, RskMessageError> {
        Ok(self.optional_item()?.ok_or(DecodeError::Missing(name))?)
    }

    pub(crate) fn string(&mut self, name: &'static str) -> Result<&'a [u8], RskMessageError> {
        to_string(self.item(name)?, name)
    }

    pub(crate) fn fields(&mut self, name: &'static str) -> Result<MessageFields<'a>, RskMessageError> {
        MessageFields::of(self.item(name)?, name)
    }

    pub(crate) fn list(&mut self, name: &'static str) -> Result<EncodedList<'a>, RskMessageError> {
        EncodedList::of(self.item(name)?, name)
    }

    /// Reads a number of 63 bits, the largest that the reference understands.
    pub(crate) fn number(&mut self, name: &'static str) -> Result<u64, RskMessageError> {
        Ok(read_u64(self.string(name)?, i64::MAX as u64, name)?)
    }

    /// Reads a number of 31 bits; the reference reads larger ones as negative and closes the connection.
    pub(crate) fn small_number(&mut self, name: &'static str) -> Result<u32, RskMessageError> {
        // The maximum makes the conversion exact.
        Ok(read_u64(self.string(name)?, i32::MAX as u64, name)? as u32)
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool, RskMessageError> {
        Ok(self.string(name)?.iter().any(|&byte| byte != 0))
    }

    pub(crate) fn hash(&mut self, name: &'static str) -> Result<B256, RskMessageError> {
        to_hash(self.item(name)?, name)
    }

    /// Reads a difficulty in signed form, which must not be negative.
    pub(crate) fn difficulty(&mut self, name: &'static str) -> Result<U256, RskMessageError> {
        Ok(read_difficulty(self.string(name)?, name)?)
    }

    pub(crate) fn difficulties(&mut self, name: &'static str) -> Result<Vec<U256>, RskMessageError> {
        let mut fields = self.fields(name)?;
        fields.collect(MAX_LIST_ELEMENTS, name, |item| Ok(read_difficulty(to_string(item, name)?, name)?))
    }

    pub(crate) fn hashes(&mut self, limit: usize, name: &'static str) -> Result<Vec<B256>, RskMessageError> {
        self.fields(name)?.collect(limit, name, |item| to_hash(item, name))
    }

    pub(crate) fn identifiers(&mut self, name: &'static str) -> Result<Vec<BlockIdentifier>, RskMessageError> {
        self.fields(name)?.collect(MAX_LIST_ELEMENTS, name, BlockIdentifier::of)
    }

    /// Reads all remaining fields. The result grows with the elements that were read, so that the bytes pay for it.
    fn collect<T>(
        &mut self,
        limit: usize,
        name: &'static str,
        read: impl Fn(Item<'a>) -> Result<T, RskMessageError>,
    ) -> Result<Vec<T>, RskMessageError> {
        let mut values = Vec::new();
        while let Some(item) = self.optional_item()? {
            if values.len() == limit {
                return Err(RskMessageError::TooManyElements(name));
            }
            values.push(read(item)?);
        }
        Ok(values)
    }
}

pub(crate) fn to_string<'a>(item: Item<'a>, name: &'static str) -> Result<&'a [u8], RskMessageError> {
    if item.is_list() { Err(RskMessageError::ExpectedString(name)) } else { Ok(item.content()) }
}

pub(crate) fn to_hash(item: Item<'_>, name: &'static str) -> Result<B256, RskMessageError> {
    let bytes = to_string(item, name)?;
    Ok(B256::try_from(bytes).or(Err(DecodeError::FieldLength { field: name, got: bytes.len() }))?)
}
