use super::*;
use crate::error::SignatureError;
use crate::transaction::UnsignedTransaction;
use crate::transaction::ecdsa::{FIELD, ORDER};
use crate::transaction::signature::Signature;
use alloy_primitives::{Bytes, U256, keccak256};

/// Returns a number that depends only on the seeds.
fn random(kind: u64, index: u64) -> U256 {
    keccak256([kind.to_be_bytes(), index.to_be_bytes()].concat()).into()
}

fn signature(r: U256, s: U256, is_y_odd: bool) -> Signature {
    let number = |number: U256| Bytes::from(number.to_be_bytes_trimmed_vec());
    Signature { chain_id: 33, recovery: if is_y_odd { 28 } else { 27 }, r: number(r), s: number(s) }
}

fn transaction(index: u64, signature: Signature) -> Transaction {
    let unsigned = UnsignedTransaction {
        nonce: U256::from(index),
        gas_price: U256::from(7),
        gas_limit: 21_000,
        to: Some(Address::repeat_byte(7)),
        value: U256::from(5),
        data: Bytes::new(),
    };
    Transaction::with_signature(unsigned, 33, |_message| Ok(signature)).unwrap()
}

/// Returns the sender of each transaction, recovered one by one.
fn one_by_one(transactions: &[Transaction]) -> Vec<Result<Address, SignatureError>> {
    let alone = |transaction: &Transaction| match &transaction.signature {
        Some(signature) => signature.recover(&transaction.raw_hash()),
        None => Err(SignatureError::Unsigned),
    };
    transactions.iter().map(alone).collect()
}

/// Valid signatures mixed with invalid ones: off the curve, out of range, longer than 32 bytes, absent.
fn mixed(count: u64, seed: u64) -> Vec<Transaction> {
    let one = |index: u64| {
        let [r, s] = [1, 2].map(|kind| random(seed + kind, index));
        let is_y_odd = r.bit(9);
        match index % 13 {
            3 => transaction(index, signature(U256::ZERO, s, is_y_odd)),
            4 => transaction(index, signature(r, U256::ZERO, is_y_odd)),
            5 => transaction(index, signature(ORDER + U256::from(index), s, is_y_odd)),
            6 => transaction(index, signature(r, ORDER + U256::from(index), is_y_odd)),
            7 => transaction(index, signature(FIELD + U256::from(index), s, is_y_odd)),
            8 => transaction(index, Signature { s: Bytes::from(vec![9; 33]), ..signature(r, s, is_y_odd) }),
            9 => transaction(index, Signature { r: Bytes::from(vec![9; 33]), ..signature(r, s, is_y_odd) }),
            10 => Transaction::remasc(index),
            // Half of all r are not the x-coordinate of a point.
            11 => transaction(index, signature(r, s, is_y_odd)),
            _ => Transaction::sign(unsigned(index), 33, &keccak256(index.to_be_bytes())).unwrap(),
        }
    };
    (0..count).map(one).collect()
}

fn unsigned(index: u64) -> UnsignedTransaction {
    UnsignedTransaction {
        nonce: U256::from(index),
        gas_price: U256::from(7),
        gas_limit: 100_000,
        to: None,
        value: U256::ZERO,
        data: Bytes::from(vec![1; index as usize % 300]),
    }
}

#[test]
fn batches_agree_with_single_recoveries() {
    for count in 0..=40 {
        let transactions = mixed(count, count);
        let expected = one_by_one(&transactions);
        Transaction::recover_senders(&transactions);
        assert!(transactions.iter().all(|transaction| transaction.sender.get().is_some()));
        assert!(transactions.iter().map(Transaction::recover_sender).eq(expected), "{count} transactions");
    }
}

#[test]
fn senders_are_recovered_one_by_one_without_vector_instructions() {
    let transactions = mixed(40, 0);
    let expected = one_by_one(&transactions);
    recover_senders(transactions.iter(), |_inputs| None);
    assert!(transactions.iter().all(|transaction| transaction.sender.get().is_some()));
    assert!(transactions.iter().map(Transaction::recover_sender).eq(expected));
}

#[test]
fn inputs_are_the_signatures_in_range_without_a_known_sender() {
    let transactions = mixed(26, 0);
    transactions[0].recover_sender().unwrap();
    recover_senders(transactions.iter(), |inputs| {
        // Eight of thirteen are unsigned or out of range, and one sender is known.
        assert_eq!(inputs.len(), 26 - 2 * 8 - 1);
        assert!(
            inputs.iter().all(|input| !input.r.is_zero() && input.r < ORDER && !input.s.is_zero() && input.s < ORDER)
        );
        // Addresses in the result are used; the other senders are recovered one by one.
        Some(inputs.iter().enumerate().map(|(index, _)| (index == 2).then_some(Address::repeat_byte(1))).collect())
    });
    let taken = transactions.iter().filter(|known| known.recover_sender() == Ok(Address::repeat_byte(1))).count();
    assert_eq!(taken, 1);
}

/// Recovers in lanes and compares each result with a single recovery. Returns the number of keys that the lanes did
/// not find. Without vector instructions there is nothing to check.
#[cfg(target_arch = "x86_64")]
fn missed_by_lanes(inputs: &[RecoveryInput]) -> usize {
    let Some(found) = lanes::recover(inputs) else { return 0 };
    assert_eq!(found.len(), inputs.len());
    let mut missed = 0;
    for (input, found) in inputs.iter().zip(found) {
        let expected = signature(input.r, input.s, input.is_y_odd).recover(&input.message);
        match found {
            Some(address) => assert_eq!(Ok(address), expected, "{input:?}"),
            None => missed += usize::from(expected.is_ok()),
        }
    }
    missed
}

#[cfg(target_arch = "x86_64")]
#[test]
fn lanes_find_every_key_of_random_signatures() {
    let input = |index| RecoveryInput {
        message: random(1, index).into(),
        r: random(2, index),
        s: random(3, index),
        is_y_odd: index % 3 == 0,
    };
    let inputs: Vec<RecoveryInput> = (0..5000).map(input).collect();
    assert_eq!(missed_by_lanes(&inputs), 0);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn lanes_find_every_key_for_extreme_numbers() {
    let near = |number: U256| (0..4).flat_map(move |step| [number + U256::from(step), number - U256::from(step)]);
    let edges: Vec<U256> = [U256::from(4), ORDER, ORDER >> 1, U256::ONE << 128, U256::ONE << 255]
        .into_iter()
        .flat_map(near)
        .filter(|edge| !edge.is_zero() && *edge < ORDER)
        .collect();
    // Random numbers are combined with extreme ones too.
    let rs = edges.iter().copied().chain((0..4).map(|index| random(4, index)));
    let ss: Vec<U256> = edges.iter().copied().chain((0..2).map(|index| random(5, index))).collect();
    let messages = [U256::ZERO, U256::ONE, ORDER - U256::ONE, ORDER, ORDER + U256::ONE, U256::MAX, random(6, 0)];
    let mut inputs = Vec::new();
    for r in rs {
        for (index, s) in ss.iter().enumerate() {
            for message in messages.iter().skip(index % 3).step_by(3) {
                inputs.push(RecoveryInput { message: (*message).into(), r, s: *s, is_y_odd: index % 2 == 0 });
            }
        }
    }
    assert!(inputs.len() > 1000);
    assert_eq!(missed_by_lanes(&inputs), 0);
}

#[cfg(target_arch = "x86_64")]
mod crafted {
    use super::*;
    use alloy_primitives::{address, uint};
    use k256::elliptic_curve::ops::Reduce;
    use k256::elliptic_curve::sec1::ToEncodedPoint;
    use k256::{ProjectivePoint, Scalar};

    fn scalar(number: U256) -> Scalar {
        <Scalar as Reduce<k256::U256>>::reduce(k256::U256::from_words(*number.as_limbs()))
    }

    fn number(scalar: Scalar) -> U256 {
        U256::from_be_bytes::<32>(scalar.to_bytes().into())
    }

    /// Returns the signature whose recovery is `first`·G + `second`·R for R = `point`·G.
    fn input(first: Scalar, second: Scalar, point: Scalar) -> RecoveryInput {
        let encoded = (ProjectivePoint::GENERATOR * point).to_affine().to_encoded_point(false);
        let r = U256::from_be_slice(encoded.x().unwrap());
        RecoveryInput {
            message: number(-first * scalar(r)).into(),
            r,
            s: number(second * scalar(r)),
            is_y_odd: encoded.y().unwrap()[31] & 1 == 1,
        }
    }

    /// Inputs that lanes cannot recover, mixed with inputs that they can.
    fn assert_only_these_are_left(left: &[RecoveryInput]) {
        for (index, input) in left.iter().enumerate() {
            let ordinary =
                |lane| self::input(scalar(random(7, lane)), scalar(random(8, lane)), scalar(random(9, lane)));
            let mut inputs: Vec<RecoveryInput> = (0..11).map(ordinary).collect();
            inputs[index % 11] = *input;
            let Some(found) = lanes::recover(&inputs) else { return };
            for (lane, found) in found.iter().enumerate() {
                assert_eq!(found.is_none(), lane == index % 11, "input {index}, lane {lane}");
            }
            missed_by_lanes(&inputs);
        }
    }

    #[test]
    fn the_key_at_infinity_has_an_address() {
        // u₁·G = −u₂·R.
        let opposite = |index: u64| {
            let (second, point) = (scalar(random(10, index)), scalar(random(11, index)));
            input(-(second * point), second, point)
        };
        let inputs: Vec<RecoveryInput> = (0..12).map(opposite).collect();
        for input in &inputs {
            let alone = signature(input.r, input.s, input.is_y_odd);
            let address = address!("dcc703c0e500b653ca82273b7bfad8045d85a470");
            assert_eq!(alone.recover(&input.message), Ok(address));
            assert_eq!(alone.recover_key(&input.message), Ok(vec![0]));
        }
        assert_only_these_are_left(&inputs);
    }

    /// (BETA · x, y) is this multiple of (x, y).
    const LAMBDA: U256 = uint!(0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72_U256);

    #[test]
    fn zero_and_equal_digits() {
        let offset = scalar(lanes::offset());
        let half = U256::from(u128::MAX);
        let wide_digits = (0..13).fold(U256::ZERO, |sum, _| sum << 10 | U256::from(512)) & half;
        let firsts = [
            U256::ZERO,
            U256::ONE,
            U256::from(512),
            U256::from(513),
            half,
            half << 128,
            wide_digits,
            wide_digits << 128,
        ];
        let digits = (0..26).fold(U256::ZERO, |sum, _| sum << 5 | U256::from(16)) >> 4;
        let seconds = [U256::ONE, U256::from(16), U256::from(17), LAMBDA, LAMBDA + U256::ONE, digits, U256::ONE << 127];
        let mut inputs = Vec::new();
        for (index, second) in seconds.into_iter().enumerate() {
            for first in firsts {
                let point = scalar(random(18, index as u64));
                for second in [scalar(second), -scalar(second)] {
                    // Both the factor and the factor without the offset.
                    inputs.push(input(scalar(first), second, point));
                    inputs.push(input(scalar(first) - offset, second, point));
                }
            }
        }
        assert_eq!(missed_by_lanes(&inputs), 0);
    }

    #[test]
    fn equal_parts_are_recovered_in_lanes() {
        // u₁·G = u₂·R; R = ±G; R = λ·G.
        let mut inputs = Vec::new();
        for index in 0..8 {
            let (second, point) = (scalar(random(12, index)), scalar(random(13, index)));
            inputs.push(input(second * point, second, point));
            inputs.push(input(point, second, Scalar::ONE));
            inputs.push(input(point, second, -Scalar::ONE));
            inputs.push(input(point, second, scalar(LAMBDA)));
        }
        assert_eq!(missed_by_lanes(&inputs), 0);
        let Some(found) = lanes::recover(&inputs) else { return };
        assert!(found.iter().all(Option::is_some));
    }

    #[test]
    fn a_last_addition_of_equal_points_falls_back() {
        let offset = scalar(lanes::offset());
        let inputs = (0..12).map(|index| {
            // The last addition uses the lowest digit of the upper half of u₁ + offset.
            let first = scalar(random(14, index));
            let upper: U256 = number(first + offset) >> 128;
            let digit = U256::from(upper.as_limbs()[0] & 1023);
            let last = if digit > U256::from(512) { -scalar(U256::from(1024) - digit) } else { scalar(digit) };
            let last = last * scalar(U256::ONE << 128);
            let second = scalar(random(15, index));
            // u₁·G + u₂·R is twice that digit's point: the addition becomes a doubling. (The start has no effect on
            // this.)
            let point = (last + last - first) * second.invert().unwrap();
            input(first, second, point)
        });
        let inputs: Vec<RecoveryInput> = inputs.collect();
        assert_eq!(missed_by_lanes(&inputs) > 0, lanes::recover(&inputs).is_some());
        assert_only_these_are_left(&inputs);
    }

    #[test]
    fn a_first_addition_of_equal_or_opposite_points_falls_back() {
        let start = scalar(lanes::START);
        let mut inputs = Vec::new();
        for index in 0..4000 {
            let second = scalar(random(16, index));
            // The first addition uses the highest digit of the first half of u₂, at bit 125.
            let digit = lanes::highest_digit(number(second));
            if digit != 0 && inputs.len() < 12 {
                let magnitude = scalar(U256::from(digit.unsigned_abs()));
                let point = start * magnitude.invert().unwrap();
                inputs.push(input(scalar(random(17, index)), second, point));
                inputs.push(input(scalar(random(17, index)), second, -point));
            }
        }
        assert!(inputs.len() > 4);
        assert_only_these_are_left(&inputs);
    }
}
