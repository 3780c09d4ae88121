//! Merge of sorted lists.

use std::cmp::Ordering;

/// Merges lists that are sorted by key, each key once. If several have a key, the value of the last one stays.
///
/// Neighbours are merged until one list is left: a list of 256 blocks takes 8 comparisons for a key, an insertion into a map about 25.
pub fn merge_sorted<V: Copy>(mut lists: Vec<Vec<(&[u8], V)>>) -> Vec<(&[u8], V)> {
    while lists.len() > 1 {
        let mut merged = Vec::with_capacity(lists.len().div_ceil(2));
        let mut rest = lists.into_iter();
        while let Some(earlier) = rest.next() {
            merged.push(match rest.next() {
                Some(later) => merge_two(&earlier, &later),
                None => earlier,
            });
        }
        lists = merged;
    }
    lists.pop().unwrap_or_default()
}

fn merge_two<'k, V: Copy>(mut earlier: &[(&'k [u8], V)], mut later: &[(&'k [u8], V)]) -> Vec<(&'k [u8], V)> {
    let mut merged = Vec::with_capacity(earlier.len() + later.len());
    while let (Some((first, earlier_rest)), Some((second, later_rest))) = (earlier.split_first(), later.split_first()) {
        let order = first.0.cmp(second.0);
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
}
