//! `personal_newAccount` and `personal_importRawKey`.

use crate::error::Answer;
use crate::json;
use crate::node::Node;
use std::time::Duration;

/// Time for which a new account is unlocked.
const UNLOCKED: Duration = Duration::from_secs(30 * 60);

/// Stores an encrypted key and unlocks its account for 30 minutes; the address.
pub fn answer(node: &Node, key: &[u8], encrypted: &str) -> Answer {
    Ok(json::data(node.accounts().store(key, encrypted, UNLOCKED)?.as_slice()))
}
