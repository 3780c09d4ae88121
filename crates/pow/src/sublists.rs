//! The edges between the sublists of a block (RSKIP-144).

use rhizome_primitives::{ChainSpec, Header};

/// Returns true if these edges are valid for a block with `transaction_count` transactions. An empty list is valid.
/// Otherwise there is at most one position for each parallel sublist; positions are strictly increasing, above 0, and at
/// most that of the last transaction, which is always sequential.
pub fn edges_are_valid(edges: &[i16], parallel_sublists: usize, transaction_count: usize) -> bool {
    let increasing = edges.is_sorted_by(|before, after| before < after);
    let first_is_positive = edges.first().is_none_or(|edge| *edge > 0);
    let last_is_inside =
        edges.last().is_none_or(|edge| usize::try_from(*edge).is_ok_and(|edge| edge < transaction_count));
    edges.len() <= parallel_sublists && increasing && first_is_positive && last_is_inside
}

/// Rule 17: checks the edges of a header. Returns true while sublists are not active.
pub fn header_edges_are_valid(header: &Header, transaction_count: usize, spec: &ChainSpec) -> bool {
    let edges = header.edges.as_deref().unwrap_or_default();
    !spec.rules(header.number).has_sublists()
        || edges_are_valid(edges, spec.constants.parallel_sublists, transaction_count)
}
