//! N times eight points of secp256k1 in Jacobian coordinates: x = X/Z², y = Y/Z³.
//!
//! The additions are incomplete: a sum of equal or opposite points gets Z = 0, and Z remains zero in all later
//! operations. A single check of the final Z detects the lanes that failed.

use super::field::{LANES, Limbs, Words, limbs};
use super::fields::{Fields, Masks};
use archmage::intrinsics::x86_64::__mmask8;
use std::array;

/// Number of multiples of a point in a table: 1 to 16.
pub(super) const MULTIPLES: usize = 16;
/// The number one.
pub(super) const ONE: Limbs = [1, 0, 0, 0, 0];
/// A cube root of one in the field: (BETA · x, y) is a fixed multiple of (x, y).
const BETA: Limbs =
    limbs(&[0xc139_6c28_7195_01ee, 0x9cf0_4975_12f5_8995, 0x6e64_479e_ac34_34e9, 0x7ae9_6a2b_657c_0710]);

/// Points. X and Y are tight, Z is slightly above 2 units at most.
#[derive(Clone, Copy)]
pub(super) struct Point<const N: usize> {
    pub(super) x: Fields<N>,
    pub(super) y: Fields<N>,
    pub(super) z: Fields<N>,
}

/// The multiples 1 to 16 of points as tight x and y, on the isomorphic curve of the factor `z`: the true x is x/z²,
/// the true y is y/z³.
pub(super) struct Multiples<const N: usize> {
    entries: [[[Words; N]; 2]; MULTIPLES],
    pub(super) z: Fields<N>,
}

/// One point for each lane to add: no point for the digit 0, the point with −y for a negative digit.
pub(super) struct Addend<const N: usize> {
    x: [Words; N],
    y: [Words; N],
    is_there: Masks<N>,
    is_negative: Masks<N>,
}

impl<const N: usize> Point<N> {
    /// Returns 2^times · self; each doubling takes 3 multiplications and 4 squarings.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline(never)]
    pub(super) fn double(&mut self, times: u32) {
        for _ in 0..times {
            *self = self.doubled();
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn doubled(&self) -> Self {
        let slope = Fields::triple(&Fields::square(&self.x));
        let yy = Fields::square(&self.y);
        let xyy = Fields::mul(&self.x, &yy);
        let yyyy = Fields::square(&yy);
        let yz = Fields::mul(&self.y, &self.z);
        let x = Fields::square_sub::<3>(&slope, &xyy);
        let y = Fields::mul_sub::<3>(&slope, &Fields::quadruple_sub(&xyy, &x), &yyyy);
        Point { x, y, z: Fields::add(&yz, &yz) }
    }

    /// Adds points on the isomorphic curve of `z`, which is a multiple of the Z of this sum.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn plus(&self, x: &Fields<N>, y: &Fields<N>, z: &Fields<N>) -> Self {
        let zz = Fields::square(z);
        let zzz = Fields::mul(&zz, z);
        let h = Fields::sub(&Fields::mul(x, &zz), &self.x);
        let slope = Fields::sub(&Fields::mul(y, &zzz), &self.y);
        let hh = Fields::square(&h);
        let hhh = Fields::mul(&h, &hh);
        let v = Fields::mul(&self.x, &hh);
        let x = Fields::square_sub_both(&slope, &hhh, &v);
        let y = Fields::mul_sum(&slope, &Fields::sub(&v, &x), &Fields::negated(&self.y), &hhh);
        Point { x, y, z: Fields::mul(&self.z, &h) }
    }
}

impl<const N: usize> Multiples<N> {
    #[target_feature(enable = "avx512f")]
    pub(super) fn empty() -> Self {
        Multiples { entries: [[[Words::default(); N]; 2]; MULTIPLES], z: Fields::splat(&ONE) }
    }

    /// Computes the multiples of points with tight coordinates.
    ///
    /// Each step adds the point to its previous multiple, while both have the same Z, and updates the point to the Z
    /// of the sum (co-Z addition of Meloni). The quotients of consecutive Zs then lift all multiples to the last Z.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline(never)]
    pub(super) fn fill(&mut self, x: &Fields<N>, y: &Fields<N>) {
        // The double of the point, and the point rescaled to the Z of the double, which is 2y.
        let yy = Fields::square(y);
        let yyyy = Fields::square(&yy);
        let xyy = Fields::mul(x, &yy);
        let slope = Fields::triple(&Fields::square(x));
        let double_x = Fields::square_sub::<3>(&slope, &xyy);
        let double_y = Fields::mul_sub::<3>(&slope, &Fields::quadruple_sub(&xyy, &double_x), &yyyy);
        let z = Fields::add(y, y);
        let mut one =
            (Fields::mul(&xyy, &Fields::splat(&[4, 0, 0, 0, 0])), Fields::mul(&yyyy, &Fields::splat(&[8, 0, 0, 0, 0])));
        let mut last = (double_x, double_y);
        let [first, rest @ .., end] = &mut self.entries;
        // Quotients of consecutive Zs. At first each entry has its own Z.
        let mut factors = [z; MULTIPLES - 2];
        for (entry, factor) in rest.iter_mut().zip(&mut factors) {
            *entry = [last.0.store(), last.1.store()];
            let h = Fields::sub(&last.0, &one.0);
            let slope = Fields::sub(&last.1, &one.1);
            let hh = Fields::square(&h);
            let hhh = Fields::mul(&h, &hh);
            one = (Fields::mul(&one.0, &hh), Fields::mul(&one.1, &hhh));
            let x = Fields::square_sub_both(&slope, &hhh, &one.0);
            let y = Fields::mul_sub::<0>(&slope, &Fields::sub(&one.0, &x), &one.1);
            last = (x, y);
            *factor = h;
        }
        *first = [one.0.store(), one.1.store()];
        *end = [last.0.store(), last.1.store()];
        let mut scale = Fields::splat(&ONE);
        for (entry, factor) in rest.iter_mut().zip(&factors).rev() {
            scale = Fields::mul(&scale, factor);
            let square = Fields::square(&scale);
            let cube = Fields::mul(&square, &scale);
            let [x, y] = entry;
            let (lifted_x, lifted_y) = (Fields::mul(&Fields::load(x), &square), Fields::mul(&Fields::load(y), &cube));
            (*x, *y) = (lifted_x.store(), lifted_y.store());
        }
        self.z = Fields::mul(&z, &scale);
    }

    /// Returns the multiples that the digits select.
    #[inline(never)]
    pub(super) fn pick(&self, digits: &[[i16; LANES]; N], addend: &mut Addend<N>) {
        addend.fill(digits, |vector, lane, index| {
            let [x, y] = &self.entries[index % MULTIPLES];
            [array::from_fn(|limb| x[vector][limb][lane]), array::from_fn(|limb| y[vector][limb][lane])]
        });
    }
}

impl<const N: usize> Addend<N> {
    pub(super) fn empty() -> Self {
        Addend { x: [Words::default(); N], y: [Words::default(); N], is_there: [0; N], is_negative: [0; N] }
    }

    /// Returns the multiple for each digit by vector, lane and magnitude minus 1. (Any multiple for the digit 0.)
    #[inline(always)]
    pub(super) fn fill(&mut self, digits: &[[i16; LANES]; N], multiple: impl Fn(usize, usize, usize) -> [Limbs; 2]) {
        for (vector, digits) in digits.iter().enumerate() {
            let (mut is_there, mut is_negative) = (0, 0);
            for (lane, digit) in digits.iter().enumerate() {
                is_there |= __mmask8::from(*digit != 0) << lane;
                is_negative |= __mmask8::from(*digit < 0) << lane;
                let [x, y] = multiple(vector, lane, usize::from(digit.unsigned_abs().saturating_sub(1)));
                for limb in 0..5 {
                    self.x[vector][limb][lane] = x[limb];
                    self.y[vector][limb][lane] = y[limb];
                }
            }
            (self.is_there[vector], self.is_negative[vector]) = (is_there, is_negative);
        }
    }

    /// Replaces x by BETA · x.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn turn(&mut self) {
        self.x = Fields::mul(&Fields::load(&self.x), &Fields::splat(&BETA)).store();
    }

    /// Adds the points to a sum. They are on the isomorphic curve of `z`, a multiple of the sum's Z; `None` means that
    /// Z itself.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline(never)]
    pub(super) fn add_to(&self, sum: &mut Point<N>, z: Option<&Fields<N>>) {
        let y = Fields::load(&self.y);
        let y = Fields::select(&self.is_negative, &y, &Fields::negated(&y));
        let Point { x, y, z } = sum.plus(&Fields::load(&self.x), &y, z.unwrap_or(&sum.z));
        sum.x = Fields::select(&self.is_there, &sum.x, &x);
        sum.y = Fields::select(&self.is_there, &sum.y, &y);
        sum.z = Fields::select(&self.is_there, &sum.z, &z);
    }
}
