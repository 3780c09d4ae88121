//! `rules.json`: boundaries of the header rules and the choice between two tips.

use rhizome_bitcoin::BitcoinHeader;
use rhizome_pow::header_rules::{
    gas_limit_range, gas_price_is_below_cap, gas_used_fits, minimum_gas_price_range, timestamp,
};
use rhizome_pow::sublists::edges_are_valid;
use rhizome_pow::{Tip, is_better};
use rhizome_primitives::{Bytes, ChainSpec, Header, I256, SublistGasLimits, U256};
use serde_json::Value;

use super::cases::{each_case, spec_of};
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

/// The current time in the timestamp cases, whose members are offsets from it. Seconds since 1970.
const NOW: u64 = 1_700_000_000;

type CheckRow = fn(&[Value]) -> CaseResult;

pub(crate) fn check(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, check_tips)?;
    let tables: [(&str, CheckRow); 7] = [
        ("gasLimit", check_gas_limit),
        ("minGasPrice", check_minimum_gas_price),
        ("gasPriceCap", check_gas_price_cap),
        ("sublistGasLimits", check_sublist_gas_limits),
        ("edges", check_edges),
        ("timestamp", check_timestamp),
        ("gasUsed", check_gas_used),
    ];
    for (table, check) in tables {
        for row in json.member(table)?.items()? {
            report.case(&format!("{table} {row}"), || check(row.items()?));
        }
    }
    Ok(())
}

fn check_tips(case: &Value) -> CaseResult {
    let tip = |prefix: &str| {
        let field = |name: &str| case.member(&format!("{prefix}{name}"));
        Ok::<_, CaseFailure>(Tip {
            total_difficulty: field("TotalDifficulty")?.parsed()?,
            paid_fees: U256::from(field("Fees")?.number()?),
            hash: field("Hash")?.parsed()?,
        })
    };
    equal("newIsBest", case.member("newIsBest")?.boolean()?, is_better(&tip("new")?, &tip("current")?))
}

fn unusable(row: &[Value]) -> CaseResult {
    Err(broken("row", format!("{row:?}")))
}

/// Returns a header and its child.
fn pair(spec: &ChainSpec) -> (Header, Header) {
    (Header::new(10, spec), Header::new(11, spec))
}

fn check_gas_limit(row: &[Value]) -> CaseResult {
    let [before, after, valid] = row else { return unusable(row) };
    let spec = spec_of("mainnet")?;
    let (mut parent, mut child) = pair(&spec);
    parent.gas_limit = Bytes::copy_from_slice(&before.number()?.to_be_bytes());
    child.gas_limit = Bytes::copy_from_slice(&after.number()?.to_be_bytes());
    equal("valid", valid.boolean()?, gas_limit_range(&child, &parent, &spec).is_ok())
}

fn check_minimum_gas_price(row: &[Value]) -> CaseResult {
    let [before, after, valid] = row else { return unusable(row) };
    let (mut parent, mut child) = pair(&spec_of("mainnet")?);
    let price = |value: &Value| value.as_i64().and_then(|price| I256::try_from(price).ok());
    parent.minimum_gas_price = price(before);
    child.minimum_gas_price = price(after);
    equal("valid", valid.boolean()?, minimum_gas_price_range(&child, &parent).is_ok())
}

fn check_gas_price_cap(row: &[Value]) -> CaseResult {
    let [minimum, price, valid] = row else { return unusable(row) };
    let found = gas_price_is_below_cap(U256::from(minimum.number()?), U256::from(price.number()?));
    equal("valid", valid.boolean()?, found)
}

fn check_sublist_gas_limits(row: &[Value]) -> CaseResult {
    let [minimum, limit, parallel, sequential] = row else { return unusable(row) };
    let found = SublistGasLimits::divide(minimum.number()?, 2, U256::from(limit.number()?));
    equal("parallel", U256::from(parallel.number()?), found.parallel)?;
    equal("sequential", U256::from(sequential.number()?), found.sequential)
}

fn check_edges(row: &[Value]) -> CaseResult {
    let [transactions, edges, valid] = row else { return unusable(row) };
    let edges: Vec<i16> = edges.items()?.iter().filter_map(Value::as_i64).map(|edge| edge as i16).collect();
    equal("valid", valid.boolean()?, edges_are_valid(&edges, 2, transactions.number()? as usize))
}

fn check_timestamp(row: &[Value]) -> CaseResult {
    let [net, number, block_offset, bitcoin_offset, valid] = row else { return unusable(row) };
    let at = |offset: &Value| NOW.saturating_add_signed(offset.as_i64().unwrap_or_default());
    let spec = spec_of(net.text()?)?;
    let mut header = Header::new(number.number()?, &spec);
    header.timestamp = at(block_offset);
    let bitcoin = BitcoinHeader::new(1, [0; 32], [0; 32], at(bitcoin_offset) as u32, 0, 0);
    header.bitcoin_header = Some(Bytes::copy_from_slice(bitcoin.as_bytes()));
    equal("valid", valid.boolean()?, timestamp(&header, &spec, NOW).is_ok())
}

fn check_gas_used(row: &[Value]) -> CaseResult {
    let [limit, used, valid] = row else { return unusable(row) };
    equal("valid", valid.boolean()?, gas_used_fits(&limit.bytes()?, used.number()?))
}
