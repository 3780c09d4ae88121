//! Block archives (docs/spec/archive.md): files of 8,192 blocks with receipts and total difficulties, listed in a signed manifest.
//! Written from a chain, verified, and imported from several locations at once.
//!
//! Nothing of an archive is trusted. Hashes and the signature find damage and name it; an imported block is executed and
//! passes every rule of a block from a peer.
//!
//! Must not: know JSON; write to a database except through the importer of a chain.

mod create;
mod download;
mod error;
mod import;
mod index;
mod manifest;
mod open_archive;
mod part;
mod verify;

pub use create::{CreateOptions, Created, create};
pub use error::ArchiveError;
pub use import::{ImportedBlocks, import};
pub use index::{BLOCKS_PER_FILE, BLOCKS_PER_GROUP};
pub use manifest::{FileEntry, MANIFEST_NAME, Manifest};
pub use open_archive::OpenArchive;
pub use verify::{Verified, verify};
