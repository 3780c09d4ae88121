//! Times of blocks: against the clock, against the Bitcoin header that proves the work, against the parent.

use crate::header_rules::HeaderRuleError;
use rhizome_bitcoin::BitcoinHeader;
use rhizome_primitives::{ChainSpec, Header, Rule};

/// A block may not be later than the local clock by more than the network allows, and its time must be near that of
/// its Bitcoin header. Networks without a bound on the drift have no rule about time at all.
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

/// What uncles and relayed blocks must satisfy besides [`timestamp`]: to be later than their parent. A block itself
/// need not be when it is imported.
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
