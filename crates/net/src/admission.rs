//! Limits for connections before Hello (docs/spec/p2p-additions.md, F).

use crate::address_group::{AddressGroup, is_local};
use crate::options::{Limits, NetworkOptions};
use crate::token_bucket::TokenBucket;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// Number of addresses with a rate from which on full rates are forgotten.
const MAX_RATES: usize = 4_096;

/// Inbound connections before Hello.
pub(crate) struct PendingConnections {
    limits: Limits,
    exempts_local: bool,
    counts: Arc<Mutex<PendingCounts>>,
    rates: Mutex<HashMap<IpAddr, TokenBucket>>,
}

#[derive(Default)]
struct PendingCounts {
    all: usize,
    groups: HashMap<AddressGroup, usize>,
}

/// Occupies a slot until it is dropped.
pub(crate) struct PendingSlot {
    counts: Arc<Mutex<PendingCounts>>,
    group: AddressGroup,
}

impl Drop for PendingSlot {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        counts.all -= 1;
        if let Some(count) = counts.groups.get_mut(&self.group) {
            *count -= 1;
            if *count == 0 {
                counts.groups.remove(&self.group);
            }
        }
    }
}

impl PendingConnections {
    pub(crate) fn new(options: &NetworkOptions) -> PendingConnections {
        let (limits, exempts_local) = (options.limits.clone(), options.exempts_local);
        PendingConnections { limits, exempts_local, counts: Arc::default(), rates: Mutex::default() }
    }

    /// Returns a slot for a connection from `address`, `None` above a limit.
    pub(crate) fn admit(&self, address: IpAddr, now: Instant) -> Option<PendingSlot> {
        let is_exempt = self.exempts_local && is_local(address);
        if !is_exempt && !self.is_rate_free(address, now) {
            return None;
        }
        let group = AddressGroup::small(address);
        let mut counts = self.counts.lock();
        let of_group = counts.groups.get(&group).copied().unwrap_or_default();
        if counts.all >= self.limits.pending || (!is_exempt && of_group >= self.limits.pending_per_group) {
            return None;
        }
        counts.all += 1;
        counts.groups.insert(group, of_group + 1);
        Some(PendingSlot { counts: Arc::clone(&self.counts), group })
    }

    fn is_rate_free(&self, address: IpAddr, now: Instant) -> bool {
        let mut rates = self.rates.lock();
        if rates.len() >= MAX_RATES {
            rates.retain(|_, rate| !rate.is_full(now));
            // Under an attack from thousands of addresses the exact rates matter less than the memory.
            if rates.len() >= MAX_RATES {
                rates.clear();
            }
        }
        let Limits { accepts_per_second, accept_burst, .. } = self.limits;
        let rate = rates.entry(address.to_canonical());
        rate.or_insert_with(|| TokenBucket::new(accepts_per_second, accept_burst, now)).take(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhizome_primitives::B256;
    use rhizome_wire::session::NodeKey;

    fn connections(exempts_local: bool) -> PendingConnections {
        let key = NodeKey::from_bytes([1; 32]).unwrap();
        PendingConnections::new(&NetworkOptions { exempts_local, ..NetworkOptions::new(key, 33, B256::ZERO) })
    }

    fn address(group: u8, host: u8) -> IpAddr {
        IpAddr::from([127, 0, group, host])
    }

    #[test]
    fn limits_of_groups_and_of_all() {
        let (pending, now) = (connections(false), Instant::now());
        let held: Vec<_> = (0..10).map_while(|host| pending.admit(address(0, host), now)).collect();
        assert_eq!(held.len(), 8);
        let more: Vec<_> = (1..=60).filter_map(|group| pending.admit(address(group, 1), now)).collect();
        assert_eq!(more.len(), 56);
        drop(held);
        assert!(pending.admit(address(0, 99), now).is_some());
        assert_eq!(connections(true).counts.lock().groups.len(), 0);
    }

    #[test]
    fn limit_of_one_address() {
        let (pending, now) = (connections(false), Instant::now());
        let admitted = (0..30).filter(|_| pending.admit(address(0, 1), now).is_some()).count();
        assert_eq!(admitted, 10);
        assert!(pending.admit(address(0, 1), now + std::time::Duration::from_secs(1)).is_some());
        let pending = connections(true);
        assert!((0..30).all(|_| pending.admit(address(0, 1), now).is_some()));
    }
}
