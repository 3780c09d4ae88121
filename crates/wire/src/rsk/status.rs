//! The two messages that announce the best block of a node.

use rhizome_primitives::rlp::{list, put_bytes, put_difficulty, put_u64, put_value, read_u256};
use rhizome_primitives::{B256, U256};

use super::error::RskMessageError;
use super::fields::MessageFields;
use super::identifier::BlockIdentifier;

/// Eth-like Status, code 0x10 (docs/spec/p2p.md, 6.1). Its values are claims of the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EthStatus {
    /// Version of the subprotocol, 62.
    pub version: u64,
    /// Network id.
    pub network_id: u64,
    /// Difficulty of the chain. Unsigned on the wire, unlike that of [`StatusMessage`].
    pub total_difficulty: U256,
    /// Hash of the best block.
    pub best_hash: B256,
    /// Hash of block 0.
    pub genesis_hash: B256,
}

impl EthStatus {
    /// Decodes a payload.
    pub fn decode(payload: &[u8]) -> Result<EthStatus, RskMessageError> {
        let mut fields = MessageFields::decode(payload, "Status")?;
        Ok(EthStatus {
            version: fields.number("protocol version")?,
            network_id: fields.number("network id")?,
            total_difficulty: read_u256(fields.string("total difficulty")?, "total difficulty")?,
            best_hash: fields.hash("best hash")?,
            genesis_hash: fields.hash("genesis hash")?,
        })
    }

    /// Returns the payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::with_capacity(128);
        put_u64(&mut fields, self.version);
        put_u64(&mut fields, self.network_id);
        put_value(&mut fields, &self.total_difficulty);
        put_bytes(&mut fields, self.best_hash.as_slice());
        put_bytes(&mut fields, self.genesis_hash.as_slice());
        list(&fields)
    }
}

/// RSK message STATUS (docs/spec/p2p.md, 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusMessage {
    /// The best block.
    pub best: BlockIdentifier,
    /// Hash of its parent and difficulty of the chain up to it. `None`: the short form of two elements, which must not be
    /// sent; its sender is ignored for synchronization.
    pub parent_and_difficulty: Option<(B256, U256)>,
}

impl StatusMessage {
    pub(super) fn read(fields: &mut MessageFields<'_>) -> Result<StatusMessage, RskMessageError> {
        let number = fields.number("best number")?;
        let best = BlockIdentifier { hash: fields.hash("best hash")?, number };
        let parent_and_difficulty = match fields.optional_item()? {
            None => None,
            Some(parent) => {
                let parent = super::fields::to_hash(parent, "parent hash")?;
                Some((parent, fields.difficulty("total difficulty")?))
            }
        };
        Ok(StatusMessage { best, parent_and_difficulty })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_u64(out, self.best.number);
        put_bytes(out, self.best.hash.as_slice());
        if let Some((parent, difficulty)) = &self.parent_and_difficulty {
            put_bytes(out, parent.as_slice());
            put_difficulty(out, Some(difficulty));
        }
    }
}
