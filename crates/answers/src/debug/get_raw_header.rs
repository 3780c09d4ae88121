//! `debug_getRawHeader`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::selector::Selector;

/// The full encoding of a header, with everything that its proof of work is made of: the first element of the raw block.
/// `null` when unknown.
pub fn answer(node: &Node, at: &Selector<'_>) -> Answer {
    let place = at.find(node)?;
    Ok(place.map_or_else(json::null, |place| json::data(&place.block().header.encode())))
}
