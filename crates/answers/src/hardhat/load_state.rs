//! `anvil_loadState`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use crate::saved_state::{self, LoadError};

/// Writes the accounts of a state in the format of anvil over those of the head; true.
pub fn answer(node: &Node, state: &[u8]) -> Answer {
    saved_state::load(node, state).map_err(LoadError::of_parameter)?;
    Ok(json::boolean(true))
}
