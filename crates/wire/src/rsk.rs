//! Messages of the subprotocol rsk/62, snap synchronization included (docs/spec/p2p.md, 6 and 10).
//!
//! [`RskMessage::decode`] reads the envelope and the fixed fields. Blocks, headers and transactions stay encoded:
//! [`EncodedBlock`], [`EncodedBody`] and [`EncodedList`] refer to the received bytes and decode a part when it is asked
//! for, so that a block can be refused by its header before its transactions cost anything.
//!
//! ```ignore
//! match RskMessage::decode(payload)? {
//!     RskMessage::Block(block) => {
//!         let header = block.header(spec)?;
//!         check_proof_of_work(&header)?;
//!         import(block.decode(spec)?);
//!     }
//!     ...
//! }
//! ```

mod block;
mod encode;
mod error;
mod fields;
mod identifier;
mod list;
mod message;
mod status;

pub use block::{EncodedBlock, EncodedBody, WeighedBlocks};
pub use encode::{block_strings, encode_body};
pub use error::RskMessageError;
pub use identifier::BlockIdentifier;
pub use list::{EncodedList, MAX_LIST_ELEMENTS};
pub use message::{MAX_ANNOUNCED, RskMessage, message_id, message_type, types};
pub use status::{EthStatus, StatusMessage};

pub(crate) use fields::MessageFields;
