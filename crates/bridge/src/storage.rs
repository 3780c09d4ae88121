//! The storage of a call in progress: typed slots that are read on first use, and the save at its end
//! (docs/spec/bridge.md, 1.6 and 3.2).

use crate::error::Result;
use crate::slots::access::{Host, SlotAccess};
use crate::slots::coins::Coins;
use crate::slots::compound::CompoundSlots;
use crate::slots::election::Election;
use crate::slots::federation::StoredFederation;
use crate::slots::keys;
use crate::slots::pending_federation::PendingFederation;
use crate::slots::processed_transactions::ProcessedTransactions;
use crate::slots::release_queue::ReleaseQueue;
use crate::slots::slot::{ClearableHeight, Slot, StoredScript, SvpSpend};
use crate::slots::waiting_for_confirmations::WaitingForConfirmations;
use crate::slots::waiting_for_signatures::WaitingForSignatures;
use crate::slots::whitelist::Whitelist;
use rhizome_bitcoin::BitcoinTransaction;
use rhizome_primitives::{Address, B256, Bytes, Network, Rule, Rules, U256, rlp};

/// The slots of the Bridge, in the order in which the save visits them.
pub(crate) struct Storage<'a> {
    pub(crate) slots: SlotAccess<'a>,
    /// True once the call has opened the header store.
    pub(crate) is_header_store_open: bool,
    pub(crate) processed: Slot<ProcessedTransactions>,
    pub(crate) queue: Slot<ReleaseQueue>,
    pub(crate) confirmations: Slot<WaitingForConfirmations>,
    pub(crate) signatures: Slot<WaitingForSignatures>,
    pub(crate) compound: CompoundSlots,
    /// Heights and hashes (display order) of new blocks of the Bitcoin main chain.
    pub(crate) block_index: Vec<(i32, B256)>,
    pub(crate) headers_timestamp: Slot<Option<u64>>,
    pub(crate) next_peg_out_height: Slot<Option<u64>>,
    pub(crate) svp: SvpSlots,
    /// Satoshis for 1000 bytes.
    pub(crate) fee_per_kb: Slot<Option<u64>>,
    pub(crate) fee_election: Slot<Election>,
    pub(crate) whitelist: Slot<Whitelist>,
    /// Coins of the new federation, or of the genesis federation.
    pub(crate) new_coins: Slot<Coins>,
    pub(crate) old_coins: Slot<Coins>,
    pub(crate) federations: FederationSlots,
    pub(crate) pending: Slot<Option<PendingFederation>>,
    pub(crate) federation_election: Slot<Election>,
    /// Satoshis.
    pub(crate) locking_cap: Slot<Option<u64>>,
    pub(crate) union: UnionSlots,
}

/// The slots of the validation of a proposed federation.
pub(crate) struct SvpSlots {
    /// Id of the fund transaction without signatures, display order.
    pub(crate) fund_hash: Slot<Option<B256>>,
    pub(crate) fund_signed: Slot<Option<BitcoinTransaction>>,
    /// Id of the spend transaction without signatures, display order.
    pub(crate) spend_hash: Slot<Option<B256>>,
    pub(crate) spend_waiting: Slot<SvpSpend>,
}

/// The slots of committed and proposed federations.
pub(crate) struct FederationSlots {
    pub(crate) new: Slot<StoredFederation>,
    pub(crate) old: Slot<StoredFederation>,
    pub(crate) proposed: Slot<StoredFederation>,
    pub(crate) active_creation_height: Slot<Option<u64>>,
    pub(crate) next_creation_height: Slot<ClearableHeight>,
    pub(crate) last_retired_script: Slot<StoredScript>,
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
            signatures: Slot::saved_if_loaded(keys::SIGNATURES),
            compound: CompoundSlots::default(),
            block_index,
            headers_timestamp: Slot::saved_if_changed(keys::HEADERS_TIMESTAMP).since(Rule::Rskip200),
            next_peg_out_height: Slot::saved_if_loaded(keys::NEXT_PEG_OUT_HEIGHT).since(Rule::Rskip271),
            svp: SvpSlots {
                fund_hash: Slot::saved_if_changed(keys::SVP_FUND_HASH).since(Rule::Rskip419),
                fund_signed: Slot::saved_if_changed(keys::SVP_FUND_SIGNED).since(Rule::Rskip419),
                spend_hash: Slot::saved_if_changed(keys::SVP_SPEND_HASH).since(Rule::Rskip419),
                spend_waiting: Slot::saved_if_changed(keys::SVP_SPEND_WAITING).since(Rule::Rskip419),
            },
            fee_per_kb: Slot::saved_if_changed(keys::FEE_PER_KB),
            fee_election: Slot::saved_if_loaded(keys::FEE_ELECTION),
            whitelist: Slot::saved_if_loaded(keys::WHITELIST),
            new_coins: Slot::saved_if_loaded(keys::active_coins(network, &rules)),
            old_coins: Slot::saved_if_loaded(keys::OLD_COINS),
            federations: FederationSlots {
                new: Slot::saved_if_loaded(keys::NEW_FEDERATION),
                old: Slot::saved_if_changed(keys::OLD_FEDERATION),
                proposed: Slot::saved_if_changed(keys::PROPOSED_FEDERATION).since(Rule::Rskip419),
                active_creation_height: Slot::saved_if_changed(keys::ACTIVE_CREATION_HEIGHT).since(Rule::Rskip186),
                next_creation_height: Slot::saved_if_changed(keys::NEXT_CREATION_HEIGHT).since(Rule::Rskip186),
                last_retired_script: Slot::saved_if_changed(keys::LAST_RETIRED_SCRIPT).since(Rule::Rskip186),
            },
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

    /// Writes the slots that the call has read or changed, each by its own condition.
    pub(crate) fn save(self) -> Result<()> {
        let mut slots = self.slots;
        let slots = &mut slots;
        self.processed.save(slots)?;
        self.queue.save(slots)?;
        self.confirmations.save(slots)?;
        self.signatures.save(slots)?;
        self.compound.save(slots)?;
        if slots.has(Rule::Rskip199) {
            for (height, hash) in self.block_index {
                let mut value = Vec::new();
                rlp::put_bytes(&mut value, hash.as_slice());
                slots.write_word(keys::height_word(height), value)?;
            }
        }
        self.headers_timestamp.save(slots)?;
        self.next_peg_out_height.save(slots)?;
        self.svp.fund_hash.save(slots)?;
        self.svp.fund_signed.save(slots)?;
        self.svp.spend_hash.save(slots)?;
        self.svp.spend_waiting.save(slots)?;
        self.fee_per_kb.save(slots)?;
        self.fee_election.save(slots)?;
        self.whitelist.save(slots)?;
        self.new_coins.save(slots)?;
        self.old_coins.save(slots)?;
        self.federations.new.save(slots)?;
        self.federations.old.save(slots)?;
        self.pending.save(slots)?;
        self.federations.proposed.save(slots)?;
        self.federation_election.save(slots)?;
        self.federations.active_creation_height.save(slots)?;
        self.federations.next_creation_height.save(slots)?;
        self.federations.last_retired_script.save(slots)?;
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
