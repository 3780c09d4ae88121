//! Reads of fixed size with the zero padding of call data.

/// Returns `N` bytes of `input` from `offset`, padded with zeros beyond the end of the input.
pub(super) fn padded<const N: usize>(input: &[u8], offset: usize) -> [u8; N] {
    let mut bytes = [0; N];
    let present = input.get(offset..).unwrap_or_default();
    for (target, source) in bytes.iter_mut().zip(present) {
        *target = *source;
    }
    bytes
}
