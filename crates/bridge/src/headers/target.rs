//! Targets in their compact form, as the Bitcoin library of the reference encodes them.

use rhizome_primitives::U256;

/// Decodes a target; `None` if it is not positive or has more than 256 bits.
pub(super) fn decode(bits: u32) -> Option<U256> {
    let [size, mantissa @ ..] = bits.to_be_bytes();
    let size = usize::from(size);
    let digits = mantissa.get(..size.min(3))?;
    let first = *digits.first()?;
    if first & 0x80 != 0 {
        return None;
    }
    let digits = U256::from_be_slice(digits);
    let shift = 8 * size.saturating_sub(3);
    let number = digits.checked_shl(shift).filter(|number| number.checked_shr(shift) == Some(digits))?;
    (!number.is_zero()).then_some(number)
}

/// Encodes a target. The size includes a byte for the sign.
pub(super) fn encode(number: U256) -> u32 {
    let size = number.bit_len() / 8 + 1;
    let mantissa = match size {
        0..=3 => number << (8 * (3 - size)),
        _ => number >> (8 * (size - 3)),
    };
    (mantissa.saturating_to::<u32>() & 0x00ff_ffff) | (size as u32) << 24
}

/// Returns the work of a header with this target: floor(2^256 / (target + 1)).
pub(super) fn work(target: U256) -> U256 {
    match target.checked_add(U256::ONE) {
        Some(divisor) => (!target / divisor).saturating_add(U256::ONE),
        None => U256::ONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_forms_survive_a_round_trip() {
        assert_eq!(decode(0x1d00_ffff), Some(U256::from(0xffff) << 208));
        assert_eq!(decode(0x207f_ffff), Some(U256::from(0x7f_ffff) << 232));
        assert_eq!(decode(0x0112_3456), Some(U256::from(0x12)));
        for bad in [0, 0x0080_0000, 0x1d80_0000, 0x1d00_0000, 0xff7f_ffff, 0x2100_ffff | 0x0001_0000] {
            assert_eq!(decode(bad), None, "{bad:x}");
        }
        for bits in [0x1d00_ffff, 0x207f_ffff, 0x1b04_04cb] {
            assert_eq!(encode(decode(bits).unwrap()), bits);
        }
    }

    #[test]
    fn work_of_known_targets() {
        assert_eq!(work(decode(0x1d00_ffff).unwrap()), U256::from(4_295_032_833_u64));
        assert_eq!(work(decode(0x207f_ffff).unwrap()), U256::from(2));
        assert_eq!(work(U256::MAX), U256::ONE);
    }
}
