//! Golden chains of the Bridge (tests/vectors/README.md): outputs, logs, storage slots and views, compared
//! transaction by transaction.
//!
//! Runs beside the import, on its own trie. Each block starts from the recorded slots of the Bridge, so a difference
//! does not affect the comparison of later blocks.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rhizome_evm::{
    AncestorBlock, Ancestry, AncestryError, BlockEnv, BlockExecutor, BlockOutcome, CallRequest, Deadline, End,
    ExecError, HaltReason, State, SublistState, TransactionOutcome, call,
};
use rhizome_primitives::{Address, B256, BRIDGE, Block, Bytes, ChainSpec, I256, U256, hex};
use rhizome_trie::keys::{KeyPart, StateKey, account_key, storage_key};
use rhizome_trie::{AccountState, MemoryNodes, StateDelta, StateReader, Trie, genesis};
use serde_json::Value;

use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

/// Gas of a view. `getStateForDebugging` takes 3,000,000.
const VIEW_GAS: u64 = 6_800_000;

/// Slots by their number; `None` for a deleted slot.
type Slots = BTreeMap<B256, Option<Bytes>>;

/// Returns true if the description of a chain records the slots of the Bridge.
pub(super) fn has_bridge_data(json: &Value) -> bool {
    json.pointer("/blocks/0/bridgeCells").is_some()
}

/// Executes the blocks of a chain and compares what the Bridge does in them.
pub(super) fn check(spec: &ChainSpec, json: &Value, raws: &[Vec<u8>], report: &mut SuiteReport) -> CaseResult {
    let mut replay = BridgeReplay::new(spec)?;
    for (raw, recorded) in raws.iter().zip(json.member("blocks")?.items()?) {
        let block = Block::decode(raw, spec).map_err(|error| broken("block", error))?;
        replay.check_block(block, recorded, report)?;
    }
    Ok(())
}

/// The state between two blocks.
struct BridgeReplay<'s> {
    spec: &'s ChainSpec,
    trie: Trie,
    ancestors: Ancestors,
    /// Slots of the Bridge, as recorded.
    slots: BTreeMap<B256, Bytes>,
    /// Whether no difference has been corrected so far: only then the state root can match.
    is_exact: bool,
}

impl<'s> BridgeReplay<'s> {
    fn new(spec: &'s ChainSpec) -> Result<Self, CaseFailure> {
        let (block, trie) =
            genesis(spec, Arc::new(MemoryNodes::default())).map_err(|error| broken("genesis", error))?;
        let mut ancestors = Ancestors::default();
        ancestors.push(&block, block.header.difficulty_value());
        Ok(Self { spec, trie, ancestors, slots: BTreeMap::new(), is_exact: true })
    }

    fn check_block(&mut self, block: Block, recorded: &Value, report: &mut SuiteReport) -> CaseResult {
        let number = block.header.number;
        let outcome = self.execute(&block, recorded, |index, transaction, state, result| {
            let name = format!("block {number}, transaction {index}: {}", label_of(transaction));
            match result {
                Err(error) => report.case(&name, || Err(broken("execution", error))),
                Ok(outcome) => report.case(&name, || check_transaction(transaction, outcome, state)),
            }
        })?;
        let written = self.changed_slots(&outcome.delta)?;
        let expected = recorded_slots(recorded)?;
        report.case(&format!("block {number}: slots of the Bridge"), || {
            self.check_slots(&block, recorded, &expected, &written)
        });
        self.trie.apply(&outcome.delta).map_err(|error| broken("state", error))?;
        let balance: I256 = recorded.member("bridgeBalance")?.parsed()?;
        let account = self.bridge_account()?;
        report.case(&format!("block {number}: balance of the Bridge"), || equal("balance", balance, account.balance));
        for (slot, value) in &expected {
            match value {
                Some(value) => self.slots.insert(*slot, value.clone()),
                None => self.slots.remove(slot),
            };
        }
        self.correct(&expected, &written, AccountState { balance, ..account })?;
        if self.is_exact {
            let root: B256 = recorded.member("unitrieRoot")?.parsed()?;
            report.case(&format!("block {number}: state root"), || equal("state root", root, self.trie.root_hash()));
            self.is_exact = root == self.trie.root_hash();
        }
        self.check_views(&block, recorded, report)?;
        self.ancestors.push(&block, recorded.member("totalDifficulty")?.parsed()?);
        Ok(())
    }

    /// Executes the transactions of a block. A failed transaction is skipped.
    fn execute(
        &self,
        block: &Block,
        recorded: &Value,
        mut visit: impl FnMut(usize, &Value, &mut State, Result<&TransactionOutcome, &ExecError>),
    ) -> Result<BlockOutcome, CaseFailure> {
        let failed = |error: ExecError| broken("execution of the block", error);
        let env = BlockEnv::from_header(&block.header);
        let mut sublist = SublistState { gas_limit: env.gas_limit, ..SublistState::default() };
        let reader: Arc<dyn StateReader> = Arc::new(self.trie.clone());
        let mut executor = BlockExecutor::new(self.spec, env, reader, &self.ancestors).map_err(failed)?;
        let edges = block.header.edges.as_deref().unwrap_or_default();
        let transactions = recorded.member("txs")?.items()?;
        for (index, (transaction, recorded)) in block.transactions.iter().zip(transactions).enumerate() {
            if edges.iter().any(|edge| usize::try_from(*edge) == Ok(index)) {
                sublist.gas_used = 0;
            }
            let sender: Address = recorded.member("from")?.parsed()?;
            let result = executor.execute_in(transaction, sender, block.is_remasc(index), &mut sublist);
            visit(index, recorded, executor.state(), result.as_ref());
        }
        executor.finish().map_err(failed)
    }

    /// Returns the slots of the Bridge that a delta changes.
    fn changed_slots(&self, delta: &StateDelta) -> Result<Slots, CaseFailure> {
        let mut changed = Slots::new();
        for (key, value) in &delta.writes {
            let Some(StateKey { address, part: KeyPart::Slot(slot) }) = StateKey::parse(key) else { continue };
            let before = self.trie.get(key).map_err(|error| broken("state", error))?;
            if address == BRIDGE.as_slice() && before != *value {
                changed.insert(slot, value.clone());
            }
        }
        Ok(changed)
    }

    /// Compares the written slots of a block. A difference names the transactions that changed the slot.
    fn check_slots(&self, block: &Block, recorded: &Value, expected: &Slots, written: &Slots) -> CaseResult {
        let slots = expected.keys().chain(written.keys());
        let Some(slot) = slots.into_iter().find(|slot| expected.get(*slot) != written.get(*slot)) else {
            return Ok(());
        };
        let (mut value, mut writers) = (self.slots.get(slot).cloned(), Vec::new());
        self.execute(block, recorded, |index, transaction, state, _result| {
            if let Ok(now) = state.storage_bytes(BRIDGE, &U256::from_be_bytes(slot.0))
                && now != value
            {
                writers.push(format!("{index} {}", label_of(transaction)));
                value = now;
            }
        })?;
        let writers = if writers.is_empty() { "no transaction".to_owned() } else { writers.join(", ") };
        let name = slot_name(slot);
        equal(format!("slot {name}, changed by {writers}"), shown(expected.get(slot)), shown(written.get(slot)))
    }

    fn bridge_account(&self) -> Result<AccountState, CaseFailure> {
        let stored = self.trie.get(&account_key(BRIDGE.as_slice())).map_err(|error| broken("state", error))?;
        let account = stored.map(|value| AccountState::decode(&value)).transpose();
        Ok(account.map_err(|error| broken("account of the Bridge", error))?.unwrap_or_default())
    }

    /// Gives the Bridge the recorded slots and the recorded balance.
    fn correct(&mut self, expected: &Slots, written: &Slots, account: AccountState) -> CaseResult {
        if expected == written && self.bridge_account()?.balance == account.balance {
            return Ok(());
        }
        let mut delta = StateDelta::default();
        for slot in expected.keys().chain(written.keys()) {
            delta.writes.insert(storage_key(BRIDGE.as_slice(), slot), self.slots.get(slot).cloned());
        }
        delta.writes.insert(account_key(BRIDGE.as_slice()), Some(account.encode()));
        self.is_exact = false;
        self.trie.apply(&delta).map_err(|error| broken("state", error))
    }

    /// Compares local calls to the Bridge on the state after a block.
    fn check_views(&self, block: &Block, recorded: &Value, report: &mut SuiteReport) -> CaseResult {
        let Some(views) = recorded.optional("views") else { return Ok(()) };
        let number = block.header.number;
        let reader: Arc<dyn StateReader> = Arc::new(self.trie.clone());
        for view in views.items()? {
            let data = view.member("data")?.bytes()?.into();
            let name = format!("block {number}: view {}", view.member("call")?.text()?);
            let request = CallRequest { to: Some(BRIDGE), gas: VIEW_GAS, data, ..CallRequest::default() };
            let env = BlockEnv::from_header(&block.header);
            match call(self.spec, env, reader.clone(), &self.ancestors, &request, &Deadline::none()) {
                Err(error) => report.case(&name, || Err(broken("execution", error))),
                Ok(outcome) => {
                    report.case(&name, || check_result("result", view, "error", outcome.end, &outcome.output))
                }
            }
        }
        Ok(())
    }
}

/// The blocks of a chain by their height.
#[derive(Default)]
struct Ancestors(HashMap<u64, Arc<AncestorBlock>>);

impl Ancestors {
    fn push(&mut self, block: &Block, total_difficulty: U256) {
        let (header, uncles) = (block.header.clone(), block.uncles.clone());
        let ancestor = AncestorBlock { hash: block.hash(), header: Arc::new(header), uncles, total_difficulty };
        self.0.insert(ancestor.header.number, Arc::new(ancestor));
    }
}

impl Ancestry for Ancestors {
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        Ok(self.0.get(&number).cloned())
    }
}

fn check_transaction(recorded: &Value, outcome: &TransactionOutcome, state: &mut State) -> CaseResult {
    equal("status", recorded.member("status")?.number()? == 1, outcome.success)?;
    equal("gas", recorded.member("gasUsed")?.number()?, outcome.gas_used)?;
    check_result("output", recorded, "callError", outcome.end, &outcome.output)?;
    let entries = recorded.optional("logEntries").map_or(Ok(&[][..]), VectorFields::items)?;
    let expected = entries.iter().map(recorded_log).collect::<Result<Vec<_>, _>>()?;
    let logs = outcome.logs.iter().map(|log| (log.address, log.topics.clone(), hex::encode(&log.data))).collect();
    equal("logs", expected, logs)?;
    let Some(slots) = recorded.optional("cells") else { return Ok(()) };
    let contract: Address = recorded.member("to")?.parsed()?;
    for (slot, value) in slots.items()?.iter().enumerate() {
        let stored = state.storage_bytes(contract, &U256::from(slot)).map_err(|error| broken("state", error))?;
        let expected = if value.is_null() { None } else { Some(Bytes::from(value.bytes()?)) };
        equal(format!("slot {slot} of the forwarding contract"), expected, stored)?;
    }
    Ok(())
}

/// Compares a recorded output or exception with the end of an execution. An absent output is no data.
fn check_result(result: &str, recorded: &Value, exception: &str, end: End, output: &Bytes) -> CaseResult {
    let failed = end == End::Halt(HaltReason::PrecompileFailed);
    if recorded.get(exception).is_some() {
        return equal(exception, true, failed);
    }
    let Some(expected) = recorded.get(result) else { return Ok(()) };
    equal(exception, None, failed.then_some("an exception"))?;
    let expected = if expected.is_null() { Vec::new() } else { expected.bytes()? };
    equal(result, hex::encode(expected), hex::encode(output))
}

type RecordedLog = (Address, Vec<B256>, String);

fn recorded_log(log: &Value) -> Result<RecordedLog, CaseFailure> {
    let topics = log.member("topics")?.items()?.iter().map(VectorFields::parsed).collect::<Result<_, _>>()?;
    Ok((log.member("address")?.parsed()?, topics, hex::encode(log.member("data")?.bytes()?)))
}

fn recorded_slots(recorded: &Value) -> Result<Slots, CaseFailure> {
    let slots = recorded.member("bridgeCells")?.as_object().into_iter().flatten();
    let slots = slots.map(|(slot, value)| {
        let slot = hex::decode(slot).map_err(|error| broken("slot", error))?;
        let value = if value.is_null() { None } else { Some(value.bytes()?.into()) };
        Ok((B256::left_padding_from(&slot), value))
    });
    slots.collect()
}

fn label_of(transaction: &Value) -> &str {
    transaction["label"].as_str().unwrap_or("a transaction without a label")
}

/// Returns the text of a slot that is named by it, else its number.
fn slot_name(slot: &B256) -> String {
    let name: Vec<u8> = slot.iter().copied().skip_while(|byte| *byte == 0).collect();
    match String::from_utf8(name) {
        Ok(name) if name.chars().all(|letter| letter.is_ascii_alphanumeric()) => name,
        _ => slot.to_string(),
    }
}

fn shown(value: Option<&Option<Bytes>>) -> String {
    match value {
        None => "no change".to_owned(),
        Some(None) => "deleted".to_owned(),
        Some(Some(value)) => hex::encode(value),
    }
}
