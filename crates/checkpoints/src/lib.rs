//! Checkpoints: copies of the database of a node in a folder or an S3 bucket, from which another node begins.
//!
//! A checkpoint is a signed manifest and pieces named by their hash, so a location holds each piece once, whatever checkpoints have
//! it. Nothing of a location is trusted: every piece is compared with its hash, the manifest with the key of the operator, and the
//! head of a restored database with the manifest before a node may open it.
//!
//! Start reading at `manifest.rs`, then `create.rs`, `data_copy.rs` (a consistent copy, also of a running node) and `restore.rs`.
//!
//! Must not: know JSON of the RPC interface; change a database that a node has open.

mod copy_requests;
mod create;
mod data_copy;
mod error;
mod manifest;
mod open_checkpoint;
mod piece;
mod restore;
mod transfer;

pub use copy_requests::CopyRequests;
pub use create::{CreatedCheckpoint, create};
pub use data_copy::DataCopy;
pub use error::CheckpointError;
pub use manifest::{CheckpointFile, CheckpointManifest, CheckpointPlace};
pub use open_checkpoint::{OpenCheckpoint, list};
pub use restore::{restore_beside, restore_new};
pub use transfer::Transferred;
