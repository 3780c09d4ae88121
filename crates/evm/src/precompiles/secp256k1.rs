//! Addition and multiplication on secp256k1 (0x01000016, 0x01000017; RSKIP-516).
//!
//! A point is `x ++ y`; 64 zero bytes are the identity, in input and output. A point that is not on the curve is a failure.

use super::interface::{Precompile, PrecompileContext, PrecompileFailure, PrecompileOutput};
use super::padding::padded;
use k256::elliptic_curve::ops::Reduce;
use k256::elliptic_curve::sec1::{FromEncodedPoint, ToEncodedPoint};
use k256::{AffinePoint, EncodedPoint, ProjectivePoint, Scalar, U256};
use rhizome_primitives::Bytes;

pub(super) struct Secp256k1Add;
pub(super) struct Secp256k1Mul;

impl Precompile for Secp256k1Add {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(150)
    }

    fn run(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let sum = read_point(input, 0).zip(read_point(input, 64)).map(|(a, b)| a + b);
        settle(sum)
    }
}

impl Precompile for Secp256k1Mul {
    fn required_gas(&self, _input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<u64, PrecompileFailure> {
        Ok(3000)
    }

    fn run(&self, input: &[u8], _ctx: &mut PrecompileContext<'_>) -> Result<PrecompileOutput, PrecompileFailure> {
        let scalar = <Scalar as Reduce<U256>>::reduce_bytes(&padded::<32>(input, 64).into());
        settle(read_point(input, 0).map(|point| point * scalar))
    }
}

fn read_point(input: &[u8], offset: usize) -> Option<ProjectivePoint> {
    let bytes: [u8; 64] = padded(input, offset);
    if bytes == [0; 64] {
        return Some(ProjectivePoint::IDENTITY);
    }
    let encoded = EncodedPoint::from_untagged_bytes(&bytes.into());
    Option::from(AffinePoint::from_encoded_point(&encoded)).map(|point: AffinePoint| point.into())
}

fn settle(point: Option<ProjectivePoint>) -> Result<PrecompileOutput, PrecompileFailure> {
    let encoded = point.ok_or(PrecompileFailure::Failed)?.to_affine().to_encoded_point(false);
    // An uncompressed point is a tag and 64 bytes, the identity is a tag only.
    let coordinates = padded::<64>(encoded.as_bytes(), 1);
    Ok(PrecompileOutput::Output(Bytes::copy_from_slice(&coordinates)))
}

#[cfg(test)]
mod tests {
    use crate::precompiles::golden;

    #[test]
    fn replays_the_golden_cases() {
        golden::replay("pre-secp-", 23);
    }
}
