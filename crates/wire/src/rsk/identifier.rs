//! Hash and number of a block, in announcements and skeletons.

use rhizome_primitives::B256;
use rhizome_primitives::rlp::Item;

use super::error::RskMessageError;
use super::fields::MessageFields;

/// Hash and number of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockIdentifier {
    /// Block hash.
    pub hash: B256,
    /// Height, below 2^63.
    pub number: u64,
}

impl BlockIdentifier {
    pub(super) fn of(item: Item<'_>) -> Result<BlockIdentifier, RskMessageError> {
        let mut fields = MessageFields::of(item, "block identifier")?;
        Ok(BlockIdentifier { hash: fields.hash("block hash")?, number: fields.number("block number")? })
    }
}
