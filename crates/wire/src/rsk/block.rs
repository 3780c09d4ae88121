//! Blocks and bodies that are decoded part by part.

use rhizome_primitives::rlp::{Item, decode_list};
use rhizome_primitives::{Block, ChainSpec, DecodeError, ExtensionError, Header, U256};

use super::error::RskMessageError;
use super::fields::{MessageFields, to_string};
use super::list::EncodedList;

/// Block in received bytes, split into header, transactions and uncles, which stay encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedBlock<'a> {
    encoding: &'a [u8],
    header: Item<'a>,
    transactions: EncodedList<'a>,
    uncles: EncodedList<'a>,
}

impl<'a> EncodedBlock<'a> {
    /// Splits exactly one block. The cost is that of counting the transactions.
    pub fn split(encoding: &'a [u8]) -> Result<EncodedBlock<'a>, RskMessageError> {
        let [header, transactions, uncles] = decode_list(encoding)?.exactly("block")?;
        Ok(EncodedBlock {
            encoding,
            header,
            transactions: EncodedList::of(transactions, "transactions")?,
            uncles: EncodedList::of(uncles, "uncles")?,
        })
    }

    pub(crate) fn of(item: Item<'a>) -> Result<EncodedBlock<'a>, RskMessageError> {
        EncodedBlock::split(to_string(item, "block")?)
    }

    /// Returns the encoding of the whole block.
    pub fn encoding(&self) -> &'a [u8] {
        self.encoding
    }

    /// Decodes the header and nothing else.
    pub fn header(&self, spec: &ChainSpec) -> Result<Header, DecodeError> {
        Header::from_item(&self.header, spec)
    }

    /// Returns the transactions.
    pub fn transactions(&self) -> EncodedList<'a> {
        self.transactions
    }

    /// Returns the uncles, headers in full form.
    pub fn uncles(&self) -> EncodedList<'a> {
        self.uncles
    }

    /// Decodes the whole block.
    pub fn decode(&self, spec: &ChainSpec) -> Result<Block, DecodeError> {
        Block::decode(self.encoding, spec)
    }
}

/// Body in received bytes: transactions, uncles in full form and, for header versions 1 and 2, the extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedBody<'a> {
    /// Transactions in block order.
    pub transactions: EncodedList<'a>,
    /// Uncles, headers in full form.
    pub uncles: EncodedList<'a>,
    extension: Option<Item<'a>>,
}

impl<'a> EncodedBody<'a> {
    /// Splits exactly one list `[transactions, uncles, extension?]`.
    pub fn split(encoding: &'a [u8]) -> Result<EncodedBody<'a>, RskMessageError> {
        EncodedBody::of(MessageFields::decode(encoding, "body")?)
    }

    pub(crate) fn of(mut fields: MessageFields<'a>) -> Result<EncodedBody<'a>, RskMessageError> {
        let transactions = fields.list("transactions")?;
        let uncles = fields.list("uncles")?;
        let extension = fields.optional_item()?;
        if extension.is_some_and(|extension| !extension.is_list()) {
            return Err(DecodeError::ExpectedList("extension").into());
        }
        Ok(EncodedBody { transactions, uncles, extension })
    }

    /// Returns the encoding of the extension, `[version, content]`.
    pub fn extension(&self) -> Option<&'a [u8]> {
        self.extension.map(|extension| extension.encoding())
    }

    /// Adds the extension to the header of this body, which was received in compressed form; checks version and hash.
    pub fn complete(&self, header: &mut Header) -> Result<(), ExtensionError> {
        header.attach_extension(self.extension.as_ref())
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.transactions.encoding());
        out.extend_from_slice(self.uncles.encoding());
        out.extend_from_slice(self.extension().unwrap_or_default());
    }
}

/// Blocks of a snap server with the total difficulty of each, ascending. The blocks are byte strings: see
/// [`WeighedBlocks::blocks`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeighedBlocks<'a> {
    strings: EncodedList<'a>,
    difficulties: Vec<U256>,
}

impl<'a> WeighedBlocks<'a> {
    /// Returns the blocks of a list of byte strings, each the encoding of a block. Both lists must have the same length.
    pub fn new(strings: EncodedList<'a>, difficulties: Vec<U256>) -> Result<WeighedBlocks<'a>, RskMessageError> {
        if strings.len() != difficulties.len() {
            return Err(RskMessageError::Lengths { blocks: strings.len(), difficulties: difficulties.len() });
        }
        Ok(WeighedBlocks { strings, difficulties })
    }

    pub(crate) fn read(fields: &mut MessageFields<'a>) -> Result<WeighedBlocks<'a>, RskMessageError> {
        let strings = fields.list("blocks")?;
        WeighedBlocks::new(strings, fields.difficulties("total difficulties")?)
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.difficulties.len()
    }

    /// Returns true if there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.difficulties.is_empty()
    }

    /// Splits the blocks one by one.
    pub fn blocks(&self) -> impl Iterator<Item = Result<(EncodedBlock<'a>, U256), RskMessageError>> {
        let blocks = self.strings.items().map(EncodedBlock::of);
        blocks.zip(&self.difficulties).map(|(block, &difficulty)| Ok((block?, difficulty)))
    }

    pub(crate) fn strings(&self) -> EncodedList<'a> {
        self.strings
    }

    /// Returns the total difficulty of each block.
    pub fn difficulties(&self) -> &[U256] {
        &self.difficulties
    }
}
