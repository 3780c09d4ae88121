//! `receipts.json`: encodings and blooms of receipts; roots and blooms of lists of receipts.

use rhizome_primitives::{Bloom, Log, Receipt, hex};
use rhizome_trie::list_root;
use serde_json::Value;

use super::cases::each_case;
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, check_receipt)?;
    let cases = json.member("cases")?.items()?;
    for (index, block) in json.member("blocks")?.items()?.iter().enumerate() {
        report.case(&format!("block {index}"), || check_block(block, cases));
    }
    Ok(())
}

fn check_receipt(case: &Value) -> CaseResult {
    let receipt = receipt(case)?;
    equal("bloom", case.member("bloom")?.text()?, hex::encode(receipt.bloom.as_bytes()).as_str())?;
    equal("encoded", case.member("encoded")?.text()?, hex::encode(receipt.encode()).as_str())?;
    equal("decoded", Ok(receipt), Receipt::decode(&case.member("encoded")?.bytes()?))
}

fn check_block(block: &Value, cases: &[Value]) -> CaseResult {
    let mut bloom = Bloom::ZERO;
    let mut encoded = Vec::new();
    for index in block.member("receipts")?.items()? {
        let case = cases.get(index.number()? as usize).ok_or_else(|| broken("receipts", "no such case"))?;
        let receipt = receipt(case)?;
        bloom.accrue(&receipt.bloom);
        encoded.push(receipt.encode());
    }
    equal("bloom", block.member("bloom")?.text()?, hex::encode(bloom.as_bytes()).as_str())?;
    for (field, is_orchid) in [("root", false), ("rootBeforeRskip126", true)] {
        let root = list_root(encoded.iter().map(Vec::as_slice), is_orchid).map_err(|error| broken(field, error))?;
        equal(field, block.member(field)?.parsed()?, root)?;
    }
    Ok(())
}

fn receipt(case: &Value) -> Result<Receipt, CaseFailure> {
    let logs = case.member("logs")?.items()?.iter().map(log).collect::<Result<Vec<_>, _>>()?;
    Ok(Receipt {
        success: case.member("success")?.boolean()?,
        cumulative_gas: case.member("cumulativeGas")?.number()?,
        bloom: Bloom::of_logs(&logs),
        logs,
        gas_used: case.member("gasUsed")?.number()?,
    })
}

fn log(log: &Value) -> Result<Log, CaseFailure> {
    let topics = log.member("topics")?.items()?.iter().map(VectorFields::parsed).collect::<Result<_, _>>()?;
    Ok(Log { address: log.member("address")?.parsed()?, topics, data: log.member("data")?.bytes()?.into() })
}
