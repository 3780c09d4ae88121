//! A Bridge in memory, the Bitcoin transactions that it has to do with, and what must hold between them.

use super::call_data::{CallArgument, call_data};
use super::stand_in::{StandIn, public, secret};
use crate::constants::constants;
use crate::context::{Call, CallContext};
use crate::display_order::{display_hash, display_id};
use crate::error::{CallFailure, Result};
use crate::federation::{self, Federation, member_address::address_of};
use crate::mutation::Random;
use crate::slots::access::Host;
use crate::storage::Storage;
use crate::units::WEI_PER_SATOSHI;
use crate::{BlockIndex, required_gas, run, svp};
use rhizome_bitcoin::{BitcoinTransaction, OutPoint, TransactionOutput};
use rhizome_primitives::{Address, B256, Bytes, ChainSpec, I256, Log, Network, Rules, U256, keccak256};
use rhizome_trie::StateError;
use secp256k1::SecretKey;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Satoshis of the Bridge at the start.
const SUPPLY: i64 = 21_000_000 * 100_000_000;
/// Heights of mainnet at which sets of rules begin.
const RULE_HEIGHTS: [u64; 14] = [
    1, 729_000, 1_052_700, 1_591_000, 2_392_700, 3_614_800, 4_598_500, 4_976_300, 5_468_000, 6_223_700, 6_549_300,
    7_338_024, 8_052_200, 20_000_000,
];
/// Keys of members of federations.
pub(super) const KEYS: usize = 8;

/// The account of the Bridge.
#[derive(Clone, Default)]
pub(crate) struct Account {
    slots: HashMap<U256, Bytes>,
    balance: I256,
}

impl Host for Account {
    fn slot(&mut self, key: &U256) -> std::result::Result<Option<Bytes>, StateError> {
        Ok(self.slots.get(key).cloned())
    }

    fn set_slot(&mut self, key: U256, value: Bytes) -> std::result::Result<(), StateError> {
        self.slots.insert(key, value);
        Ok(())
    }

    fn balance(&mut self) -> std::result::Result<I256, StateError> {
        Ok(self.balance)
    }

    fn pay(&mut self, _to: Address, wei: U256) -> std::result::Result<(), StateError> {
        self.balance -= I256::from_raw(wei);
        Ok(())
    }
}

/// The source of a call.
pub(super) struct Origin {
    pub(super) caller: Address,
    pub(super) satoshis: u64,
    /// `None` for contracts.
    pub(super) key: Option<[u8; 33]>,
}

pub(super) struct World {
    account: Account,
    /// Index in [`RULE_HEIGHTS`], or its length for the rules of regtest: the union bridge exists only there.
    era: usize,
    rules: Rules,
    pub(super) number: u64,
    pub(super) bitcoin: StandIn,
    /// Outputs of all transactions that the Bridge has accepted a proof of.
    mined: HashMap<(B256, u32), TransactionOutput>,
    /// Transactions that the Bridge has built, by their first input.
    pub(super) built: HashMap<OutPoint, BitcoinTransaction>,
    /// Outputs that a built transaction has spent.
    spent: HashSet<(B256, u32)>,
    /// Scripts of the outputs in `spent`. The refund of a transaction of a former federation pays to one of them.
    spent_scripts: HashSet<Vec<u8>>,
    /// Output scripts of federations.
    pub(super) scripts: BTreeSet<Vec<u8>>,
    pub(super) secrets: HashMap<[u8; 33], SecretKey>,
    /// Completely signed transactions.
    pub(super) released: Vec<BitcoinTransaction>,
    /// Data of former calls.
    pub(super) inputs: Vec<Vec<u8>>,
    pub(super) registered: Vec<BitcoinTransaction>,
    /// Coins of a federation without members: the next commit removes what its last migration has left.
    orphans: HashMap<(B256, u32), i64>,
    counter: u64,
}

fn rules_of(era: usize) -> Rules {
    RULE_HEIGHTS.get(era).map_or_else(|| ChainSpec::regtest().rules(1), |height| ChainSpec::mainnet().rules(*height))
}

impl World {
    /// Number of sets of rules.
    pub(super) const ERAS: usize = RULE_HEIGHTS.len() + 1;

    pub(super) fn new(random: &mut Random) -> Self {
        Self::in_era(random.below(Self::ERAS), random)
    }

    /// Returns the Bridge of a new chain under a set of rules.
    pub(super) fn in_era(era: usize, random: &mut Random) -> Self {
        let secrets = (1..=KEYS).map(secret).map(|secret| (public(&secret), secret)).collect();
        let balance = I256::from_raw(U256::from(SUPPLY) * WEI_PER_SATOSHI);
        let mut world = Self {
            account: Account { balance, ..Account::default() },
            era,
            rules: rules_of(era),
            number: 1_000,
            bitcoin: StandIn::new(),
            mined: HashMap::new(),
            built: HashMap::new(),
            spent: HashSet::new(),
            spent_scripts: HashSet::new(),
            scripts: BTreeSet::new(),
            secrets,
            released: Vec::new(),
            inputs: vec![Vec::new()],
            registered: Vec::new(),
            orphans: HashMap::new(),
            counter: random.next(),
        };
        world.check();
        world
    }

    pub(super) fn rules(&self) -> Rules {
        self.rules
    }

    /// Activates the next upgrade.
    pub(super) fn upgrade(&mut self) {
        self.era = (self.era + 1).min(Self::ERAS - 1);
        self.rules = rules_of(self.era);
    }

    /// Returns a different hash for each call.
    pub(super) fn fresh_hash(&mut self) -> B256 {
        self.counter = self.counter.wrapping_add(1);
        keccak256(self.counter.to_be_bytes())
    }

    /// Calls a method as a member of the active federation.
    pub(super) fn call_as_federator(&mut self, signature: &str, arguments: &[CallArgument]) -> bool {
        let caller = self.federators()[0];
        self.call(&call_data(signature, arguments), &Origin { caller, satoshis: 0, key: None }, true)
    }

    /// Calls the Bridge. Returns true if the call succeeds.
    pub(super) fn call(&mut self, input: &[u8], origin: &Origin, is_direct: bool) -> bool {
        self.inputs.push(input.to_vec());
        let hash = self.fresh_hash();
        let value = U256::from(origin.satoshis) * WEI_PER_SATOSHI;
        let before = self.account.clone();
        let key = origin.key;
        let public_key = move || key.map(Vec::from);
        let call = Call {
            caller: origin.caller,
            value,
            is_direct,
            transaction_hash: hash,
            origin_transaction_hash: hash,
            public_key: &public_key,
            ..self.environment()
        };
        if !is_direct {
            self.account.balance += I256::from_raw(value);
        }
        let (mut index, mut logs) = (BlockIndex::new(), Vec::new());
        let outcome = required_gas(input, &call, &mut self.account, &mut index)
            .and_then(|_gas| run(input, &call, &mut self.account, &mut logs, &mut index));
        match outcome {
            Ok(_) if is_direct => self.account.balance += I256::from_raw(value),
            Ok(_) => {}
            Err(CallFailure::Rejected) if is_direct => {}
            Err(CallFailure::Rejected) => self.account = before,
            Err(CallFailure::Fatal(error)) => panic!("no verdict: {error}"),
        }
        self.collect_released(&logs);
        outcome.is_ok()
    }

    /// Calls the Bridge as `eth_call` does. Changes nothing.
    pub(super) fn call_locally(&self, input: &[u8]) {
        let call = Call { is_local: true, ..self.environment() };
        let (mut account, mut index) = (self.account.clone(), BlockIndex::new());
        let outcome = required_gas(input, &call, &mut account, &mut index)
            .and_then(|_gas| run(input, &call, &mut account, &mut Vec::new(), &mut index));
        if let Err(CallFailure::Fatal(error)) = outcome {
            panic!("no verdict: {error}");
        }
    }

    fn environment(&self) -> Call<'static> {
        Call {
            block_timestamp: 1_700_000_000 + 30 * self.number,
            is_direct: true,
            is_local: false,
            ..Call::local(Network::Regtest, self.rules(), self.number)
        }
    }

    /// Reads slots. Fails the test if they cannot be read.
    pub(super) fn read<T>(&self, read: impl FnOnce(&mut Storage<'_>, &CallContext<'_>) -> Result<T>) -> T {
        let call = self.environment();
        let ctx = CallContext { call: &call, constants: constants(Network::Regtest).unwrap() };
        let mut account = self.account.clone();
        let mut storage = Storage::new(&mut account, Network::Regtest, call.rules, Vec::new());
        read(&mut storage, &ctx).unwrap()
    }

    /// Returns the federations that own coins, and a proposed one.
    pub(super) fn federations(&self) -> Vec<Rc<Federation>> {
        self.read(|storage, ctx| {
            let mut federations = federation::live(storage, ctx)?;
            federations.extend(federation::proposed(storage, ctx)?);
            Ok(federations)
        })
    }

    /// Returns the accounts of the members of the federations, those of the active one first.
    pub(super) fn federators(&self) -> Vec<Address> {
        let federations = self.federations();
        let members = federations.iter().flat_map(|federation| &federation.members);
        members.filter_map(|member| address_of(&member.rsk)).collect()
    }

    /// Adds the outputs of a transaction in a Bitcoin block.
    pub(super) fn mine(&mut self, transaction: &BitcoinTransaction) {
        let txid = display_id(transaction);
        for (index, output) in transaction.outputs.iter().enumerate() {
            self.mined.insert((txid, index as u32), output.clone());
        }
    }

    /// Returns the satoshis of an output.
    pub(super) fn value_of(&self, outpoint: &OutPoint) -> Option<i64> {
        self.mined.get(&(display_hash(outpoint.txid), outpoint.index)).map(|output| output.satoshis)
    }

    fn collect_released(&mut self, logs: &[Log]) {
        let topic = keccak256("release_btc(bytes32,bytes)");
        for log in logs.iter().filter(|log| log.topics.first() == Some(&topic)) {
            // Words with the offset and the length come before the bytes.
            self.released.extend(BitcoinTransaction::parse(&log.data[64..]));
        }
    }

    /// Checks what must hold after each call.
    pub(super) fn check(&mut self) {
        self.read_all_slots();
        let waiting = self.read(|storage, _ctx| {
            let confirmations = storage.confirmations.get(&mut storage.slots)?.entries();
            let mut waiting: Vec<_> = confirmations.iter().map(|entry| entry.transaction.clone()).collect();
            waiting.extend(storage.signatures.get(&mut storage.slots)?.0.values().cloned());
            waiting.extend(storage.svp.spend_waiting.get(&mut storage.slots)?.0.iter().map(|(_, spend)| spend.clone()));
            Ok(waiting)
        });
        for transaction in waiting {
            for input in &transaction.inputs {
                let outpoint = (display_hash(input.outpoint.txid), input.outpoint.index);
                self.spent.insert(outpoint);
                self.spent_scripts.extend(self.mined.get(&outpoint).map(|output| output.script.clone()));
            }
            self.built.insert(transaction.inputs[0].outpoint, transaction);
        }
        for federation in self.federations() {
            // The second script receives an output of the fund transaction of a proposed federation.
            let scripts = self.read(|_storage, ctx| {
                Ok([federation.output_script(ctx)?, federation.flyover_output_script(ctx, &svp::DERIVATION)?])
            });
            self.scripts.extend(scripts);
        }
        self.check_coins();
    }

    /// Checks that each coin is an output that was mined and that no built transaction spends, and that the federations own
    /// the satoshis that left the Bridge.
    fn check_coins(&mut self) {
        let (coins, orphans, queued, lent) = self.read(|storage, _ctx| {
            let mut coins = storage.new_coins.get(&mut storage.slots)?.0.clone();
            let old = storage.old_coins.get(&mut storage.slots)?.0.clone();
            let has_owner = storage.federations.old.get(&mut storage.slots)?.is_some();
            let orphans = if has_owner { Vec::new() } else { old.clone() };
            coins.extend(old);
            let queued: u64 = storage.queue.get(&mut storage.slots)?.0.iter().map(|request| request.satoshis).sum();
            Ok((coins, orphans, queued as i64, storage.union.lent.get(&mut storage.slots)?.unwrap_or_default()))
        });
        self.orphans.extend(orphans.iter().map(|coin| ((coin.txid, coin.index), coin.satoshis)));
        let mut owned = 0;
        let mut known = HashSet::new();
        for coin in &coins {
            let outpoint = (coin.txid, coin.index);
            let output = self.mined.get(&outpoint).expect("a coin from nothing");
            assert_eq!((output.satoshis, &output.script), (coin.satoshis, &coin.script));
            assert!(!self.spent.contains(&outpoint), "a coin that is spent");
            assert!(known.insert(outpoint), "a coin that is counted twice");
            owned += coin.satoshis;
        }
        let is_gone = |outpoint: &(B256, u32)| !known.contains(outpoint) && !self.spent.contains(outpoint);
        let lost: i64 =
            self.orphans.iter().filter(|(outpoint, _)| is_gone(outpoint)).map(|(_, satoshis)| satoshis).sum();
        let (mut change, mut fees) = (0, 0);
        for transaction in self.built.values() {
            let txid = display_id(transaction);
            let inputs: i64 = transaction.inputs.iter().filter_map(|input| self.value_of(&input.outpoint)).sum();
            fees += inputs - transaction.outputs.iter().map(|output| output.satoshis).sum::<i64>();
            let is_ours = |script: &Vec<u8>| self.scripts.contains(script) || self.spent_scripts.contains(script);
            for (index, output) in transaction.outputs.iter().enumerate() {
                let outpoint = (txid, index as u32);
                if is_ours(&output.script) && is_gone(&outpoint) && !self.orphans.contains_key(&outpoint) {
                    change += output.satoshis;
                }
            }
        }
        let supply = I256::from_raw(U256::from(SUPPLY) * WEI_PER_SATOSHI);
        let left = (supply - self.account.balance - I256::from_raw(lent)) / I256::from_raw(WEI_PER_SATOSHI);
        let left = i64::try_from(left).unwrap() + queued;
        let accounted = owned + change + fees + lost;
        assert!(left <= accounted, "{left} left, {owned} owned, {change} on the way, {fees} fees, {lost} lost");
    }

    /// Reads each slot with a name.
    fn read_all_slots(&self) {
        self.read(|storage, ctx| {
            let slots = &mut storage.slots;
            storage.processed.get(slots)?;
            storage.confirmations.get(slots)?;
            storage.signatures.get(slots)?;
            storage.headers_timestamp.get(slots)?;
            storage.next_peg_out_height.get(slots)?;
            storage.svp.fund_hash.get(slots)?;
            storage.svp.fund_signed.get(slots)?;
            storage.svp.spend_hash.get(slots)?;
            storage.svp.spend_waiting.get(slots)?;
            storage.fee_per_kb.get(slots)?;
            storage.fee_election.get(slots)?;
            storage.whitelist.get(slots)?;
            storage.federations.new.get(slots)?;
            storage.federations.old.get(slots)?;
            storage.federations.proposed.get(slots)?;
            storage.federations.active_creation_height.get(slots)?;
            storage.federations.next_creation_height.get(slots)?;
            storage.federations.last_retired_script.get(slots)?;
            storage.pending.get(slots)?;
            storage.federation_election.get(slots)?;
            storage.locking_cap.get(slots)?;
            storage.union.address.get(slots)?;
            storage.union.cap.get(slots)?;
            storage.union.requests.get(slots)?;
            storage.union.releases.get(slots)?;
            crate::headers::best_height(storage, ctx)?;
            for (txid, _index) in self.mined.keys().take(20) {
                storage.outpoint_values(txid)?;
            }
            Ok(())
        });
    }
}
