//! Reads of the rows of a small subtree, which are adjacent in a source that finds nodes by position.

use std::collections::HashMap;

use rhizome_primitives::{B256, Bytes, keccak256_all};

use crate::error::SourceError;
use crate::path::Path;
use crate::source::{NodePosition, NodeSource};

/// Subtrees of at most this many bytes are read as one range of rows.
pub(crate) const RANGE_BYTES: u64 = 32 * 1024;

/// Messages of nodes by their Keccak hashes.
pub(crate) type RangeMessages = HashMap<B256, Bytes>;

/// Reads the messages of all nodes below the bits `above`; empty if the source has no ranges. `wanted`: hash of one of the nodes.
pub(crate) fn read_range(source: &dyn NodeSource, above: &Path, wanted: &B256) -> Result<RangeMessages, SourceError> {
    let messages = source.nodes_below(NodePosition::below_path(above), wanted)?;
    Ok(keccak256_all(&messages).into_iter().zip(messages).collect())
}
