//! The order in which peg-outs are confirmed (docs/spec/bridge.md, 7.6).

use crate::java_hash_set::JavaHashSet;

/// An element of a Java set: its position in the list and its hash code.
type SetElement = (usize, i32);

/// Returns the Java hash code of a waiting peg-out. `txid` in display order.
pub(crate) fn hash_code(txid: &[u8; 32], creation_height: u64) -> i32 {
    let [.., a, b, c, d] = *txid;
    let height = (creation_height ^ (creation_height >> 32)) as i32;
    let first = 31_i32.wrapping_add(i32::from_be_bytes([a, b, c, d]));
    first.wrapping_mul(31).wrapping_add(height)
}

/// Returns positions in the order of the reference's set. `codes` are the hash codes of the stored entries without hash,
/// then of the stored entries with hash, then of the entries that this call has added; `stored` are the numbers of the first
/// two.
///
/// The reference makes a set of each stored list, copies each, adds the second to a copy of the first, and copies the
/// result.
pub(crate) fn confirmation_order(codes: &[i32], stored: [usize; 2]) -> Vec<usize> {
    let elements: Vec<SetElement> = codes.iter().copied().enumerate().collect();
    let [without_hash, with_hash] = stored.map(|count| count.min(elements.len()));
    let (first, rest) = elements.split_at(without_hash);
    let (second, added) = rest.split_at(with_hash.min(rest.len()));
    let in_order =
        |set: &JavaHashSet| -> Vec<SetElement> { set.indexes().into_iter().map(|at| elements[at]).collect() };
    let decoded = |list: &[SetElement]| {
        let mut set = JavaHashSet::new();
        set.extend(list);
        in_order(&JavaHashSet::copy_of(&in_order(&set)))
    };
    let mut joined = JavaHashSet::copy_of(&decoded(first));
    joined.extend(&decoded(second));
    let mut set = JavaHashSet::copy_of(&in_order(&joined));
    set.extend(added);
    set.indexes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_codes_are_those_of_the_reference() {
        let mut txid = [0; 32];
        assert_eq!(hash_code(&txid, 0), 961);
        txid[28..].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
        assert_eq!(hash_code(&txid, (1 << 32) | 2), 930 + 3);
    }

    #[test]
    fn order_depends_on_the_number_of_entries() {
        // 12 stored entries give 32 buckets, 12 added ones 16.
        let codes: Vec<i32> = (0..12).map(|position| 16 - position).collect();
        assert_eq!(confirmation_order(&codes, [0, 12])[..2], [11, 10]);
        assert_eq!(confirmation_order(&codes, [0, 0])[..2], [0, 11]);
        assert_eq!(confirmation_order(&[33, 1, 33, 1], [1, 2]), [0, 1, 2, 3]);
    }
}
