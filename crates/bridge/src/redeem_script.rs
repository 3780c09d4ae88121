//! Recognition of redeem scripts (docs/spec/bridge.md, 4.3 and 4.4).

use crate::error::{MethodFailure, Result};
use rhizome_bitcoin::script::opcode;
use rhizome_bitcoin::{BitcoinTransaction, Chunk, ScriptError, parse_script};
use rhizome_primitives::hex;
use std::ops::Range;

/// The redeem script of version 2000 on testnet until RSKIP-284 (docs/spec/bridge.md, 8.2.3).
pub(crate) const TESTNET_REDEEM_SCRIPT: [u8; 286] = hex!(
    "6453210208f40073a9e43b3e9103acec79767a6de9b0409749884e989960fee578012fce210225e892391625854128c5c4ea4340de0c2a"
        "70570f33db53426fc9c746597a03f42102afc230c2d355b1a577682b07bc2646041b5d0177af0f98395a46018da699b6da210344a3c38c"
        "d59afcba3edcebe143e025574594b001700dec41e59409bdbd0f2a0921039a060badbeb24bee49eb2063f616c0f0f0765d4ca646b20a88"
        "ce828f259fcdb955670300cd50b27552210216c23b2ea8e4f11c3f9e22711addb1d16a93964796913830856b568cc3ea21d32102755629"
        "01dd8faae20de0a4166362a4f82188db77dbed4ca887422ea1ec185f1421034db69f2112f4fb1bb6141bf6e2bd6631f0484d0bd95b1676"
        "7902c9fe219d4a6f5368ae"
);
/// Number of elements of the smallest multisig: number, key, number, opcode.
const MINIMUM_ELEMENTS: usize = 4;

/// The forms of redeem scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedeemScriptKind {
    /// The script of testnet, whose keys the reference does not read.
    TestnetConstant,
    Standard,
    P2shErp,
    NonStandardErp,
    Unknown,
}

/// A script, and what the reference recognizes in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RedeemScript {
    pub(crate) bytes: Vec<u8>,
    /// The form; of a flyover script, the form behind its prefix.
    pub(crate) kind: RedeemScriptKind,
    /// The first multisig of the script: the standard part.
    multisig: Option<Multisig>,
}

/// A standard multisig.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Multisig {
    script: Vec<u8>,
    required: usize,
    /// In the order of the script, not checked to be points of the curve.
    keys: Vec<Vec<u8>>,
}

impl From<ScriptError> for MethodFailure {
    fn from(_unparseable: ScriptError) -> Self {
        Self::Rejected
    }
}

impl RedeemScript {
    /// Recognizes a script. Fails if it does not parse, and for scripts on which the reference crashes.
    pub(crate) fn recognize(script: &[u8]) -> Result<Self> {
        let known = |kind, multisig| Ok(Self { bytes: script.to_vec(), kind, multisig });
        if script == TESTNET_REDEEM_SCRIPT {
            return known(RedeemScriptKind::TestnetConstant, None);
        }
        let chunks = parse_script(script)?;
        let mut inner = &chunks[..];
        while let Some(nested) = behind_flyover_prefix(inner) {
            inner = nested;
        }
        if inner.len() < MINIMUM_ELEMENTS {
            return known(RedeemScriptKind::Unknown, None);
        }
        let multisig = |kind, part: Option<(Vec<u8>, Shape)>| match part {
            Some((part, shape)) => {
                let keys = keys_of(&part, shape.key_count)?;
                known(kind, Some(Multisig { required: shape.required, keys, script: part }))
            }
            None => known(RedeemScriptKind::Unknown, None),
        };
        if let Some(shape) = standard_shape(inner)? {
            return multisig(RedeemScriptKind::Standard, Some((bytes_of(script, inner), shape)));
        }
        let kind = match (inner.first(), inner.get(inner.len() - 2..)) {
            (Some(first), Some([_, last])) if first.opcode == opcode::NOTIF && last.opcode == opcode::ENDIF => {
                RedeemScriptKind::P2shErp
            }
            (Some(first), Some([end, _])) if first.opcode == opcode::NOTIF && end.opcode == opcode::ENDIF => {
                RedeemScriptKind::NonStandardErp
            }
            _ => RedeemScriptKind::Unknown,
        };
        if kind == RedeemScriptKind::Unknown || !is_redeem_like(inner) {
            return known(RedeemScriptKind::Unknown, None);
        }
        let Some(branches) = branches(inner, kind)? else { return known(RedeemScriptKind::Unknown, None) };
        let [default, emergency] = branches.map(|branch| {
            let mut part = bytes_of(script, inner.get(branch).unwrap_or_default());
            if kind == RedeemScriptKind::NonStandardErp {
                part.push(opcode::CHECKMULTISIG);
            }
            part
        });
        let shape = standard_shape(&parse_script(&default)?)?;
        if shape.is_none() || standard_shape(&parse_script(&emergency)?)?.is_none() {
            return known(RedeemScriptKind::Unknown, None);
        }
        multisig(kind, shape.map(|shape| (default, shape)))
    }

    /// Returns true if the script is recognized as a multisig.
    pub(crate) fn is_multisig(&self) -> bool {
        self.multisig.is_some()
    }

    /// Returns true if the script has an emergency branch.
    pub(crate) fn is_erp(&self) -> bool {
        matches!(self.kind, RedeemScriptKind::P2shErp | RedeemScriptKind::NonStandardErp)
    }

    /// Returns the number of signatures of the standard part. Fails if the script is no multisig.
    pub(crate) fn required_signatures(&self) -> Result<usize> {
        Ok(self.multisig()?.required)
    }

    /// Returns the keys of the standard part, in the order of the script. Fails if the script is no multisig.
    pub(crate) fn keys(&self) -> Result<&[Vec<u8>]> {
        Ok(&self.multisig()?.keys)
    }

    /// Returns the multisig before the emergency branch. Fails if the script is no multisig.
    pub(crate) fn standard_part(&self) -> Result<&[u8]> {
        Ok(&self.multisig()?.script)
    }

    fn multisig(&self) -> Result<&Multisig> {
        self.multisig.as_ref().ok_or(MethodFailure::Rejected)
    }
}

/// Returns the redeem script of an input (docs/spec/bridge.md, 4.4). It may be any script: check
/// [`RedeemScript::is_multisig`].
pub(crate) fn redeem_script_of_input(transaction: &BitcoinTransaction, input: usize) -> Result<Option<RedeemScript>> {
    last_script(transaction, input)?.map(RedeemScript::recognize).transpose()
}

/// Returns the last push of an input, if it parses as a script.
pub(crate) fn last_script(transaction: &BitcoinTransaction, input: usize) -> Result<Option<&[u8]>> {
    let input = transaction.inputs.get(input).ok_or(MethodFailure::Rejected)?;
    let script = match input.witness.last() {
        Some(push) => Some(push.as_slice()),
        None => parse_script(&input.script)?.last().and_then(|chunk| chunk.data),
    };
    Ok(script.filter(|script| parse_script(script).is_ok()))
}

/// Fails for a script that the reference's library cannot write again: a push with a length of four bytes has more than
/// 520 bytes.
pub(crate) fn check_rewritable(script: &[u8]) -> Result<()> {
    let is_too_long =
        |chunk: &Chunk<'_>| chunk.opcode == opcode::PUSHDATA4 && chunk.data.is_some_and(|data| data.len() > 520);
    if parse_script(script)?.iter().any(is_too_long) { Err(MethodFailure::Rejected) } else { Ok(()) }
}

/// The numbers of a standard multisig.
struct Shape {
    required: usize,
    key_count: usize,
}

/// Returns the numbers of a standard multisig; `None` if the script has another form.
fn standard_shape(chunks: &[Chunk<'_>]) -> Result<Option<Shape>> {
    let [first, keys @ .., count, last] = chunks else { return Ok(None) };
    if chunks.len() < MINIMUM_ELEMENTS || !is_check_multisig(last) {
        return Ok(None);
    }
    let Some(required) = positive_number(first)? else { return Ok(None) };
    let Some(key_count) = positive_number(count)? else { return Ok(None) };
    let is_standard = keys.len() == key_count && !keys.iter().any(Chunk::is_bare_opcode);
    Ok(is_standard.then_some(Shape { required, key_count }))
}

/// Returns the default branch and the emergency branch of a script with emergency keys, without the opcodes around them.
fn branches(chunks: &[Chunk<'_>], kind: RedeemScriptKind) -> Result<Option<[Range<usize>; 2]>> {
    let end = match kind {
        RedeemScriptKind::NonStandardErp => chunks.len() - 2,
        _ => chunks.len() - 1,
    };
    let Some(split) = chunks.iter().skip(1).position(|chunk| chunk.opcode == opcode::ELSE).map(|found| found + 1)
    else {
        return Ok(None);
    };
    if chunks.len() < split + 3 {
        return Ok(None);
    }
    // The reference crashes on a script that ends here.
    let [delay, verify, drop] = chunks.get(split + 1..split + 4).ok_or(MethodFailure::Rejected)? else {
        return Err(MethodFailure::Rejected);
    };
    let is_push = delay.opcode <= opcode::NUMBER_16;
    if !is_push || verify.opcode != opcode::CHECKSEQUENCEVERIFY || drop.opcode != opcode::DROP {
        return Ok(None);
    }
    if split + 4 > end {
        return Err(MethodFailure::Rejected);
    }
    Ok(Some([1..split, split + 4..end]))
}

/// Returns true if the script ends like a multisig, or like one in the last branch.
fn is_redeem_like(chunks: &[Chunk<'_>]) -> bool {
    match chunks {
        [_, _, .., check, last] => is_check_multisig(last) || last.opcode == opcode::ENDIF && is_check_multisig(check),
        _ => false,
    }
}

/// Returns the script behind the prefix of a flyover script; `None` for other scripts.
fn behind_flyover_prefix<'a, 'b>(chunks: &'a [Chunk<'b>]) -> Option<&'a [Chunk<'b>]> {
    let [hash, drop, rest @ ..] = chunks else { return None };
    (hash.opcode == 32 && drop.opcode == opcode::DROP && is_redeem_like(rest)).then_some(rest)
}

fn is_check_multisig(chunk: &Chunk<'_>) -> bool {
    matches!(chunk.opcode, opcode::CHECKMULTISIG | opcode::CHECKMULTISIGVERIFY)
}

/// Returns the value of a number that is not negative; `None` for other elements. The reference crashes on an empty push
/// and on the push of a zero byte.
fn positive_number(chunk: &Chunk<'_>) -> Result<Option<usize>> {
    match chunk.data {
        None => Ok(matches!(chunk.opcode, opcode::NUMBER_1..=opcode::NUMBER_16)
            .then(|| usize::from(chunk.opcode - opcode::NUMBER_0))),
        Some([] | [0]) => Err(MethodFailure::Rejected),
        Some([.., top]) if *top >= 0x80 => Ok(None),
        Some([.., below, 0]) if below & 0x80 == 0 => Ok(None),
        Some(bytes) if bytes.len() > 4 => Ok(None),
        Some(bytes) => Ok(Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))),
    }
}

/// Returns the bytes of neighbouring elements of a script.
fn bytes_of(script: &[u8], chunks: &[Chunk<'_>]) -> Vec<u8> {
    let [first, .., last] = chunks else { return Vec::new() };
    let end = last.offset + encoded_size(last);
    script.get(first.offset..end).unwrap_or_default().to_vec()
}

fn encoded_size(chunk: &Chunk<'_>) -> usize {
    let head = match chunk.opcode {
        opcode::PUSHDATA1 => 2,
        opcode::PUSHDATA2 => 3,
        opcode::PUSHDATA4 => 5,
        _ => 1,
    };
    head + chunk.data.map_or(0, <[u8]>::len)
}

fn keys_of(multisig: &[u8], count: usize) -> Result<Vec<Vec<u8>>> {
    let chunks = parse_script(multisig)?;
    let keys = chunks.iter().skip(1).take(count);
    Ok(keys.map(|chunk| chunk.data.unwrap_or_default().to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multisig(required: u8, keys: &[u8]) -> Vec<u8> {
        let mut script = vec![0x50 + required];
        for key in keys {
            script.push(33);
            script.extend([*key; 33]);
        }
        script.extend([0x50 + keys.len() as u8, 0xae]);
        script
    }

    fn p2sh_erp() -> Vec<u8> {
        let delay = [0x67, 2, 0xf4, 1, 0xb2, 0x75];
        [&[0x64][..], &multisig(2, &[1, 2, 3]), &delay, &multisig(1, &[4, 5]), &[0x68]].concat()
    }

    fn non_standard_erp() -> Vec<u8> {
        let cut = |script: Vec<u8>| script[..script.len() - 1].to_vec();
        let delay = [0x67, 2, 0xf4, 1, 0xb2, 0x75];
        [&[0x64][..], &cut(multisig(2, &[1, 2, 3])), &delay, &cut(multisig(1, &[4, 5])), &[0x68, 0xae]].concat()
    }

    #[test]
    fn each_form_is_recognized_alone_and_as_flyover() {
        let forms = [
            (RedeemScriptKind::Standard, multisig(2, &[1, 2, 3])),
            (RedeemScriptKind::P2shErp, p2sh_erp()),
            (RedeemScriptKind::NonStandardErp, non_standard_erp()),
        ];
        for (kind, script) in forms {
            let flyover = [&[32][..], &[9; 32], &[0x75], &script].concat();
            for form in [script, flyover] {
                let recognized = RedeemScript::recognize(&form).unwrap();
                assert_eq!(recognized.kind, kind);
                assert_eq!(recognized.bytes, form);
                assert_eq!(recognized.required_signatures().unwrap(), 2);
                assert_eq!(recognized.keys().unwrap(), [vec![1; 33], vec![2; 33], vec![3; 33]]);
                assert_eq!(recognized.standard_part().unwrap(), multisig(2, &[1, 2, 3]));
            }
        }
    }

    #[test]
    fn the_constant_of_testnet_is_no_multisig() {
        let script = RedeemScript::recognize(&TESTNET_REDEEM_SCRIPT).unwrap();
        assert_eq!(script.kind, RedeemScriptKind::TestnetConstant);
        assert!(!script.is_multisig() && !script.is_erp() && script.standard_part().is_err());
    }

    #[test]
    fn other_scripts_are_unknown() {
        let key = [&[2][..], &[0x51; 32]].concat();
        let count = [&multisig(2, &[1, 2])[..69], &[0x53, 0xae]].concat();
        for script in [vec![], vec![0x51; 3], vec![0x51; 10], key, count, p2sh_erp()[..100].to_vec()] {
            if let Ok(script) = RedeemScript::recognize(&script) {
                assert_eq!(script.kind, RedeemScriptKind::Unknown);
            }
        }
    }

    #[test]
    fn scripts_on_which_the_reference_crashes_are_call_errors() {
        let empty_number = [&[0][..], &multisig(1, &[1])[1..]].concat();
        assert!(RedeemScript::recognize(&empty_number).is_err());
        let ends_behind_delay = [0x64, 0x51, 0x51, 0x67, 0xae, 0x68];
        assert!(RedeemScript::recognize(&ends_behind_delay).is_err());
    }
}
