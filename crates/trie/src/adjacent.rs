//! Nodes that lie side by side in a batch: a commit puts the nodes of a path one behind the other, so that one read finds several of
//! them.

use rhizome_primitives::{B256, keccak256_all};

use crate::message::{ChildPart, Input, LONG_VALUE_BYTES, NodeMessage, SHORT_VALUE_LIMIT};

/// Returns the hashes of the children that a message refers to. The message of a long value has no children.
pub fn child_hashes(message: &[u8]) -> impl Iterator<Item = B256> {
    let children = NodeMessage::parse(message).map(|message| [message.left, message.right]);
    children.into_iter().flatten().filter_map(|child| match child {
        ChildPart::Hash(hash) => Some(hash),
        ChildPart::None | ChildPart::Embedded(_) => None,
    })
}

/// Returns the message with a Keccak hash if `bytes` begin with it, whatever follows. A message does not contain its length: that of a
/// short value is found by the hash. Nodes with children and a short value are not found.
pub fn message_at_start<'a>(bytes: &'a [u8], hash: &B256) -> Option<&'a [u8]> {
    let mut input = Input(bytes);
    let (message, is_long_value) = NodeMessage::parse_without_value(&mut input).ok()?;
    let end = bytes.len() - input.0.len();
    let is_terminal = matches!((message.left, message.right), (ChildPart::None, ChildPart::None));
    let ends = match (is_long_value, is_terminal) {
        (true, _) => end + LONG_VALUE_BYTES..=end + LONG_VALUE_BYTES,
        (false, false) => end..=end,
        (false, true) => end + 1..=end + SHORT_VALUE_LIMIT,
    };
    let messages: Vec<_> = ends.map_while(|end| bytes.get(..end)).collect();
    let found = keccak256_all(&messages).iter().position(|found| found == hash)?;
    messages.get(found).copied()
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::keccak256;

    use super::*;
    use crate::{MemoryNodes, Trie, TrieError};

    #[test]
    fn a_path_is_read_from_the_bytes_behind_its_first_node() -> Result<(), TrieError> {
        let mut trie = Trie::empty(std::sync::Arc::new(MemoryNodes::default()));
        for number in 0..300_u32 {
            trie.put(keccak256(number.to_be_bytes()).as_slice(), &vec![7; 1 + number as usize % 60])?;
        }
        trie.commit();
        for number in 300..380_u32 {
            trie.put(keccak256(number.to_be_bytes()).as_slice(), &vec![7; 1 + number as usize % 60])?;
            let batch = trie.commit();
            let root = batch.iter().position(|node| node.hash == &trie.root_hash()).unwrap_or_default();
            let messages: Vec<u8> = batch.iter().skip(root).flat_map(|node| node.message.to_vec()).collect();
            let mut rest = &messages[..];
            let mut wanted = vec![trie.root_hash()];
            let mut found = 0;
            while let Some(message) = wanted.iter().find_map(|hash| message_at_start(rest, hash)) {
                rest = rest.split_at(message.len()).1;
                wanted.extend(child_hashes(message));
                found += 1;
            }
            assert_eq!(found, batch.len() - root, "{number}");
        }
        Ok(())
    }

    #[test]
    fn other_bytes_are_no_message() {
        for bytes in [&[][..], &[0x50], &[0xff; 90], &[0x50, 1, 2, 3, 4]] {
            assert_eq!(message_at_start(bytes, &B256::ZERO), None);
            assert_eq!(child_hashes(bytes).count(), 0);
        }
    }
}
