//! The storage of a call in progress: typed slots that are read on first use, and the save at its end
//! (docs/spec/bridge.md, 1.6 and 3.2).

use crate::error::Result;
use crate::slots::access::{Host, SlotAccess};
use crate::slots::election::Election;
use crate::slots::keys;
use crate::slots::pending_federation::PendingFederation;
use crate::slots::processed_transactions::ProcessedTransactions;
use crate::slots::release_queue::ReleaseQueue;
use crate::slots::slot::{EmptyList, Slot};
use crate::slots::whitelist::Whitelist;
use rhizome_primitives::{Address, B256, Bytes, Network, Rule, Rules, U256, rlp};

/// The slots of the Bridge, in the order in which the save visits them.
pub(crate) struct Storage<'a> {
    pub(crate) slots: SlotAccess<'a>,
    /// True once the call has opened the header store.
    pub(crate) is_header_store_open: bool,
    pub(crate) processed: Slot<ProcessedTransactions>,
    pub(crate) queue: Slot<ReleaseQueue>,
    pub(crate) confirmations: Slot<EmptyList>,
    pub(crate) confirmations_with_hash: Slot<EmptyList>,
    pub(crate) signatures: Slot<EmptyList>,
    /// Heights and hashes (display order) of new blocks of the Bitcoin main chain.
    pub(crate) block_index: Vec<(i32, B256)>,
    pub(crate) headers_timestamp: Slot<Option<u64>>,
    pub(crate) next_peg_out_height: Slot<Option<u64>>,
    /// Satoshis for 1000 bytes.
    pub(crate) fee_per_kb: Slot<Option<u64>>,
    pub(crate) fee_election: Slot<Election>,
    pub(crate) whitelist: Slot<Whitelist>,
    pub(crate) active_coins: Slot<EmptyList>,
    pub(crate) pending: Slot<Option<PendingFederation>>,
    pub(crate) federation_election: Slot<Election>,
    /// Satoshis.
    pub(crate) locking_cap: Slot<Option<u64>>,
    pub(crate) union: UnionSlots,
}

/// The slots of the union bridge. Amounts in wei.
pub(crate) struct UnionSlots {
    pub(crate) address: Slot<Option<Address>>,
    pub(crate) cap: Slot<Option<U256>>,
    pub(crate) lent: Slot<Option<U256>>,
    pub(crate) requests: Slot<Option<bool>>,
    pub(crate) releases: Slot<Option<bool>>,
    pub(crate) super_event: Slot<Bytes>,
    pub(crate) base_event: Slot<Bytes>,
}

impl<'a> Storage<'a> {
    /// Returns the storage at the start of a call. `block_index` holds the entries of the computation of its price.
    pub(crate) fn new(
        host: &'a mut dyn Host,
        network: Network,
        rules: Rules,
        block_index: Vec<(i32, B256)>,
    ) -> Storage<'a> {
        Storage {
            slots: SlotAccess::new(host, rules),
            is_header_store_open: false,
            processed: Slot::saved_if_loaded(keys::PROCESSED),
            queue: Slot::saved_if_loaded(keys::QUEUE),
            confirmations: Slot::saved_if_loaded(keys::CONFIRMATIONS),
            confirmations_with_hash: Slot::saved_if_loaded(keys::CONFIRMATIONS_WITH_HASH),
            signatures: Slot::saved_if_loaded(keys::SIGNATURES),
            block_index,
            headers_timestamp: Slot::saved_if_changed(keys::HEADERS_TIMESTAMP).since(Rule::Rskip200),
            next_peg_out_height: Slot::saved_if_loaded(keys::NEXT_PEG_OUT_HEIGHT).since(Rule::Rskip271),
            fee_per_kb: Slot::saved_if_changed(keys::FEE_PER_KB),
            fee_election: Slot::saved_if_loaded(keys::FEE_ELECTION),
            whitelist: Slot::saved_if_loaded(keys::WHITELIST),
            active_coins: Slot::saved_if_loaded(keys::active_coins(network, &rules)),
            pending: Slot::saved_if_changed(keys::PENDING),
            federation_election: Slot::saved_if_loaded(keys::FEDERATION_ELECTION),
            locking_cap: Slot::saved_if_loaded(keys::LOCKING_CAP).since(Rule::Rskip134),
            union: UnionSlots {
                address: Slot::saved_if_changed(keys::UNION_ADDRESS),
                cap: Slot::saved_if_changed(keys::UNION_CAP),
                lent: Slot::saved_if_changed(keys::UNION_LENT),
                requests: Slot::saved_if_changed(keys::UNION_REQUESTS),
                releases: Slot::saved_if_changed(keys::UNION_RELEASES),
                super_event: Slot::saved_if_changed(keys::SUPER_EVENT),
                base_event: Slot::saved_if_changed(keys::BASE_EVENT),
            },
        }
    }

    /// Reads the peg-outs that wait for confirmations. Only empty lists are implemented.
    pub(crate) fn read_confirmations(&mut self) -> Result<()> {
        self.confirmations.get(&mut self.slots)?;
        if self.slots.has(Rule::Rskip146) {
            self.confirmations_with_hash.get(&mut self.slots)?;
        }
        Ok(())
    }

    /// Writes the slots that the call has read or changed, each by its own condition.
    pub(crate) fn save(self) -> Result<()> {
        let mut slots = self.slots;
        let slots = &mut slots;
        self.processed.save(slots)?;
        self.queue.save(slots)?;
        self.confirmations.save(slots)?;
        self.confirmations_with_hash.save(slots)?;
        self.signatures.save(slots)?;
        if slots.has(Rule::Rskip199) {
            for (height, hash) in self.block_index {
                let mut value = Vec::new();
                rlp::put_bytes(&mut value, hash.as_slice());
                slots.write_word(keys::height_word(height), value)?;
            }
        }
        self.headers_timestamp.save(slots)?;
        self.next_peg_out_height.save(slots)?;
        self.fee_per_kb.save(slots)?;
        self.fee_election.save(slots)?;
        self.whitelist.save(slots)?;
        self.active_coins.save(slots)?;
        self.pending.save(slots)?;
        self.federation_election.save(slots)?;
        self.locking_cap.save(slots)?;
        self.union.address.save(slots)?;
        self.union.cap.save(slots)?;
        self.union.lent.save(slots)?;
        self.union.requests.save(slots)?;
        self.union.releases.save(slots)?;
        self.union.super_event.save(slots)?;
        self.union.base_event.save(slots)
    }
}
