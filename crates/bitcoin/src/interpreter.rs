//! Execution of the scripts that spend coins of federations (docs/spec/bridge.md, 4.7).
//!
//! Output scripts are always P2SH scripts of federations, so the interpreter has no more operations than their redeem
//! scripts: pushes, CHECKMULTISIG, NOTIF, ELSE, ENDIF, CHECKSEQUENCEVERIFY and DROP. Another operation fails.

use crate::digest::hash160;
use crate::ecdsa::{is_signed_by, scalar};
use crate::script::{Chunk, opcode, parse_script, script_hash};
use crate::signature_hash::InputIndexError;
use crate::transaction::{BitcoinTransaction, TransactionInput};

/// Maximum size of a script, bytes.
const MAXIMUM_SCRIPT: usize = 10_000;
/// Maximum size of a push, bytes.
const MAXIMUM_PUSH: usize = 520;
/// Maximum number of elements on the stack.
const MAXIMUM_STACK: usize = 1000;
/// Maximum number of keys of a multisig.
const MAXIMUM_KEYS: i64 = 20;
/// Flag of sequence numbers that are no lock times.
const NO_LOCK_TIME: i64 = 1 << 31;
/// Flag of lock times in seconds.
const SECONDS: i64 = 1 << 22;
/// Bits of a sequence number that are compared.
const LOCK_TIME_MASK: i64 = SECONDS | 0xffff;
/// Lowest version of transactions whose sequence numbers are lock times.
const LOCK_TIME_VERSION: u32 = 2;

type Stack = Vec<Vec<u8>>;

/// Returns true if an input spends an output with this P2SH script.
pub fn spends_correctly(
    transaction: &BitcoinTransaction,
    input: usize,
    output_script: &[u8],
) -> Result<bool, InputIndexError> {
    let spending = transaction.inputs.get(input).ok_or(InputIndexError(input))?;
    Ok(script_hash(output_script).is_some_and(|hash| spends(transaction, input, spending, &hash).is_some()))
}

/// Returns `None` if the spend fails.
fn spends(transaction: &BitcoinTransaction, position: usize, input: &TransactionInput, hash: &[u8; 20]) -> Option<()> {
    if input.script.len() > MAXIMUM_SCRIPT {
        return None;
    }
    let chunks = parse_script(&input.script).ok()?;
    if chunks.iter().any(|chunk| chunk.opcode > opcode::NUMBER_16) {
        return None;
    }
    let mut stack = Stack::new();
    chunks.iter().try_for_each(|chunk| push(&mut stack, chunk))?;
    let redeem_script = stack.pop()?;
    if hash160(&redeem_script) != *hash {
        return None;
    }
    execute(transaction, position, input, &redeem_script, &mut stack)?;
    stack.pop().filter(|top| is_true(top)).map(|_top| ())
}

fn execute(
    transaction: &BitcoinTransaction,
    position: usize,
    input: &TransactionInput,
    script: &[u8],
    stack: &mut Stack,
) -> Option<()> {
    let mut branches = Vec::new();
    for chunk in parse_script(script).ok()? {
        let is_executed = !branches.contains(&false);
        if chunk.data.is_some_and(|data| data.len() > MAXIMUM_PUSH) {
            return None;
        }
        match chunk.opcode {
            opcode::NOTIF if is_executed => {
                let condition = !is_true(&stack.pop()?);
                branches.push(condition);
            }
            opcode::NOTIF => branches.push(false),
            opcode::ELSE => {
                let branch = branches.last_mut()?;
                *branch = !*branch;
            }
            opcode::ENDIF => {
                branches.pop()?;
            }
            _ if !is_executed => {}
            0..=opcode::NUMBER_16 => push(stack, &chunk)?,
            opcode::DROP => {
                stack.pop()?;
            }
            opcode::CHECKSEQUENCEVERIFY => check_sequence(transaction.version, input.sequence, stack.last()?)?,
            opcode::CHECKMULTISIG => {
                let is_valid = check_multisig(transaction, position, script, stack)?;
                stack.push(if is_valid { vec![1] } else { Vec::new() });
            }
            opcode::CHECKMULTISIGVERIFY => {
                check_multisig(transaction, position, script, stack).filter(|is_valid| *is_valid)?;
            }
            _ => return None,
        }
    }
    Some(())
}

/// Pushes the bytes of the script, or a small number.
fn push(stack: &mut Stack, chunk: &Chunk<'_>) -> Option<()> {
    const MINUS_ONE: u8 = 0x4f;
    let value = match (chunk.data, chunk.opcode) {
        (Some(data), _) if data.len() <= MAXIMUM_PUSH => data.to_vec(),
        (None, MINUS_ONE) => vec![0x81],
        (None, opcode::NUMBER_1..=opcode::NUMBER_16) => vec![chunk.opcode - opcode::NUMBER_0],
        _ => return None,
    };
    stack.push(value);
    (stack.len() <= MAXIMUM_STACK).then_some(())
}

/// Consumes keys, signatures and the extra element. Returns whether all signatures are valid, in the order of the keys.
fn check_multisig(transaction: &BitcoinTransaction, position: usize, script: &[u8], stack: &mut Stack) -> Option<bool> {
    let key_count = number(&stack.pop()?, 4).filter(|count| (0..=MAXIMUM_KEYS).contains(count))?;
    let keys = pop_many(stack, key_count)?;
    let signature_count = number(&stack.pop()?, 4).filter(|count| (0..=key_count).contains(count))?;
    let signatures = pop_many(stack, signature_count)?;
    // A signature in the script would have to be removed from it before hashing. No element of a federation's script is
    // as long as a signature and begins like one.
    let (mut keys, mut signatures) = (keys.as_slice(), signatures.as_slice());
    let mut is_valid = true;
    while let [signature, others @ ..] = signatures {
        let [key, rest @ ..] = keys else { return None };
        keys = rest;
        if is_signature_of(transaction, position, script, signature, key) {
            signatures = others;
        }
        if signatures.len() > keys.len() {
            is_valid = false;
            break;
        }
    }
    stack.pop().filter(Vec::is_empty).map(|_extra| is_valid)
}

fn pop_many(stack: &mut Stack, count: i64) -> Option<Stack> {
    (0..count).map(|_index| stack.pop()).collect()
}

fn is_signature_of(
    transaction: &BitcoinTransaction,
    position: usize,
    script: &[u8],
    signature: &[u8],
    key: &[u8],
) -> bool {
    let Some((r, s, hash_type)) = canonical_signature(signature) else { return false };
    let hash = transaction.typed_signature_hash(position, script, hash_type);
    hash.is_ok_and(|hash| is_signed_by(hash, &r, &s, key))
}

/// Reads a signature in the only encoding that is accepted: DER with minimal numbers, then the hash type.
fn canonical_signature(signature: &[u8]) -> Option<([u8; 32], [u8; 32], u8)> {
    if !(9..=73).contains(&signature.len()) {
        return None;
    }
    let (hash_type, der) = signature.split_last()?;
    if !(1..=3).contains(&(hash_type & 0x7f)) {
        return None;
    }
    let [0x30, length, numbers @ ..] = der else { return None };
    if usize::from(*length) != numbers.len() {
        return None;
    }
    let (r, rest) = canonical_number(numbers)?;
    let (s, rest) = canonical_number(rest)?;
    rest.is_empty().then_some(())?;
    Some((scalar(r)?, scalar(s)?, *hash_type))
}

/// Returns the bytes of a positive DER integer without needless zeros, and what follows.
fn canonical_number(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let [2, length, rest @ ..] = der else { return None };
    let (number, rest) = rest.split_at_checked(usize::from(*length))?;
    let is_canonical = match number {
        [] => false,
        [first, ..] if *first >= 0x80 => false,
        [0, second, ..] => *second >= 0x80,
        _ => true,
    };
    is_canonical.then_some((number, rest))
}

/// Checks a lock time against the sequence number of the input (BIP-112).
fn check_sequence(version: u32, sequence: u32, lock_time: &[u8]) -> Option<()> {
    let lock_time = number(lock_time, 5).filter(|lock_time| *lock_time >= 0)?;
    if lock_time & NO_LOCK_TIME != 0 {
        return Some(());
    }
    let sequence = i64::from(sequence);
    if version < LOCK_TIME_VERSION || sequence & NO_LOCK_TIME != 0 {
        return None;
    }
    let (sequence, lock_time) = (sequence & LOCK_TIME_MASK, lock_time & LOCK_TIME_MASK);
    let is_same_unit = (sequence < SECONDS) == (lock_time < SECONDS);
    (is_same_unit && lock_time <= sequence).then_some(())
}

/// Returns a little-endian number whose highest bit is its sign; `None` above `limit` bytes.
fn number(bytes: &[u8], limit: usize) -> Option<i64> {
    if bytes.len() > limit {
        return None;
    }
    let Some((last, rest)) = bytes.split_last() else { return Some(0) };
    let magnitude = rest.iter().rev().fold(i64::from(last & 0x7f), |number, byte| number << 8 | i64::from(*byte));
    Some(if last & 0x80 == 0 { magnitude } else { -magnitude })
}

/// Returns false for zero, also for negative zero.
fn is_true(bytes: &[u8]) -> bool {
    match bytes.split_last() {
        Some((last, rest)) => rest.iter().any(|byte| *byte != 0) || !matches!(last, 0 | 0x80),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{p2sh_script, push_data, push_number};
    use crate::transaction::{OutPoint, TransactionOutput};
    use secp256k1::{Message, PublicKey, SecretKey};

    fn secret(index: u8) -> SecretKey {
        SecretKey::from_byte_array([index; 32]).unwrap()
    }

    fn multisig(required: u32, secrets: &[u8]) -> Vec<u8> {
        let mut script = Vec::new();
        push_number(&mut script, required);
        for index in secrets {
            push_data(&mut script, &PublicKey::from_secret_key_global(&secret(*index)).serialize());
        }
        push_number(&mut script, secrets.len() as u32);
        script.push(opcode::CHECKMULTISIG);
        script
    }

    fn erp() -> Vec<u8> {
        let delay = [opcode::ELSE, 2, 0xf4, 1, opcode::CHECKSEQUENCEVERIFY, opcode::DROP];
        let branches = [&multisig(2, &[1, 2, 3])[..], &delay, &multisig(1, &[4])].concat();
        [&[opcode::NOTIF][..], &branches, &[opcode::ENDIF]].concat()
    }

    fn unsigned(sequence: u32) -> BitcoinTransaction {
        let outpoint = OutPoint { txid: [1; 32], index: 0 };
        BitcoinTransaction {
            version: 2,
            inputs: vec![TransactionInput { outpoint, script: Vec::new(), sequence, witness: Vec::new() }],
            outputs: vec![TransactionOutput { satoshis: 5, script: vec![0x51] }],
            lock_time: 0,
        }
    }

    /// Signs with these keys; `tail`: elements behind the signatures.
    fn spend(redeem: &[u8], sequence: u32, keys: &[u8], hash_type: u8, tail: &[&[u8]]) -> bool {
        let mut transaction = unsigned(sequence);
        let hash = transaction.typed_signature_hash(0, redeem, hash_type).unwrap();
        let mut script = vec![0];
        for key in keys {
            let signature = secp256k1::global::SECP256K1.sign_ecdsa(Message::from_digest(hash), &secret(*key));
            push_data(&mut script, &[&signature.serialize_der()[..], &[hash_type]].concat());
        }
        tail.iter().for_each(|element| push_data(&mut script, element));
        push_data(&mut script, redeem);
        transaction.inputs[0].script = script;
        spends_correctly(&transaction, 0, &p2sh_script(&hash160(redeem))).unwrap()
    }

    #[test]
    fn multisig_needs_enough_signatures_in_order() {
        let redeem = multisig(2, &[1, 2, 3]);
        for (keys, is_valid) in
            [(&[1, 2][..], true), (&[1, 3], true), (&[2, 1], false), (&[1], false), (&[1, 1], false), (&[1, 4], false)]
        {
            assert_eq!(spend(&redeem, 0, keys, 1, &[]), is_valid, "{keys:?}");
        }
        for hash_type in [2, 3, 0x81, 0x82, 0x83] {
            assert!(spend(&redeem, 0, &[1, 2], hash_type, &[]));
        }
        assert!(!spend(&redeem, 0, &[1, 2], 4, &[]));
    }

    #[test]
    fn the_emergency_branch_waits() {
        let redeem = erp();
        assert!(spend(&redeem, 0, &[1, 2], 1, &[&[]]));
        assert!(spend(&redeem, 500, &[4], 1, &[&[1]]));
        assert!(!spend(&redeem, 499, &[4], 1, &[&[1]]));
        assert!(!spend(&redeem, u32::MAX, &[4], 1, &[&[1]]));
        assert!(!spend(&redeem, 500, &[4], 1, &[&[]]));
    }

    #[test]
    fn other_hashes_and_operations_fail() {
        let mut transaction = unsigned(0);
        let redeem = multisig(1, &[1]);
        let output = p2sh_script(&hash160(&redeem));
        for script in [vec![], vec![0x51], vec![0x4c], [&[opcode::DUP][..], &redeem].concat(), vec![0; 10_001]] {
            transaction.inputs[0].script = script;
            assert_eq!(spends_correctly(&transaction, 0, &output), Ok(false));
        }
        assert_eq!(spends_correctly(&transaction, 1, &output), Err(InputIndexError(1)));
    }

    #[test]
    fn a_stack_has_at_most_1000_elements() {
        let redeem = multisig(1, &[1]);
        let mut transaction = unsigned(0);
        let hash = transaction.legacy_signature_hash(0, &redeem).unwrap();
        let signature = secp256k1::global::SECP256K1.sign_ecdsa(Message::from_digest(hash), &secret(1));
        let signature = [&signature.serialize_der()[..], &[1]].concat();
        // Dummy element and signature, then the three elements that the redeem script pushes.
        for (others, is_valid) in [(995, true), (996, false)] {
            let mut script = vec![opcode::NUMBER_1; others];
            [&[], signature.as_slice(), &redeem].iter().for_each(|element| push_data(&mut script, element));
            transaction.inputs[0].script = script;
            assert_eq!(spends_correctly(&transaction, 0, &p2sh_script(&hash160(&redeem))), Ok(is_valid));
        }
    }

    #[test]
    fn a_signature_of_one_input_covers_the_first_witness() {
        let mut both = unsigned(0);
        let second = both.inputs[0].clone();
        both.inputs[0].witness = vec![vec![7]];
        both.inputs.push(second.clone());
        let mut alone = both.clone();
        alone.inputs = vec![TransactionInput { witness: vec![vec![7]], ..second }];
        let hash = |transaction: &BitcoinTransaction, input| transaction.typed_signature_hash(input, &[0x51], 0x81);
        assert_eq!(hash(&both, 1), hash(&alone, 0));
        alone.inputs[0].witness.clear();
        assert_ne!(hash(&both, 1), hash(&alone, 0));
    }

    #[test]
    fn numbers_have_a_sign() {
        assert_eq!((number(&[], 4), number(&[0xff], 4), number(&[0xff, 0], 4)), (Some(0), Some(-127), Some(255)));
        assert_eq!(number(&[0; 5], 4), None);
        assert!(is_true(&[0, 1]) && !is_true(&[0, 0x80]) && !is_true(&[]));
    }
}
