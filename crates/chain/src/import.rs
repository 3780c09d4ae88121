//! Imports blocks: the importer thread, the steps of an import, and the sources that feed it.

pub(crate) mod block_file;
mod block_group;
pub(crate) mod block_source;
pub(crate) mod block_stream;
mod branch;
mod feed;
pub(crate) mod head_writer;
pub(crate) mod import_state;
pub(crate) mod importer;
pub(crate) mod invalid_block;
pub(crate) mod invalid_blocks;
mod job_queue;
pub(crate) mod numbered_block;
pub(crate) mod orphan_blocks;
pub(crate) mod outcome;
pub(crate) mod peer_blocks;
mod pipeline;
pub(crate) mod prepared_block;
pub(crate) mod read_ahead;
pub(crate) mod recovery;
mod report;
pub(crate) mod rewind;
pub(crate) mod rules;
pub(crate) mod state_change;
pub(crate) mod steps;
mod unwritten_changes;
