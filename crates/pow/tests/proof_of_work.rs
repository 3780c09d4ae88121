//! `pow.json` and the verdicts in `headers.json` and `headers_real.json`.

use crate::{chains, vectors};
use rhizome_pow::{PowError, proof_of_work};
use rhizome_primitives::Header;
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    #[serde(default)]
    label: String,
    net: String,
    raw: String,
    #[serde(default = "yes")]
    decodes: bool,
    pow_valid: Option<bool>,
    pow_reason: Option<String>,
}

fn yes() -> bool {
    true
}

/// The name of a failing step in the golden files.
fn reason(error: &PowError) -> &'static str {
    match error {
        PowError::FallbackSignature(_) => "fallback-signature",
        PowError::MerkleProofFormat => "merkle-proof-format",
        PowError::CoinbaseMissing => "coinbase-missing",
        PowError::BitcoinHeaderMissing => "btc-header-missing",
        PowError::AboveTarget { .. } => "target",
        PowError::TagNotFound => "tag-not-found",
        PowError::TagPosition { .. } => "tag-position",
        PowError::TagNotLast { .. } => "tag-not-last",
        PowError::TooManyBytesAfterTag { .. } => "too-many-bytes-after-tag",
        PowError::CoinbaseTooShort { .. } => "coinbase-too-short",
        PowError::MerkleProof(_) => "merkle-proof",
        PowError::BitcoinHeaderSize { .. }
        | PowError::BitcoinHeaderMalformed(_)
        | PowError::CoinbaseTruncated { .. }
        | PowError::NoHash(_) => "exception",
    }
}

fn check(file: &str, count: usize) {
    let Cases { cases } = vectors::read(file);
    assert_eq!(cases.len(), count);
    for case in cases {
        let name = format!("{file}: {} {}", case.net, case.label);
        let spec = chains::spec(&case.net);
        let header = Header::decode(&hex::decode(&case.raw).unwrap(), &spec);
        assert_eq!(header.is_ok(), case.decodes, "{name}: decodes");
        let (Ok(header), Some(valid)) = (header, case.pow_valid) else { continue };
        let verdict = proof_of_work(&header, &spec);
        assert_eq!(verdict.is_ok(), valid, "{name}: {verdict:?}");
        // If the reference aborts with an exception, any failing step is accepted.
        if let (Err(error), Some(expected)) = (verdict, case.pow_reason.filter(|reason| reason != "exception")) {
            assert_eq!(reason(&error), expected, "{name}: {error}");
        }
    }
}

#[test]
fn valid_and_tampered_work() {
    check("pow", 187);
}

#[test]
fn synthetic_headers_of_every_era() {
    check("headers", 329);
}

#[test]
fn real_headers() {
    check("headers_real", 38);
}

/// The rule returns a verdict for any content of a header.
#[test]
fn altered_headers_get_a_verdict() {
    let Cases { cases } = vectors::read("headers_real");
    let mut judged = 0;
    for case in cases {
        let spec = chains::spec(&case.net);
        let raw = hex::decode(&case.raw).unwrap();
        for position in (0..raw.len()).step_by(3) {
            for mask in [0x01, 0x80, 0xff] {
                let mut altered = raw.clone();
                altered[position] ^= mask;
                if let Ok(header) = Header::decode(&altered, &spec) {
                    judged += usize::from(proof_of_work(&header, &spec).is_err());
                }
            }
        }
    }
    assert!(judged > 10_000, "only {judged} headers were refused");
}
