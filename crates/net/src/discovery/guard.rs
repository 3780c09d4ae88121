//! Limits of the rate of packets (docs/spec/p2p-additions.md, F).

use crate::token_bucket::TokenBucket;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Instant;

const ALL_PER_SECOND: f64 = 500.0;
const ADDRESS_PER_SECOND: f64 = 10.0;
const ADDRESS_BURST: f64 = 30.0;
const RECOVERIES_PER_SECOND: f64 = 200.0;
/// Addresses with a rate above which the table is emptied.
const MAX_ADDRESSES: usize = 4_096;

/// Rates of packets.
pub(super) struct PacketGuard {
    all: TokenBucket,
    recoveries: TokenBucket,
    addresses: HashMap<IpAddr, TokenBucket>,
}

impl PacketGuard {
    pub(super) fn new(now: Instant) -> PacketGuard {
        PacketGuard {
            all: TokenBucket::new(ALL_PER_SECOND, ALL_PER_SECOND, now),
            recoveries: TokenBucket::new(RECOVERIES_PER_SECOND, RECOVERIES_PER_SECOND, now),
            addresses: HashMap::new(),
        }
    }

    /// Whether a packet of an address may be read. Before any work on it.
    pub(super) fn admits(&mut self, address: IpAddr, now: Instant) -> bool {
        if self.addresses.len() >= MAX_ADDRESSES {
            self.addresses.retain(|_, rate| !rate.is_full(now));
            if self.addresses.len() >= MAX_ADDRESSES {
                self.addresses.clear();
            }
        }
        let rate = self.addresses.entry(address);
        rate.or_insert_with(|| TokenBucket::new(ADDRESS_PER_SECOND, ADDRESS_BURST, now)).take(now) && self.all.take(now)
    }

    /// Whether another signature may be recovered.
    pub(super) fn admits_recovery(&mut self, now: Instant) -> bool {
        self.recoveries.take(now)
    }
}
