//! Intrinsic gas: the cost of a transaction before it executes.

use crate::rules::{Rule, Rules};

/// Returns the gas for starting a call or a creation with this data (RSKIP-400, RSKIP-438).
pub fn intrinsic_gas(is_creation: bool, data: &[u8], rules: &Rules) -> u64 {
    let zeros = data.iter().filter(|&&byte| byte == 0).count() as u64;
    let others = data.len() as u64 - zeros;
    let per_other = if rules.is_active(Rule::Rskip400) { 16 } else { 68 };
    let base = match is_creation {
        false => 21_000,
        true if rules.is_active(Rule::Rskip438) => 53_000 + 2 * (data.len() as u64).div_ceil(32),
        true => 53_000,
    };
    base + 4 * zeros + per_other * others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsic_gas_follows_the_rules() {
        let data = [0, 1, 2];
        assert_eq!(intrinsic_gas(false, &data, &Rules::none()), 21_000 + 4 + 2 * 68);
        assert_eq!(intrinsic_gas(true, &data, &Rules::none()), 53_000 + 4 + 2 * 68);
        assert_eq!(intrinsic_gas(true, &data, &Rules::all()), 53_000 + 2 + 4 + 2 * 16);
    }
}
