//! `difficulty.json`, `difficulty_mainnet.json`, `fork_detection.json`: values derived from the preceding blocks.

use std::sync::Arc;

use rhizome_pow::{difficulty, fork_detection_data};
use rhizome_primitives::{Bytes, Header, U256, hex};
use serde_json::Value;

use super::ancestry::Blocks;
use super::cases::{each_case, spec, spec_of};
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, check_case)
}

fn check_case(case: &Value) -> CaseResult {
    let number = |field: &str| case.member(field)?.number();
    let found = difficulty(
        &spec(case)?,
        number("number")?,
        number("timestamp")?,
        number("uncleCount")? as u32,
        number("parentTimestamp")?,
        case.member("parentDifficulty")?.parsed()?,
    );
    equal("expected", case.member("expected")?.parsed()?, found)
}

/// Checks rows `[number, timestamp, uncle count, difficulty in hex]`; the difficulty follows from the preceding row.
pub(crate) fn check_consecutive(json: &Value, report: &mut SuiteReport) -> CaseResult {
    let spec = spec_of("mainnet")?;
    let rows = json.member("cases")?.items()?;
    for (parent, block) in rows.iter().zip(rows.iter().skip(1)) {
        let (parent, block) = (parent.items()?, block.items()?);
        let [number, time, uncles, expected] = block else { return unusable(block) };
        let [_, parent_time, _, parent_difficulty] = parent else { return unusable(parent) };
        report.case(&format!("block {}", number.number()?), || {
            let found = difficulty(
                &spec,
                number.number()?,
                time.number()?,
                uncles.number()? as u32,
                parent_time.number()?,
                from_hex(parent_difficulty)?,
            );
            equal("difficulty", from_hex(expected)?, found)
        });
    }
    Ok(())
}

fn from_hex(number: &Value) -> Result<U256, CaseFailure> {
    U256::from_str_radix(number.text()?, 16).map_err(|error| broken("difficulty", error))
}

fn unusable(row: &[Value]) -> CaseResult {
    Err(broken("row", format!("{row:?}")))
}

/// Checks rows `[number, uncle count, bitcoin header, fork data or null]` of consecutive mainnet blocks.
pub(crate) fn check_fork_detection(json: &Value, report: &mut SuiteReport) -> CaseResult {
    let spec = spec_of("mainnet")?;
    let mut blocks = Blocks::default();
    let mut parent: Option<Arc<Header>> = None;
    for row in json.member("cases")?.items()? {
        let row = row.items()?;
        let [number, uncle_count, bitcoin, expected] = row else { return unusable(row) };
        if let (Some(parent), Some(expected)) = (&parent, expected.as_str()) {
            report.case(&format!("block {}", number.number()?), || {
                let found = fork_detection_data(parent, &blocks).map_err(|error| broken("data", error))?;
                equal("fork data", Some(expected.to_owned()), found.map(hex::encode))
            });
        }
        let mut header = Header::new(number.number()?, &spec);
        header.parent_hash = parent.map(|parent| Bytes::from(parent.hash())).unwrap_or_default();
        header.uncle_count = uncle_count.number()? as u32;
        header.bitcoin_header = Some(bitcoin.bytes()?.into());
        header.merkle_proof = Some(Bytes::new());
        let header = Arc::new(header);
        blocks.add(&header, Vec::new());
        parent = Some(header);
    }
    Ok(())
}
