//! `mining.json`: targets, compressed coinbases, Merkle proofs of mining solutions.

use rhizome_bitcoin::coinbase::{compress, synthetic, transaction_id};
use rhizome_bitcoin::merkle::root_of;
use rhizome_bitcoin::{CompressedCoinbase, display};
use rhizome_pow::{MiningSolution, target};
use rhizome_primitives::{B256, hex};
use serde_json::Value;

use super::cases::each_case;
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, |case| match case.member("kind")?.text()? {
        "target" => {
            let found = target(case.member("difficulty")?.parsed()?);
            same(case, "target", hex::encode(found.to_be_bytes::<32>()))
        }
        "compressCoinbase" => check_coinbase(case),
        "proofFromTxHashes" => check_proof_from_transactions(case),
        "proofFromMerkleHashes" => {
            let count = case.member("txCount")?.number()? as u32;
            let work = MiningSolution::from_branch(&[0; 80], &any_coinbase(), &digests(case, "merkleHashes")?, count);
            check_proof(case, &work.map_err(|error| broken("work", error))?)
        }
        other => Err(broken("kind", other)),
    })
}

fn same(case: &Value, field: &str, got: String) -> CaseResult {
    equal(field, case.member(field)?.text()?, got.as_str())
}

/// Returns a coinbase transaction. The proofs do not depend on its content.
fn any_coinbase() -> Vec<u8> {
    synthetic(&[1; 32], 0)
}

fn digests(case: &Value, field: &str) -> Result<Vec<[u8; 32]>, CaseFailure> {
    case.member(field)?.items()?.iter().map(|digest| Ok(digest.parsed::<B256>()?.0)).collect()
}

fn check_coinbase(case: &Value) -> CaseResult {
    let coinbase = case.member("coinbase")?.bytes()?;
    let compressed = compress(&coinbase);
    same(case, "compressed", hex::encode(&compressed))?;
    let split = CompressedCoinbase::split(&compressed).ok_or_else(|| broken("compressed coinbase", "too short"))?;
    equal("hash of the compressed coinbase", transaction_id(&coinbase), split.hash())?;
    same(case, "txid", hex::encode(display(split.hash())))
}

fn check_proof_from_transactions(case: &Value) -> CaseResult {
    let ids = digests(case, "txHashes")?;
    let work =
        MiningSolution::from_transactions(&[0; 80], &any_coinbase(), &ids).map_err(|error| broken("work", error))?;
    check_proof(case, &work)?;
    let leaves: Vec<_> = ids.into_iter().map(display).collect();
    same(case, "merkleRoot", hex::encode(display(root_of(&leaves))))
}

fn check_proof(case: &Value, work: &MiningSolution) -> CaseResult {
    same(case, "beforeRskip92", hex::encode(work.merkle_proof(false)))?;
    same(case, "rskip92", hex::encode(work.merkle_proof(true)))
}
