//! Bitcoin scripts as the reference's library reads and builds them (docs/spec/bridge.md, 4.2).

use crate::digest::hash160;
use sha2::{Digest as _, Sha256};

/// Opcodes by their names in Bitcoin.
pub mod opcode {
    #![allow(missing_docs, reason = "the names are those of Bitcoin")]
    pub const PUSHDATA1: u8 = 0x4c;
    pub const PUSHDATA2: u8 = 0x4d;
    pub const PUSHDATA4: u8 = 0x4e;
    /// The opcode of the number n is `NUMBER_0 + n`, for 1 to 16.
    pub const NUMBER_0: u8 = 0x50;
    pub const NUMBER_1: u8 = 0x51;
    pub const NUMBER_16: u8 = 0x60;
    pub const NOTIF: u8 = 0x64;
    pub const ELSE: u8 = 0x67;
    pub const ENDIF: u8 = 0x68;
    pub const RETURN: u8 = 0x6a;
    pub const DROP: u8 = 0x75;
    pub const DUP: u8 = 0x76;
    pub const EQUAL: u8 = 0x87;
    pub const EQUALVERIFY: u8 = 0x88;
    pub const HASH160: u8 = 0xa9;
    pub const CODESEPARATOR: u8 = 0xab;
    pub const CHECKSIG: u8 = 0xac;
    pub const CHECKMULTISIG: u8 = 0xae;
    pub const CHECKMULTISIGVERIFY: u8 = 0xaf;
    pub const CHECKSEQUENCEVERIFY: u8 = 0xb2;
}

/// Why bytes are not a script, or why the reference fails on a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// A push runs past the end.
    #[error("the push at offset {offset} runs past the end of the script")]
    Truncated {
        /// Start of the push.
        offset: usize,
    },
    /// The third chunk of a script that looks like P2PKH is not a push: the reference crashes.
    #[error("the script looks like P2PKH, but its third element is not a push")]
    KeyHash,
}

/// An element of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The first byte.
    pub opcode: u8,
    /// The pushed bytes; `None` for opcodes above PUSHDATA4, also for numbers.
    pub data: Option<&'a [u8]>,
    /// Position of the first byte in the script.
    pub offset: usize,
}

impl Chunk<'_> {
    /// Returns true for opcodes that push no bytes of the script.
    pub fn is_bare_opcode(&self) -> bool {
        self.opcode > opcode::PUSHDATA4
    }
}

/// Returns the elements of a script.
pub fn parse_script(script: &[u8]) -> Result<Vec<Chunk<'_>>, ScriptError> {
    let mut chunks = Vec::new();
    let mut rest = script;
    while let Some((opcode, tail)) = rest.split_first() {
        let offset = script.len() - rest.len();
        let truncated = ScriptError::Truncated { offset };
        let length_bytes = match *opcode {
            opcode::PUSHDATA1 => 1,
            opcode::PUSHDATA2 => 2,
            opcode::PUSHDATA4 => 4,
            _ => 0,
        };
        let (length, tail) = tail.split_at_checked(length_bytes).ok_or(truncated)?;
        let length = match *opcode {
            0..opcode::PUSHDATA1 => Some(usize::from(*opcode)),
            opcode::PUSHDATA1..=opcode::PUSHDATA4 => {
                Some(length.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
            }
            _ => None,
        };
        let (data, tail) = tail.split_at_checked(length.unwrap_or_default()).ok_or(truncated)?;
        chunks.push(Chunk { opcode: *opcode, data: length.map(|_length| data), offset });
        rest = tail;
    }
    Ok(chunks)
}

/// The kind of an output by its script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// P2PKH with the hash of the key.
    PayToKeyHash([u8; 20]),
    /// P2SH with the hash of the redeem script.
    PayToScriptHash([u8; 20]),
    /// A public key and CHECKSIG.
    RawKey,
    /// Data without a way to spend the output.
    OpReturn,
    /// Another parseable script.
    Other,
}

/// Returns the kind of an output.
pub fn output_kind(script: &[u8]) -> Result<OutputKind, ScriptError> {
    let chunks = parse_script(script)?;
    let key_hash = match chunks.as_slice() {
        [first, second, hash, equal, check] if (first.opcode, second.opcode) == (opcode::DUP, opcode::HASH160) => {
            let hash = hash.data.ok_or(ScriptError::KeyHash)?;
            let ends = (equal.opcode, check.opcode) == (opcode::EQUALVERIFY, opcode::CHECKSIG);
            hash.try_into().ok().filter(|_hash| ends)
        }
        _ => None,
    };
    Ok(match (key_hash, script_hash(script), chunks.as_slice()) {
        (Some(hash), _, _) => OutputKind::PayToKeyHash(hash),
        (None, Some(hash), _) => OutputKind::PayToScriptHash(hash),
        (None, None, [key, check]) if check.opcode == opcode::CHECKSIG && key.data.is_some_and(|key| key.len() > 1) => {
            OutputKind::RawKey
        }
        (None, None, [first, ..]) if first.opcode == opcode::RETURN => OutputKind::OpReturn,
        _ => OutputKind::Other,
    })
}

/// Returns the hash of a P2SH script, which has one form only; `None` for other scripts.
pub fn script_hash(script: &[u8]) -> Option<[u8; 20]> {
    match script {
        [opcode::HASH160, 20, hash @ .., opcode::EQUAL] => hash.try_into().ok(),
        _ => None,
    }
}

/// Returns the P2PKH script of the hash of a key.
pub fn p2pkh_script(hash: &[u8; 20]) -> Vec<u8> {
    [&[opcode::DUP, opcode::HASH160, 20][..], hash, &[opcode::EQUALVERIFY, opcode::CHECKSIG]].concat()
}

/// Returns the P2SH script of the hash of a redeem script.
pub fn p2sh_script(hash: &[u8; 20]) -> Vec<u8> {
    [&[opcode::HASH160, 20][..], hash, &[opcode::EQUAL]].concat()
}

/// Returns the witness program of a redeem script: version 0 and its SHA-256.
pub fn p2wsh_program(redeem_script: &[u8]) -> Vec<u8> {
    [&[0, 32][..], &Sha256::digest(redeem_script)].concat()
}

/// Returns the output script of a redeem script whose signatures go into a witness behind P2SH.
pub fn p2sh_p2wsh_script(redeem_script: &[u8]) -> Vec<u8> {
    p2sh_script(&hash160(&p2wsh_program(redeem_script)))
}

/// Appends a push of bytes, in the shortest form of its length.
pub fn push_data(script: &mut Vec<u8>, data: &[u8]) {
    match data.len() {
        length @ 0..=0x4b => script.push(length as u8),
        length @ 0x4c..=0xff => script.extend([opcode::PUSHDATA1, length as u8]),
        length @ 0x100..=0xffff => {
            script.push(opcode::PUSHDATA2);
            script.extend((length as u16).to_le_bytes());
        }
        length => {
            script.push(opcode::PUSHDATA4);
            script.extend((length as u32).to_le_bytes());
        }
    }
    script.extend(data);
}

/// Appends a number that is not negative: an empty push, an opcode from 1 to 15, bytes from 16 on.
pub fn push_number(script: &mut Vec<u8>, number: u32) {
    match number {
        0 => script.push(0),
        1..=15 => script.push(opcode::NUMBER_0 + number as u8),
        _ => push_data(script, &number_bytes(number)),
    }
}

/// Returns the shortest little-endian form of a signed number that is not negative.
fn number_bytes(number: u32) -> Vec<u8> {
    let mut bytes = u64::from(number).to_le_bytes().to_vec();
    while let [.., below, 0] = bytes.as_slice()
        && below & 0x80 == 0
    {
        bytes.pop();
    }
    bytes
}

/// Returns a script without the opcode CODESEPARATOR. A script that does not parse stays as it is.
pub(crate) fn without_code_separators(script: &[u8]) -> Vec<u8> {
    if !script.contains(&opcode::CODESEPARATOR) {
        return script.to_vec();
    }
    let Ok(chunks) = parse_script(script) else { return script.to_vec() };
    let ends = chunks.iter().skip(1).map(|chunk| chunk.offset).chain([script.len()]);
    let mut kept = Vec::with_capacity(script.len());
    for (chunk, end) in chunks.iter().zip(ends) {
        if chunk.opcode != opcode::CODESEPARATOR {
            kept.extend(script.get(chunk.offset..end).unwrap_or_default());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_16_on_are_pushes() {
        let pushed = |number| {
            let mut script = Vec::new();
            push_number(&mut script, number);
            script
        };
        assert_eq!(pushed(0), [0]);
        assert_eq!((pushed(1), pushed(15)), (vec![0x51], vec![0x5f]));
        assert_eq!((pushed(16), pushed(20)), (vec![1, 16], vec![1, 20]));
        assert_eq!((pushed(128), pushed(500)), (vec![2, 0x80, 0], vec![2, 0xf4, 1]));
        assert_eq!(pushed(52_560), [3, 0x50, 0xcd, 0]);
    }

    #[test]
    fn pushes_have_the_shortest_form_and_parse_again() {
        for length in [0, 1, 0x4b, 0x4c, 0xff, 0x100, 0xffff, 0x1_0000] {
            let data = vec![7; length];
            let mut script = Vec::new();
            push_data(&mut script, &data);
            let chunks = parse_script(&script).unwrap();
            assert_eq!((chunks.len(), chunks[0].data), (1, Some(data.as_slice())), "{length} bytes");
            if length > 0 {
                assert_eq!(parse_script(&script[..script.len() - 1]), Err(ScriptError::Truncated { offset: 0 }));
            }
        }
    }

    #[test]
    fn lengths_that_lie_are_rejected() {
        for script in [&[0x4c][..], &[0x4d, 1], &[0x4e, 0xff, 0xff, 0xff], &[0x4e, 0xff, 0xff, 0xff, 0xff, 1]] {
            assert_eq!(parse_script(script), Err(ScriptError::Truncated { offset: 0 }));
        }
    }

    #[test]
    fn kinds_of_outputs() {
        let hash = [3; 20];
        assert_eq!(output_kind(&p2pkh_script(&hash)), Ok(OutputKind::PayToKeyHash(hash)));
        assert_eq!(output_kind(&p2sh_script(&hash)), Ok(OutputKind::PayToScriptHash(hash)));
        assert_eq!(output_kind(&[2, 1, 1, 0xac]), Ok(OutputKind::RawKey));
        assert_eq!(output_kind(&[1, 1, 0xac]), Ok(OutputKind::Other));
        assert_eq!(output_kind(&[0x6a, 1, 1]), Ok(OutputKind::OpReturn));
        assert_eq!(output_kind(&[]), Ok(OutputKind::Other));
        assert_eq!(output_kind(&[0x76, 0xa9, 0x51, 0x88, 0xac]), Err(ScriptError::KeyHash));
        // The same elements in another form of the push are not P2SH.
        let long = [&[0xa9, 0x4c, 20][..], &hash, &[0x87]].concat();
        assert_eq!(output_kind(&long), Ok(OutputKind::Other));
    }

    #[test]
    fn code_separators_are_removed_between_pushes() {
        assert_eq!(without_code_separators(&[0xab, 1, 0xab, 0xab, 0x51]), [1, 0xab, 0x51]);
    }
}
