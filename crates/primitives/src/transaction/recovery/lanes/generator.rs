//! Multiples of the generator, computed at first use.

use super::field::{LANES, Limbs, Words, limbs};
use super::scalar::{WIDE_WINDOW, WINDOW, WINDOWS};
use crate::transaction::signature::ORDER;
use alloy_primitives::{U256, uint};
use k256::elliptic_curve::group::Curve;
use k256::elliptic_curve::ops::Reduce;
use k256::elliptic_curve::sec1::ToEncodedPoint;
use k256::{AffinePoint, FieldBytes, ProjectivePoint, Scalar};
use std::iter;
use std::sync::LazyLock;

const MULTIPLES: usize = 1 << (WIDE_WINDOW - 1);

/// The multiple of the generator where every sum begins. Any number will do; these are the digits of π.
pub(in crate::transaction::recovery) const START: U256 =
    uint!(0x243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89_U256);

/// What is known of the generator G before any signature.
pub(super) struct Generator {
    /// Of G and of 2¹²⁸·G, the multiples from 1 on: x, y and −y, sixteen words that fill two lines of the cache.
    multiples: [Box<[[u64; 16]]>; 2],
    /// Where every sum begins, START·G: the incomplete additions cannot begin at infinity.
    pub(super) start: [Limbs; 2],
    /// What must be added to the factor of G to make up for the start, which all doublings double.
    pub(super) offset: U256,
}

pub(super) static GENERATOR: LazyLock<Generator> = LazyLock::new(|| {
    let doublings = WINDOW as usize * (WINDOWS - 1);
    let upper = ProjectivePoint::GENERATOR * scalar(U256::ONE << 128);
    Generator {
        multiples: [ProjectivePoint::GENERATOR, upper].map(multiples),
        start: coordinates(&(ProjectivePoint::GENERATOR * scalar(START)).to_affine()),
        offset: (ORDER - START).mul_mod(U256::ONE << doublings, ORDER),
    }
});

fn scalar(number: U256) -> Scalar {
    <Scalar as Reduce<k256::U256>>::reduce(k256::U256::from_words(*number.as_limbs()))
}

fn multiples(of: ProjectivePoint) -> Box<[[u64; 16]]> {
    let sums: Vec<ProjectivePoint> = iter::successors(Some(of), |last| Some(last + &of)).take(MULTIPLES).collect();
    let mut points = vec![AffinePoint::IDENTITY; sums.len()];
    <ProjectivePoint as Curve>::batch_normalize(&sums, &mut points);
    let entry = |point: &AffinePoint| {
        let ([x, y], [_, minus_y]) = (coordinates(point), coordinates(&-*point));
        let mut entry = [0; 16];
        for (slot, limb) in entry.iter_mut().zip(x.into_iter().chain(y).chain(minus_y)) {
            *slot = limb;
        }
        entry
    };
    points.iter().map(entry).collect()
}

fn coordinates(point: &AffinePoint) -> [Limbs; 2] {
    let encoded = point.to_encoded_point(false);
    let limbs_of = |bytes: Option<&FieldBytes>| limbs(U256::from_be_slice(bytes.map_or(&[], |bytes| bytes)).as_limbs());
    [limbs_of(encoded.x()), limbs_of(encoded.y())]
}

impl Generator {
    /// For each lane the multiple that its digit says, of G or (`is_high`) of 2¹²⁸·G, as x and y; any for the digit 0.
    #[inline(never)]
    pub(super) fn pick<const N: usize>(
        &self,
        digits: &[[i16; LANES]; N],
        is_high: bool,
        x: &mut [Words; N],
        y: &mut [Words; N],
    ) {
        let multiples = &self.multiples[usize::from(is_high)];
        for (i, digits) in digits.iter().enumerate() {
            for (lane, digit) in digits.iter().enumerate() {
                let index = usize::from(digit.unsigned_abs().saturating_sub(1));
                let Some(entry) = multiples.get(index) else { continue };
                let from_y = if *digit < 0 { &entry[10..15] } else { &entry[5..10] };
                for limb in 0..5 {
                    x[i][limb][lane] = entry[limb];
                    y[i][limb][lane] = from_y[limb];
                }
            }
        }
    }
}
