//! Golden chains, compared after each imported block; arrivals in disorder; invalid blocks.

mod bridge;
mod federation_changes;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::GzDecoder;
use rhizome_chain::{BlockDecodeError, BlockRecord, Chain, ChainConfig, DataDir, ImportOutcome, PreparedBlock};
use rhizome_primitives::{Address, B256, ChainSpec, U256, hex, keccak256};
use rhizome_trie::keys::{REMASC_SENDER, account_key, code_key, mark_key, storage_key};
use rhizome_trie::{AccountState, StateReader};
use serde_json::Value;

use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::{VectorError, VectorFields};

/// Runs the chains of a folder: `<name>.json.gz` with `<name>.blocks.txt.gz` (and `<name>.arrivals.txt.gz`), and
/// `invalid.json.gz`.
pub(crate) fn run(folder: &Path, report: &mut SuiteReport) -> Result<(), VectorError> {
    report.enter_suite("chains");
    for name in chain_names(folder)? {
        report.enter_file(&format!("{name}.json"));
        let json = read_json(&folder.join(format!("{name}.json.gz")))?;
        let arrivals = folder.join(format!("{name}.arrivals.txt.gz"));
        let verdict = if arrivals.exists() && json.get("arrivals").is_some() {
            check_arrivals(&json, &arrivals, report)
        } else {
            check_chain(&json, &folder.join(format!("{name}.blocks.txt.gz")), report)
        };
        if let Err(failure) = verdict {
            report.case("the chain", || Err(failure));
        }
    }
    let invalid = folder.join("invalid.json.gz");
    if invalid.exists() {
        report.enter_file("invalid.json");
        if let Err(failure) = check_invalid(&read_json(&invalid)?, folder, report) {
            report.case("the file", || Err(failure));
        }
    }
    Ok(())
}

/// Checks `chain_regtest.json` or `chain_testnet.json` of the block data: blocks of all kinds on the genesis of a network.
pub(crate) fn check_import_results(network: &str, json: &Value, report: &mut SuiteReport) -> CaseResult {
    let chain = open(ChainSpec::by_name(network).map_err(|error| broken("network", error))?)?;
    for (position, case) in json.member("cases")?.items()?.iter().enumerate() {
        let label = case.member("label")?.text()?;
        let outcome = import(&chain, &case.member("raw")?.bytes()?);
        report.case(&format!("{position}: {label}"), || check_import_result(&chain, case, outcome));
    }
    Ok(())
}

fn check_import_result(chain: &Chain, case: &Value, outcome: Result<Imported, CaseFailure>) -> CaseResult {
    let imported = outcome?;
    equal("result", case.member("result")?.text()?, imported.name()).map_err(|failure| imported.explain(failure))?;
    let best = chain.head();
    equal("best block", case.member("bestHash")?.parsed::<B256>()?, best.hash())?;
    equal("best number", case.member("bestNumber")?.number()?, best.number())?;
    let Some(receipts) = case.optional("receipts") else { return Ok(()) };
    let hash: B256 = case.member("hash")?.parsed()?;
    let stored = chain.receipts(&hash).map_err(|error| broken("receipts", error))?;
    let stored: Vec<Vec<u8>> = stored.iter().flat_map(|stored| stored.iter()).map(|receipt| receipt.encode()).collect();
    let expected: Vec<Vec<u8>> = receipts.items()?.iter().map(VectorFields::bytes).collect::<Result<_, _>>()?;
    equal("receipts", expected, stored)?;
    let total: U256 = case.member("totalDifficulty")?.parsed()?;
    equal("total difficulty", total, record(chain, &hash)?.total_difficulty)
}

fn check_chain(json: &Value, blocks: &Path, report: &mut SuiteReport) -> CaseResult {
    let chain = open(spec(json)?)?;
    let expected = json.member("blocks")?.items()?;
    let raws = read_blocks(blocks)?;
    let has_bridge_data = bridge::has_bridge_data(json);
    if has_bridge_data {
        bridge::check(&spec(json)?, json, &raws, report)?;
    }
    let mut expected = expected.iter();
    let mut stop = None;
    let streamed = chain.import_stream(raws.iter().cloned(), |block| {
        let imported = Imported(block.result);
        let Some(expected) = expected.next() else { return ControlFlow::Break(()) };
        let is_best = imported.name() == "IMPORTED_BEST";
        report.case(&block_name(expected), || {
            equal("result", "IMPORTED_BEST", imported.name()).map_err(|failure| imported.explain(failure))?;
            check_block(&chain, expected)
        });
        if is_best { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if let Err(error) = streamed {
        stop = Some(broken("import", error));
    }
    let rest = expected.len();
    if let Some(failure) = stop {
        report.case("import to the end", || Err(failure));
        return Ok(());
    }
    report.case("import to the end", || equal("blocks not imported", 0, rest));
    if rest == 0 {
        check_end(&chain, json, report)?;
        if has_bridge_data {
            federation_changes::check(&chain, json, &raws, report)?;
        }
    }
    Ok(())
}

fn check_arrivals(json: &Value, arrivals: &Path, report: &mut SuiteReport) -> CaseResult {
    let chain = open(spec(json)?)?;
    let blocks = ["blocks", "sideBlocks"].map(|name| json.get(name).and_then(Value::as_array));
    let blocks: BTreeMap<&str, &Value> = blocks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|block| Some((block.get("hash")?.as_str()?, block)))
        .collect();
    for (arrival, raw) in json.member("arrivals")?.items()?.iter().zip(read_blocks(arrivals)?) {
        let position = arrival.member("arrival")?.number()?;
        let before = chain.head();
        let outcome = import(&chain, &raw);
        report.case(&format!("arrival {position}"), || {
            let imported = outcome?;
            let result = arrival.member("result")?.text()?;
            equal("result", result, imported.name()).map_err(|failure| imported.explain(failure))?;
            let best = arrival.member("bestAfter")?;
            let head = chain.head();
            equal("best block after it", best.member("hash")?.parsed::<B256>()?, head.hash())?;
            let total: U256 = best.member("totalDifficulty")?.parsed()?;
            equal("total difficulty after it", total, head.record.total_difficulty)?;
            let depth = reorganisation_depth(&chain, &before.record)?;
            let expected = arrival.optional("reorgDepth").map_or(Ok(0), VectorFields::number)?;
            equal("depth of the reorganisation", expected, depth)?;
            match blocks.get(arrival.member("hash")?.text()?) {
                Some(block) if result.starts_with("IMPORTED") => check_block(&chain, block),
                _ => Ok(()),
            }
        });
    }
    check_end(&chain, json, report)
}

/// Returns the number of blocks of the branch ending in `before` that are no longer on the best chain.
fn reorganisation_depth(chain: &Chain, before: &Arc<BlockRecord>) -> Result<u64, CaseFailure> {
    let mut depth = 0;
    let mut cursor = Arc::clone(before);
    while !chain.is_main(&cursor).map_err(|error| broken("main chain", error))? {
        depth += 1;
        cursor = record(chain, &cursor.parent().unwrap_or_default())?;
    }
    Ok(depth)
}

/// Compares a stored block with its description in the golden data.
fn check_block(chain: &Chain, expected: &Value) -> CaseResult {
    let hash: B256 = expected.member("hash")?.parsed()?;
    let record = record(chain, &hash)?;
    let header = &record.block.header;
    equal("number", expected.member("number")?.number()?, record.number())?;
    let root = |name: &str| expected.member(name)?.bytes();
    equal("state root", root("stateRoot")?, header.state_root.to_vec())?;
    equal("unitrie root", root("unitrieRoot")?, record.state_root.to_vec())?;
    equal("transactions root", root("txRoot")?, header.transactions_root.to_vec())?;
    equal("receipts root", root("receiptsRoot")?, header.receipts_root.to_vec())?;
    let number = |name: &str| expected.member(name)?.parsed::<U256>();
    equal("gas used", expected.member("gasUsed")?.number()?, header.gas_used)?;
    equal("paid fees", number("paidFees")?, header.paid_fees)?;
    equal("difficulty", number("difficulty")?, header.difficulty_value())?;
    equal("cumulative difficulty", number("cumulativeDifficulty")?, record.cumulative_difficulty())?;
    equal("total difficulty", number("totalDifficulty")?, record.total_difficulty)?;
    equal("size", expected.member("size")?.number()?, record.size as u64)?;
    let Some(transactions) = expected.optional("txs") else { return Ok(()) };
    let receipts = chain.receipts(&hash).map_err(|error| broken("receipts", error))?;
    let receipts = receipts.ok_or_else(|| broken("receipts", "missing"))?;
    equal("number of transactions", transactions.items()?.len(), receipts.len())?;
    for (index, (expected, receipt)) in transactions.items()?.iter().zip(receipts.iter()).enumerate() {
        let what = |field: &str| format!("{field} of transaction {index}");
        let transaction = receipts.transaction_hashes().get(index).copied().unwrap_or_default();
        equal(what("hash"), expected.member("hash")?.parsed::<B256>()?, transaction)?;
        let sender = record.senders().get(index).copied().unwrap_or_default();
        equal(what("sender"), expected.member("from")?.parsed::<Address>()?, sender)?;
        equal(what("status"), expected.member("status")?.number()? == 1, receipt.success)?;
        equal(what("gas"), expected.member("gasUsed")?.number()?, receipt.gas_used)?;
        equal(what("cumulative gas"), expected.member("cumulativeGasUsed")?.number()?, receipt.cumulative_gas)?;
        equal(what("logs"), expected.member("logs")?.number()?, receipt.logs.len() as u64)?;
        let found = chain.transaction(&transaction).map_err(|error| broken("look-up", error))?;
        let is_main = chain.is_main(&record).map_err(|error| broken("main chain", error))?;
        if let (Some(found), true) = (found, is_main) {
            equal(what("position"), (hash, index), (found.record.hash, found.index))?;
        }
    }
    Ok(())
}

/// Compares the head and the final state.
fn check_end(chain: &Chain, json: &Value, report: &mut SuiteReport) -> CaseResult {
    let best = json.member("best")?;
    let head = chain.head();
    report.case("best block", || {
        equal("hash", best.member("hash")?.parsed::<B256>()?, head.hash())?;
        equal("total difficulty", best.member("totalDifficulty")?.parsed::<U256>()?, head.record.total_difficulty)
    });
    let Some(accounts) = json.get("finalState").and_then(Value::as_object) else { return Ok(()) };
    let trie = chain.state_trie(&head.record).map_err(|error| broken("state", error))?;
    for (address, account) in accounts {
        let readers: [(&str, &dyn StateReader); 2] = [("flat", &*head.state()), ("trie", &trie)];
        report.case(&format!("final state of {address}"), || {
            readers.iter().try_for_each(|(name, state)| {
                check_account(*state, address, account).map_err(|failure| {
                    let what = format!("{} ({name})", failure.what);
                    CaseFailure { what, ..failure }
                })
            })
        });
    }
    Ok(())
}

fn check_account(state: &dyn StateReader, address: &str, expected: &Value) -> CaseResult {
    let address = hex::decode(address).map_err(|error| broken("address", error))?;
    let address = if address == [0] { REMASC_SENDER } else { address.as_slice() };
    let read = |key: &[u8]| state.get(key).map_err(|error| broken("state", error));
    let account = read(&account_key(address))?.map(|value| AccountState::decode(&value));
    let account = account.transpose().map_err(|error| broken("account", error))?;
    let account = account.ok_or_else(|| broken("account", "missing"))?;
    equal("nonce", expected.member("nonce")?.parsed::<U256>()?, account.nonce)?;
    equal("balance", expected.member("balance")?.text()?, account.balance.to_string().as_str())?;
    let mark = expected.optional("storageMark").is_some_and(|mark| mark.as_bool() == Some(true));
    equal("storage mark", mark, read(&mark_key(address))?.is_some())?;
    let code = read(&code_key(address))?;
    let code_hash = expected.optional("codeHash").map(VectorFields::parsed::<B256>).transpose()?;
    equal("code hash", code_hash, code.map(|code| keccak256(&code)))?;
    let Some(slots) = expected.get("storage").and_then(Value::as_object) else { return Ok(()) };
    for (slot, value) in slots {
        let slot = hex::decode(slot).map_err(|error| broken("slot", error))?;
        let key = storage_key(address, &B256::left_padding_from(&slot));
        let stored = read(&key)?.map(|value| value.to_vec());
        equal(format!("slot {}", hex::encode(&slot)), Some(value.bytes()?), stored)?;
    }
    Ok(())
}

fn check_invalid(json: &Value, folder: &Path, report: &mut SuiteReport) -> CaseResult {
    let mut groups: Vec<(String, u64, &Value)> = Vec::new();
    for group in json.member("groups")?.items()? {
        groups.push((group.member("base")?.text()?.to_owned(), group.member("prefix")?.number()?, group));
    }
    // Groups on the same base chain are sorted by height: each continues from the previous height.
    groups.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let mut base: Option<BaseChain> = None;
    for (name, prefix, group) in groups {
        if base.as_ref().is_none_or(|base| base.name != name) {
            base = Some(BaseChain::open(&name, folder)?);
        }
        let Some(base) = base.as_mut() else { continue };
        let ready = base.advance(prefix, group.member("prefixHash")?.parsed()?);
        for case in group.member("cases")?.items()? {
            let id = case.member("id")?.text()?;
            report.case(id, || {
                ready.clone()?;
                check_offered(&base.chain, prefix, case)
            });
        }
    }
    Ok(())
}

/// Imports one block on top of a base chain and rewinds the chain afterwards.
fn check_offered(chain: &Chain, prefix: u64, case: &Value) -> CaseResult {
    let outcome = import(chain, &case.member("rlp")?.bytes()?);
    let verdict = outcome.and_then(|imported| {
        equal(case.member("what")?.text()?, case.member("result")?.text()?, imported.name())
            .map_err(|failure| imported.explain(failure))
    });
    if chain.highest_number().map_err(|error| broken("highest block", error))? > prefix {
        chain.rewind(prefix).map_err(|error| broken("rewind", error))?;
    }
    verdict
}

struct BaseChain {
    name: String,
    chain: Arc<Chain>,
    rest: std::vec::IntoIter<Vec<u8>>,
    /// The failure of the import, if any: all groups at greater heights fail with it.
    end: CaseResult,
}

impl BaseChain {
    fn open(name: &str, folder: &Path) -> Result<Self, CaseFailure> {
        let json = read_json(&folder.join(format!("{name}.json.gz"))).map_err(|error| broken("base", error))?;
        let rest = read_blocks(&folder.join(format!("{name}.blocks.txt.gz")))?.into_iter();
        Ok(Self { name: name.to_owned(), chain: open(spec(&json)?)?, rest, end: Ok(()) })
    }

    fn advance(&mut self, prefix: u64, hash: B256) -> CaseResult {
        if self.end.is_ok() {
            self.end = self.import_up_to(prefix);
        }
        self.end.clone()?;
        equal("head of the base", hash, self.chain.head().hash())
    }

    fn import_up_to(&mut self, prefix: u64) -> CaseResult {
        while self.chain.head().number() < prefix {
            let raw = self.rest.next().ok_or_else(|| broken("base", "too few blocks"))?;
            let imported = import(&self.chain, &raw)?;
            equal("result of a block of the base", "IMPORTED_BEST", imported.name())
                .map_err(|failure| imported.explain(failure))?;
        }
        Ok(())
    }
}

struct Imported(Result<ImportOutcome, BlockDecodeError>);

impl Imported {
    /// Returns the name that the reference node gives to the result.
    fn name(&self) -> &'static str {
        match &self.0 {
            Err(_) => "UNDECODABLE",
            Ok(outcome) => outcome.name(),
        }
    }

    /// Adds the reason of a rejection to a failure.
    fn explain(&self, failure: CaseFailure) -> CaseFailure {
        let reason = match &self.0 {
            Err(error) => error.to_string(),
            Ok(ImportOutcome::Invalid(invalid)) => invalid.to_string(),
            Ok(_) => return failure,
        };
        CaseFailure { got: format!("{}: {reason}", failure.got), ..failure }
    }
}

fn import(chain: &Chain, raw: &[u8]) -> Result<Imported, CaseFailure> {
    match PreparedBlock::decode(raw, chain.spec()) {
        Err(error) => Ok(Imported(Err(error))),
        Ok(prepared) => {
            let outcome = chain.import_prepared(prepared).map_err(|error| broken("import", error))?;
            Ok(Imported(Ok(outcome)))
        }
    }
}

fn spec(json: &Value) -> Result<ChainSpec, CaseFailure> {
    ChainSpec::from_json(&json.member("spec")?.to_string()).map_err(|error| broken("chain specification", error))
}

fn open(spec: ChainSpec) -> Result<Arc<Chain>, CaseFailure> {
    Chain::open(ChainConfig::new(Arc::new(spec), DataDir::Temporary)).map_err(|error| broken("open", error))
}

fn record(chain: &Chain, hash: &B256) -> Result<Arc<BlockRecord>, CaseFailure> {
    let record = chain.block(hash).map_err(|error| broken("block", error))?;
    record.ok_or_else(|| broken("block", format!("{hash} is not stored")))
}

fn block_name(expected: &Value) -> String {
    expected.get("number").map_or_else(|| "block".to_owned(), |number| format!("block {number}"))
}

/// Returns the sorted names of the chains in a folder. A description without a file of blocks is not a chain.
fn chain_names(folder: &Path) -> Result<Vec<String>, VectorError> {
    let failed = |error| VectorError::Read { path: folder.to_owned(), error };
    let mut names = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        let has_blocks = |name: &&str| {
            let exists = |kind: &str| folder.join(format!("{name}.{kind}.txt.gz")).exists();
            exists("blocks") || exists("arrivals")
        };
        names.extend(name.strip_suffix(".json.gz").filter(has_blocks).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn read_json(path: &Path) -> Result<Value, VectorError> {
    let file = File::open(path).map_err(|error| VectorError::Read { path: path.to_owned(), error })?;
    serde_json::from_reader(BufReader::new(GzDecoder::new(file)))
        .map_err(|error| VectorError::Json { path: path.to_owned(), error })
}

/// Reads encoded blocks from a file with one block a line.
fn read_blocks(path: &Path) -> Result<Vec<Vec<u8>>, CaseFailure> {
    let failed = |error: String| broken(path.display(), error);
    let file = File::open(PathBuf::from(path)).map_err(|error| failed(error.to_string()))?;
    let mut blocks = Vec::new();
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let line = line.map_err(|error| failed(error.to_string()))?;
        let raw = line.rsplit(',').next().unwrap_or_default();
        blocks.push(hex::decode(raw).map_err(|error| failed(error.to_string()))?);
    }
    Ok(blocks)
}
