//! Multiples of the generator, computed on first use.

use super::curve::Addend;
use super::field::{LANES, Limbs, limbs};
use super::scalar::{WIDE_WINDOW, WINDOW, WINDOWS};
use crate::transaction::ecdsa::ORDER;
use alloy_primitives::{U256, uint};
use k256::elliptic_curve::group::Curve;
use k256::elliptic_curve::ops::Reduce;
use k256::elliptic_curve::sec1::ToEncodedPoint;
use k256::{AffinePoint, FieldBytes, ProjectivePoint, Scalar};
use std::iter;
use std::sync::LazyLock;

const MULTIPLES: usize = 1 << (WIDE_WINDOW - 1);

/// Multiple of the generator at which every sum starts. Any number is suitable; these are the digits of π.
pub(in crate::transaction::recovery) const START: U256 =
    uint!(0x243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89_U256);

/// Precomputed points of the generator G.
pub(super) struct Generator {
    /// Multiples of G and of 2¹²⁸·G, from 1 on, as x and y.
    multiples: [Box<[[Limbs; 2]; MULTIPLES]>; 2],
    /// Start of every sum, START·G: the incomplete additions cannot start at infinity.
    pub(super) start: [Limbs; 2],
    /// Added to the factor of G to compensate for the start, which all doublings double.
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

fn multiples(of: ProjectivePoint) -> Box<[[Limbs; 2]; MULTIPLES]> {
    let sums: Vec<ProjectivePoint> = iter::successors(Some(of), |last| Some(last + &of)).take(MULTIPLES).collect();
    let mut points = vec![AffinePoint::IDENTITY; sums.len()];
    <ProjectivePoint as Curve>::batch_normalize(&sums, &mut points);
    let mut multiples = Box::new([[Limbs::default(); 2]; MULTIPLES]);
    for (multiple, point) in multiples.iter_mut().zip(&points) {
        *multiple = coordinates(point);
    }
    multiples
}

fn coordinates(point: &AffinePoint) -> [Limbs; 2] {
    let encoded = point.to_encoded_point(false);
    let limbs_of = |bytes: Option<&FieldBytes>| limbs(U256::from_be_slice(bytes.map_or(&[], |bytes| bytes)).as_limbs());
    [limbs_of(encoded.x()), limbs_of(encoded.y())]
}

impl Generator {
    /// Returns the multiples of G, or (`is_high`) of 2¹²⁸·G, that the digits select.
    #[inline(never)]
    pub(super) fn pick<const N: usize>(&self, digits: &[[i16; LANES]; N], is_high: bool, addend: &mut Addend<N>) {
        let multiples = &self.multiples[usize::from(is_high)];
        addend.fill(digits, |_, _, index| multiples[index % MULTIPLES]);
    }
}
