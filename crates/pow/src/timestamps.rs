//! Rules for timestamps: against the clock, the Bitcoin header of the proof of work, and the parent.

use crate::header_rules::HeaderRuleError;
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::{ChainSpec, Header, Rule};

/// A block must not be later than the local clock by more than the drift of the network, and its time must be close to the
/// time of its Bitcoin header. Networks with a drift of 0 have no rule for timestamps.
pub fn timestamp(header: &Header, spec: &ChainSpec, now_seconds: u64) -> Result<(), HeaderRuleError> {
    let drift = spec.constants.max_seconds_in_future;
    if drift == 0 {
        return Ok(());
    }
    if header.timestamp.saturating_sub(now_seconds) > drift {
        return Err(HeaderRuleError::InTheFuture { timestamp: header.timestamp, now: now_seconds, drift });
    }
    bitcoin_time_link(header, spec)
}

/// Additional rule for uncles and relayed blocks: later than the parent. It does not apply to imported blocks.
pub fn timestamp_after_parent(header: &Header, parent: &Header, spec: &ChainSpec) -> Result<(), HeaderRuleError> {
    if spec.constants.max_seconds_in_future != 0 && header.timestamp <= parent.timestamp {
        return Err(HeaderRuleError::NotAfterParent { timestamp: header.timestamp, parent: parent.timestamp });
    }
    Ok(())
}

fn bitcoin_time_link(header: &Header, spec: &ChainSpec) -> Result<(), HeaderRuleError> {
    let rules = spec.rules(header.number);
    if !rules.is_active(Rule::Rskip179) {
        return Ok(());
    }
    let element = header.bitcoin_header.as_deref().ok_or(HeaderRuleError::NoBitcoinTime)?;
    let bitcoin = BitcoinHeader::parse(element).map_err(|_malformed| HeaderRuleError::NoBitcoinTime)?;
    let bitcoin_time = u64::from(bitcoin.time());
    let limit = if rules.is_active(Rule::Rskip297) {
        spec.constants.max_seconds_to_bitcoin_rskip297
    } else {
        spec.constants.max_seconds_to_bitcoin
    };
    if header.timestamp.abs_diff(bitcoin_time) >= limit {
        return Err(HeaderRuleError::FarFromBitcoin { timestamp: header.timestamp, bitcoin: bitcoin_time, limit });
    }
    Ok(())
}
