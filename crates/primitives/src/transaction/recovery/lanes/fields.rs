//! `N` times eight field elements. Each operation processes one vector after another: the results are independent, so
//! two vectors keep the multipliers busy that one vector leaves idle half of the time.

#![allow(clippy::needless_range_loop, reason = "vectors of several numbers share one index")]

use super::field::{Field, Limbs, Words};
use archmage::intrinsics::x86_64::__mmask8;

/// N vectors of eight elements.
#[derive(Clone, Copy)]
pub(super) struct Fields<const N: usize>(pub(super) [Field; N]);

/// One bit for each of N times eight lanes.
pub(super) type Masks<const N: usize> = [__mmask8; N];

macro_rules! for_each_vector {
    ($($name:ident $(<$shift:ident>)? ($($argument:ident),*);)*) => {
        impl<const N: usize> Fields<N> {
            $(
                /// Applies the function of [`Field`] with this name to each vector.
                #[target_feature(enable = "avx512f,avx512ifma")]
                #[inline]
                pub(super) fn $name $(<const $shift: u32>)? ($($argument: &Self),*) -> Self {
                    let mut all = [Field::zero(); N];
                    for i in 0..N {
                        all[i] = Field::$name $(::<$shift>)? ($(&$argument.0[i]),*);
                    }
                    Fields(all)
                }
            )*
        }
    };
}

for_each_vector! {
    mul(a, b);
    mul_sum(a, b, c, d);
    mul_sub<SHIFT>(a, b, c);
    square(a);
    square_sub<SHIFT>(a, c);
    square_sub_both(a, b, c);
    add(a, b);
    triple(a);
    sub(a, b);
    quadruple_sub(a, b);
    negated(a);
    canonical(a);
}

impl<const N: usize> Fields<N> {
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn splat(limbs: &Limbs) -> Self {
        Fields([Field::splat(limbs); N])
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn load(words: &[Words; N]) -> Self {
        let mut all = [Field::zero(); N];
        for i in 0..N {
            all[i] = Field::load(&words[i]);
        }
        Fields(all)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn store(&self) -> [Words; N] {
        let mut words = [Words::default(); N];
        for i in 0..N {
            words[i] = self.0[i].store();
        }
        words
    }

    /// Selects by lane: b if the mask is set, otherwise a.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn select(masks: &Masks<N>, a: &Self, b: &Self) -> Self {
        let mut all = [Field::zero(); N];
        for i in 0..N {
            all[i] = Field::select(masks[i], &a.0[i], &b.0[i]);
        }
        Fields(all)
    }

    /// Returns the lanes in which a tight element is zero.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn is_zero(&self) -> Masks<N> {
        let mut masks = [0; N];
        for i in 0..N {
            masks[i] = Field::is_zero(&self.0[i]);
        }
        masks
    }

    /// Returns the lanes in which a canonical element is odd.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn is_odd(&self) -> Masks<N> {
        let mut masks = [0; N];
        for i in 0..N {
            masks[i] = Field::is_odd(&self.0[i]);
        }
        masks
    }
}
