//! Bit strings: shared paths of nodes, and the keys they form.

use smallvec::SmallVec;

/// Bit string, packed from the most significant bit of the first byte; unused low bits of the last byte are zero.
///
/// Up to 48 bytes are stored without an allocation: most paths of leaves, and the keys of accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path {
    bits: usize,
    bytes: SmallVec<[u8; 48]>,
}

/// Bits of a path, packed like [`Path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathBits<'a> {
    bits: usize,
    bytes: &'a [u8],
}

/// Length in bytes of a path that a node holds without an allocation.
const SHORT_BYTES: usize = 14;

/// Shared path of a node, in 16 bytes. Those of inner nodes are nearly always short.
#[derive(Clone, Debug)]
pub(crate) enum NodePath {
    Short { bits: u8, bytes: [u8; SHORT_BYTES] },
    Long(Box<Path>),
}

impl From<Path> for NodePath {
    fn from(path: Path) -> Self {
        let mut short = [0; SHORT_BYTES];
        match short.get_mut(..path.bytes.len()) {
            Some(bytes) => {
                bytes.copy_from_slice(&path.bytes);
                // At most 8 * SHORT_BYTES.
                Self::Short { bits: path.bits as u8, bytes: short }
            }
            None => Self::Long(Box::new(path)),
        }
    }
}

impl NodePath {
    pub(crate) fn bits(&self) -> PathBits<'_> {
        match self {
            Self::Short { bits, bytes } => {
                let bits = usize::from(*bits);
                PathBits { bits, bytes: bytes.get(..bits.div_ceil(8)).unwrap_or(bytes) }
            }
            Self::Long(path) => path.all_bits(),
        }
    }
}

impl Path {
    /// Copies the bits `from..to` of `bytes`. Bits beyond the end of `bytes` read as zero.
    pub(crate) fn of(bytes: &[u8], from: usize, to: usize) -> Path {
        let mut path = Path::default();
        path.extend(bytes, from, to);
        path
    }

    /// Returns the number of bits.
    pub(crate) fn len(&self) -> usize {
        self.bits
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// Returns the packed bytes, `ceil(len / 8)` of them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn all_bits(&self) -> PathBits<'_> {
        PathBits { bits: self.bits, bytes: &self.bytes }
    }

    pub(crate) fn push(&mut self, bit: bool) {
        let used = self.bits % 8;
        let value = if bit { 0x80 >> used } else { 0 };
        match self.bytes.last_mut() {
            Some(last) if used != 0 => *last |= value,
            _ => self.bytes.push(value),
        }
        self.bits += 1;
    }

    pub(crate) fn append(&mut self, other: PathBits<'_>) {
        self.extend(other.bytes, 0, other.bits);
    }

    /// Appends the bits `from..to` of `bytes`.
    fn extend(&mut self, bytes: &[u8], mut from: usize, to: usize) {
        let used = self.bits % 8;
        if used != 0
            && from < to
            && let Some(last) = self.bytes.last_mut()
        {
            let taken = (8 - used).min(to - from);
            let [first, ..] = (window(bytes, from) & high_mask(taken)).to_be_bytes();
            *last |= first >> used;
            self.bits += taken;
            from += taken;
        }
        while from < to {
            let taken = (to - from).min(64);
            let chunk = (window(bytes, from) & high_mask(taken)).to_be_bytes();
            self.bytes.extend(chunk.into_iter().take(taken.div_ceil(8)));
            self.bits += taken;
            from += taken;
        }
    }

    /// Removes all bits from `bits` on.
    pub(crate) fn truncate(&mut self, bits: usize) {
        if bits >= self.bits {
            return;
        }
        self.bits = bits;
        self.bytes.truncate(bits.div_ceil(8));
        let used = bits % 8;
        if used != 0
            && let Some(last) = self.bytes.last_mut()
        {
            *last &= 0xff << (8 - used);
        }
    }
}

impl<'a> PathBits<'a> {
    /// Returns the number of bits.
    pub(crate) fn len(self) -> usize {
        self.bits
    }

    pub(crate) fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Returns the packed bytes, `ceil(len / 8)` of them.
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn bit(self, index: usize) -> bool {
        bit(self.bytes, index)
    }

    pub(crate) fn to_path(self) -> Path {
        self.head(self.bits)
    }

    /// Returns the bits from `from` to the end.
    pub(crate) fn tail(self, from: usize) -> Path {
        Path::of(self.bytes, from, self.bits)
    }

    /// Returns the first `bits` bits.
    pub(crate) fn head(self, bits: usize) -> Path {
        Path::of(self.bytes, 0, bits)
    }

    /// Returns the number of leading bits of this path that equal those of `key` from bit `at` on.
    pub(crate) fn common_with_key(self, key: &[u8], at: usize) -> usize {
        common_bits(self.bytes, 0, self.bits, key, at, key.len() * 8)
    }

    /// Returns the number of equal bits of this path from `from` on and `other` from `other_from` on.
    pub(crate) fn common_with(self, from: usize, other: PathBits<'_>, other_from: usize) -> usize {
        common_bits(self.bytes, from, self.bits, other.bytes, other_from, other.bits)
    }
}

/// Returns bit `index` of `bytes`, counted from the most significant bit of the first byte; false beyond the end.
pub(crate) fn bit(bytes: &[u8], index: usize) -> bool {
    bytes.get(index / 8).is_some_and(|byte| byte & (0x80 >> (index % 8)) != 0)
}

/// Returns the number of equal leading bits of `a[a_from..a_to]` and `b[b_from..b_to]` (all in bits).
pub(crate) fn common_bits(a: &[u8], a_from: usize, a_to: usize, b: &[u8], b_from: usize, b_to: usize) -> usize {
    let limit = a_to.saturating_sub(a_from).min(b_to.saturating_sub(b_from));
    let mut done = 0;
    while done < limit {
        let difference = window(a, a_from + done) ^ window(b, b_from + done);
        let equal = difference.leading_zeros() as usize;
        done += equal;
        if equal < 64 {
            break;
        }
    }
    done.min(limit)
}

/// Returns the 64 bits from bit `start` on, zero beyond the end.
fn window(bytes: &[u8], start: usize) -> u64 {
    let (byte, shift) = (start / 8, start % 8);
    let rest = bytes.get(byte..).unwrap_or_default();
    match rest.first_chunk::<9>() {
        Some(&[a, b, c, d, e, f, g, h, i]) => {
            let high = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            if shift == 0 { high } else { high << shift | u64::from(i) >> (8 - shift) }
        }
        None => {
            let mut padded = [0; 8];
            for (to, from) in padded.iter_mut().zip(rest) {
                *to = *from;
            }
            u64::from_be_bytes(padded) << shift
        }
    }
}

/// Returns a mask of the `bits` highest bits, 1 to 64.
fn high_mask(bits: usize) -> u64 {
    u64::MAX << (64 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits_of(path: PathBits<'_>) -> Vec<bool> {
        (0..path.len()).map(|i| path.bit(i)).collect()
    }

    #[test]
    fn slices_and_joins_agree_with_single_bits() {
        let bytes: Vec<u8> = (0..70u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
        for from in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
            for to in [from, from + 1, from + 7, from + 8, from + 63, from + 64, from + 65, 320, 560] {
                if to > 560 || to < from {
                    continue;
                }
                let path = Path::of(&bytes, from, to);
                let all = path.all_bits();
                let expected: Vec<bool> = (from..to).map(|i| bit(&bytes, i)).collect();
                assert_eq!(bits_of(all), expected, "{from}..{to}");
                assert_eq!(path.bytes().len(), (to - from).div_ceil(8));
                assert_eq!(NodePath::from(path.clone()).bits(), all);
                for cut in [0, 1, 5, 8, 64] {
                    if cut >= path.len() {
                        continue;
                    }
                    let mut joined = all.head(cut);
                    joined.push(all.bit(cut));
                    joined.append(all.tail(cut + 1).all_bits());
                    assert_eq!(joined, path);
                    let mut shorter = path.clone();
                    shorter.truncate(cut);
                    assert_eq!(shorter, all.head(cut));
                }
            }
        }
    }

    #[test]
    fn common_bits_stops_at_the_first_difference() {
        let path = Path::of(&[0b1010_1010, 0b1111_0000], 0, 12);
        let path = path.all_bits();
        assert_eq!(path.common_with_key(&[0b1010_1010, 0b1111_0000], 0), 12);
        assert_eq!(path.common_with_key(&[0b1010_1011], 0), 7);
        assert_eq!(path.common_with_key(&[0b1010_1010], 0), 8);
        assert_eq!(path.common_with_key(&[0b0101_0101, 0b0111_1000], 1), 12);
        assert_eq!(path.common_with_key(&[], 0), 0);
        let long = Path::of(&[7; 100], 0, 800);
        let long = long.all_bits();
        assert_eq!(long.common_with_key(&[7; 100], 0), 800);
        assert_eq!(long.common_with(8, long, 16), 784);
    }
}
