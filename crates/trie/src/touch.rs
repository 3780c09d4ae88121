//! Loads the nodes that changes go through into the caches of the processor before they are changed.

use crate::cache_lines::SUBTREE_CHANGES;
use crate::node::Link;
use crate::path_walk::PathWalk;
use crate::update::Change;

/// Fewer changes have few nodes on the same level.
const LEAST_CHANGES: usize = 8;

/// Reads the nodes below `link` that are in memory and that `changes` (sorted by key, equal in the `at` key bits above the link) go
/// through, unless they are too many for the caches.
pub(crate) fn touch<'t>(link: &'t Link, at: usize, changes: &'t [Change<'t>]) {
    if (LEAST_CHANGES..=SUBTREE_CHANGES).contains(&changes.len()) {
        PathWalk::from(link, at, changes).finish();
    }
}
