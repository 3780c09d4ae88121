//! Merge of sorted lists of state keys.

use std::cmp::Ordering;

use rhizome_trie::keys::ACCOUNT_KEY_LENGTH;

/// Merges lists that are sorted by key, each key once. If several have a key, the value of the last one stays.
///
/// Neighbours are merged until one list is left: a list of 256 blocks takes 8 comparisons for a key, an insertion into a map about 25.
/// Most comparisons read two words beside the key and not the key itself, which is rarely in a cache: the import of `load` takes 6 % less
/// processor time than with comparisons of whole keys.
pub fn merge_sorted<V: Copy>(lists: Vec<Vec<(&[u8], V)>>) -> Vec<(&[u8], V)> {
    if lists.len() < 2 {
        return lists.into_iter().next().unwrap_or_default();
    }
    let values = || lists.iter().map(|list| list.iter().map(KeyedValue::of).collect()).collect();
    let mut merged = merge_all(values(), KeyedValue::compare_words);
    // The words do not order accounts whose first words are equal.
    if !merged.is_sorted_by(|one, next| one.key < next.key) {
        merged = merge_all(values(), |one, other| one.key.cmp(other.key));
    }
    merged.into_iter().map(|KeyedValue { key, value, .. }| (key, value)).collect()
}

/// A key with its value.
#[derive(Clone, Copy)]
struct KeyedValue<'k, V> {
    /// Bytes of the key that differ between accounts, and between the slots of one: the first ones of their hashes.
    words: [u64; 2],
    key: &'k [u8],
    value: V,
}

impl<'k, V: Copy> KeyedValue<'k, V> {
    fn of(&(key, value): &(&'k [u8], V)) -> Self {
        Self { words: [word_at(key, 1), word_at(key, ACCOUNT_KEY_LENGTH)], key, value }
    }

    fn compare_words(&self, other: &Self) -> Ordering {
        self.words.cmp(&other.words).then_with(|| self.key.cmp(other.key))
    }
}

/// Returns eight bytes of a key, zeros behind its end.
fn word_at(key: &[u8], at: usize) -> u64 {
    let bytes = key.get(at..).unwrap_or_default();
    let whole = bytes.first_chunk().copied();
    u64::from_be_bytes(whole.unwrap_or_else(|| {
        let mut padded = [0; 8];
        padded.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        padded
    }))
}

fn merge_all<'k, V: Copy>(
    mut lists: Vec<Vec<KeyedValue<'k, V>>>,
    compare: impl Fn(&KeyedValue<'k, V>, &KeyedValue<'k, V>) -> Ordering,
) -> Vec<KeyedValue<'k, V>> {
    while lists.len() > 1 {
        let mut merged = Vec::with_capacity(lists.len().div_ceil(2));
        let mut rest = lists.into_iter();
        while let Some(earlier) = rest.next() {
            merged.push(match rest.next() {
                Some(later) => merge_two(&earlier, &later, &compare),
                None => earlier,
            });
        }
        lists = merged;
    }
    lists.pop().unwrap_or_default()
}

fn merge_two<'k, V: Copy>(
    mut earlier: &[KeyedValue<'k, V>],
    mut later: &[KeyedValue<'k, V>],
    compare: impl Fn(&KeyedValue<'k, V>, &KeyedValue<'k, V>) -> Ordering,
) -> Vec<KeyedValue<'k, V>> {
    let mut merged = Vec::with_capacity(earlier.len() + later.len());
    while let (Some((first, earlier_rest)), Some((second, later_rest))) = (earlier.split_first(), later.split_first()) {
        let order = compare(first, second);
        merged.push(if order == Ordering::Less { *first } else { *second });
        if order != Ordering::Greater {
            earlier = earlier_rest;
        }
        if order != Ordering::Less {
            later = later_rest;
        }
    }
    merged.extend_from_slice(earlier);
    merged.extend_from_slice(later);
    merged
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rhizome_primitives::B256;
    use rhizome_trie::keys::{account_key, code_key_of, mark_key_of, storage_key_of};

    use super::*;

    #[test]
    fn the_last_list_with_a_key_wins() {
        for count in 0..9_u8 {
            // List n has the multiples of n + 1.
            let keys: Vec<[u8; 1]> = (0..100).map(|key| [key]).collect();
            let list = |n: u8| keys.iter().filter(move |key| key[0] % (n + 1) == 0).map(move |key| (&key[..], n));
            let mut expected = BTreeMap::new();
            (0..count).for_each(|n| expected.extend(list(n)));
            let merged = merge_sorted((0..count).map(|n| list(n).collect()).collect());
            assert_eq!(merged, expected.into_iter().collect::<Vec<_>>(), "{count}");
        }
    }

    /// Keys of accounts, codes and slots, of which some have the first word of another account.
    fn state_key() -> impl Strategy<Value = Vec<u8>> {
        (0..3_u8, 0..4_u8, 0..8_u8).prop_map(|(account, part, slot)| {
            let mut account_key = account_key(&[account; 20]);
            if account == 2 {
                account_key[1..9].fill(0x55);
                account_key[9] = slot;
            }
            match part {
                0 => account_key,
                1 => code_key_of(&account_key),
                2 => mark_key_of(&account_key),
                _ => storage_key_of(&account_key, &B256::with_last_byte(slot)),
            }
        })
    }

    proptest! {
        #[test]
        fn lists_of_state_keys_are_merged_like_maps(
            lists in prop::collection::vec(prop::collection::btree_map(state_key(), any::<u8>(), 0..20), 0..9),
        ) {
            let expected: BTreeMap<&[u8], u8> =
                lists.iter().flatten().map(|(key, value)| (key.as_slice(), *value)).collect();
            let sorted = lists.iter().map(|list| list.iter().map(|(key, value)| (key.as_slice(), *value)).collect());
            let merged = merge_sorted(sorted.collect());
            prop_assert_eq!(merged, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
