//! Listing of the storage slots of a contract, which may have millions.

use std::ops::ControlFlow;

use rhizome_primitives::{B256, Bytes, U256};
use rhizome_trie::{StateError, StateReader};

/// A present storage slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSlot {
    /// Keccak hash of the slot.
    pub hash: B256,
    /// The slot.
    pub slot: U256,
    /// Its value, of 32 bytes at most outside of the Bridge.
    pub value: Bytes,
}

/// Number of keys in the first of 256 parts from which on the keys are listed in parts: about 4,000 keys in all.
const MANY_IN_A_PART: usize = 16;

/// Visits each key that begins with `prefix` and has at least one more byte, until `visit` breaks. A reader may read all keys below a
/// prefix before it visits the first one. Therefore more than some thousand keys are listed in parts by the byte after the prefix,
/// which must be evenly distributed.
pub(super) fn visit_in_parts(
    reader: &dyn StateReader,
    prefix: &[u8],
    visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), StateError> {
    let (mut count, mut is_stopped) = (0, false);
    let mut counted = |key: &[u8]| {
        count += 1;
        let next = visit(key);
        is_stopped |= next.is_break();
        next
    };
    reader.visit_keys(&[prefix, &[0]].concat(), &mut counted)?;
    if is_stopped {
        return Ok(());
    }
    if count < MANY_IN_A_PART {
        return reader.visit_keys(prefix, &mut |key| match key.get(prefix.len()) {
            None | Some(0) => ControlFlow::Continue(()),
            Some(_) => visit(key),
        });
    }
    for byte in 1..=u8::MAX {
        let mut is_stopped = false;
        reader.visit_keys(&[prefix, &[byte]].concat(), &mut |key| {
            let next = visit(key);
            is_stopped = next.is_break();
            next
        })?;
        if is_stopped {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rhizome_primitives::keccak256;

    use super::*;

    /// Keys of one byte for their owner and a hash. Reads all keys below a prefix before the first visit.
    struct Keys(BTreeSet<Vec<u8>>, AtomicUsize);

    impl Keys {
        fn new(count: u64) -> Self {
            let key = |number: u64| [&[number as u8 % 2], keccak256(number.to_be_bytes()).as_slice()].concat();
            Self((0..2 * count).map(key).collect(), AtomicUsize::default())
        }

        /// Visits keys of the second owner. Returns them and the number of keys that were read.
        fn visited(&self, most: usize) -> (BTreeSet<Vec<u8>>, usize) {
            let (mut keys, mut visits) = (BTreeSet::new(), 0);
            visit_in_parts(self, &[1], &mut |key| {
                visits += 1;
                keys.insert(key.to_vec());
                if visits < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .unwrap();
            assert_eq!(keys.len(), visits);
            (keys, self.1.swap(0, Ordering::Relaxed))
        }
    }

    impl StateReader for Keys {
        fn get(&self, _key: &[u8]) -> Result<Option<Bytes>, StateError> {
            Ok(None)
        }

        fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
            let keys: Vec<&Vec<u8>> = self.0.iter().filter(|key| key.starts_with(prefix)).collect();
            self.1.fetch_add(keys.len(), Ordering::Relaxed);
            let _flow = keys.into_iter().try_for_each(|key| visit(key));
            Ok(())
        }
    }

    #[test]
    fn visits_each_key_once() {
        for count in [0, 1, 300, 20_000] {
            let keys = Keys::new(count);
            let expected: BTreeSet<Vec<u8>> = keys.0.iter().filter(|key| key[0] == 1).cloned().collect();
            assert_eq!(expected.len() as u64, count);
            assert_eq!(keys.visited(usize::MAX).0, expected);
        }
    }

    #[test]
    fn reads_little_more_than_it_visits() {
        let keys = Keys::new(50_000);
        for most in [1, 10, 100, 1_000] {
            let (visited, read) = keys.visited(most);
            assert_eq!(visited.len(), most);
            assert!(read <= most + 2 * 50_000 / 256, "{read} keys for {most}");
        }
    }
}
