//! N times eight points of secp256k1 side by side, in Jacobian coordinates: x = X/Z², y = Y/Z³.
//!
//! The additions are incomplete: a sum of equal or opposite points gets Z = 0, and from there Z stays zero whatever is
//! added. So one look at the last Z tells whether a lane went wrong.

use super::field::{LANES, Limbs, Words, limbs};
use super::fields::{Fields, Masks};

/// Multiples of a point that a table holds: 1 to 16.
pub(super) const MULTIPLES: usize = 16;
/// One.
pub(super) const ONE: Limbs = [1, 0, 0, 0, 0];
/// A third root of one in the field: (BETA · x, y) is a fixed multiple of (x, y).
const BETA: Limbs =
    limbs(&[0xc139_6c28_7195_01ee, 0x9cf0_4975_12f5_8995, 0x6e64_479e_ac34_34e9, 0x7ae9_6a2b_657c_0710]);

/// Points. X and Y are tight, Z is below 2 units and a bit.
#[derive(Clone, Copy)]
pub(super) struct Point<const N: usize> {
    pub(super) x: Fields<N>,
    pub(super) y: Fields<N>,
    pub(super) z: Fields<N>,
}

/// The multiples 1 to 16 of points, lane by lane as x, y, BETA · x and −y. They stand on the curve that the
/// factor `z` leads to: the true x is x/z², the true y is y/z³.
pub(super) struct Multiples<const N: usize> {
    entries: [[[Words; N]; 4]; MULTIPLES],
    pub(super) z: Fields<N>,
}

impl<const N: usize> Point<N> {
    /// 2 · self, by 3 multiplications and 4 squarings.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn doubled(&self) -> Self {
        let slope = Fields::triple(&Fields::square(&self.x));
        let yy = Fields::square(&self.y);
        let xyy = Fields::mul(&self.x, &yy);
        let yyyy = Fields::square(&yy);
        let yz = Fields::mul(&self.y, &self.z);
        let x = Fields::square_sub::<3>(&slope, &xyy);
        let y = Fields::mul_sub::<3>(&slope, &Fields::quadruple_sub(&xyy, &x), &yyyy);
        Point { x, y, z: Fields::add(&yz, &yz) }
    }

    /// Adds points with tight coordinates that stand on the curve which `z`, a multiple of the own Z, leads to.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn plus(&self, x: &Fields<N>, y: &Fields<N>, z: &Fields<N>) -> Self {
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

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn select(masks: &Masks<N>, a: &Self, b: &Self) -> Self {
        Point {
            x: Fields::select(masks, &a.x, &b.x),
            y: Fields::select(masks, &a.y, &b.y),
            z: Fields::select(masks, &a.z, &b.z),
        }
    }
}

impl<const N: usize> Multiples<N> {
    #[target_feature(enable = "avx512f")]
    pub(super) fn empty() -> Self {
        Multiples { entries: [[[Words::default(); N]; 4]; MULTIPLES], z: Fields::splat(&ONE) }
    }

    /// The multiples of points given by tight coordinates.
    ///
    /// Each step adds the point to its last multiple while both have the same Z, and brings the point to the Z of the
    /// sum on the way (co-Z addition of Meloni). The factors between the Zs then lift all multiples to the last Z.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline(never)]
    pub(super) fn fill(&mut self, x: &Fields<N>, y: &Fields<N>) {
        // The double, and the point brought to its Z, which is 2y.
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
        // From one Z to the next. The entries hold each multiple with its own Z for now.
        let mut factors = [z; MULTIPLES - 2];
        for (entry, factor) in rest.iter_mut().zip(&mut factors) {
            let [entry_x, entry_y, ..] = entry;
            (*entry_x, *entry_y) = (last.0.store(), last.1.store());
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
        set(first, &one.0, &one.1);
        set(end, &last.0, &last.1);
        let mut scale = Fields::splat(&ONE);
        for (entry, factor) in rest.iter_mut().zip(&factors).rev() {
            scale = Fields::mul(&scale, factor);
            let square = Fields::square(&scale);
            let cube = Fields::mul(&square, &scale);
            let [x, y, ..] = entry;
            let (x, y) = (Fields::load(x), Fields::load(y));
            set(entry, &Fields::mul(&x, &square), &Fields::mul(&y, &cube));
        }
        self.z = Fields::mul(&z, &scale);
    }

    /// For each lane the multiple that its digit says, as x and y; any point for the digit 0. With `is_turned`, of
    /// BETA · x.
    #[inline(never)]
    pub(super) fn pick(&self, digits: &[[i16; LANES]; N], is_turned: bool, x: &mut [Words; N], y: &mut [Words; N]) {
        for (i, digits) in digits.iter().enumerate() {
            for (lane, digit) in digits.iter().enumerate() {
                let entry = &self.entries[usize::from(digit.unsigned_abs().wrapping_sub(1)) % MULTIPLES];
                let from_x = &entry[if is_turned { 2 } else { 0 }][i];
                let from_y = &entry[if *digit < 0 { 3 } else { 1 }][i];
                for limb in 0..5 {
                    x[i][limb][lane] = from_x[limb][lane];
                    y[i][limb][lane] = from_y[limb][lane];
                }
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn set<const N: usize>(entry: &mut [[Words; N]; 4], x: &Fields<N>, y: &Fields<N>) {
    let turned = Fields::mul(x, &Fields::splat(&BETA));
    *entry = [x.store(), y.store(), turned.store(), Fields::negated(y).store()];
}
