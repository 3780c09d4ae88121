//! `nodes.json` (encodings of nodes) and `ops-*.json` (sequences of operations).

use std::collections::BTreeMap;
use std::sync::Arc;

use rhizome_primitives::{B256, hex, keccak256};
use rhizome_trie::{MemoryNodes, NodeSource, StateDelta, Trie, TrieError, diff};
use serde_json::Value;

use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check_nodes(json: &Value, report: &mut SuiteReport) -> CaseResult {
    for case in json.member("cases")?.items()? {
        report.case(case.member("name")?.text()?, || check_node_case(case));
    }
    for case in json.member("decode")?.items()? {
        report.case(case.member("name")?.text()?, || {
            let message = case.member("msg")?.bytes()?;
            equal("refused", case.member("rejected")?.boolean()?, is_refused(message))
        });
    }
    Ok(())
}

/// Returns `true` if a message is rejected as the root of a trie.
fn is_refused(message: Vec<u8>) -> bool {
    let hash = keccak256(&message);
    let nodes = MemoryNodes::default();
    nodes.insert([(hash, message.into())]);
    matches!(Trie::open(hash, Arc::new(nodes)).get(&[]), Err(TrieError::Message { .. }))
}

fn check_node_case(case: &Value) -> CaseResult {
    let mut trie = trie_of(case.member("entries")?)?;
    check_roots(case, &trie)?;
    let secure = trie.orchid_root(true).map_err(|error| broken("old root", error))?;
    equal("orchidRootSecure", case.member("orchidRootSecure")?.parsed()?, secure)?;
    check_views(case, &trie)?;
    // Again, from stored messages.
    let nodes = Arc::new(MemoryNodes::default());
    nodes.insert(trie.commit());
    let reopened = Trie::open(trie.root_hash(), nodes);
    check_roots(case, &reopened)?;
    check_views(case, &reopened)
}

/// Compares `root` and `orchidRoot`.
fn check_roots(case: &Value, trie: &Trie) -> CaseResult {
    equal("root", case.member("root")?.parsed()?, trie.root_hash())?;
    // The Orchid root commits to all messages in the Orchid format (`omsg`).
    let orchid = trie.orchid_root(false).map_err(|error| broken("old root", error))?;
    equal("orchidRoot", case.member("orchidRoot")?.parsed()?, orchid)
}

fn check_views(case: &Value, trie: &Trie) -> CaseResult {
    let expected = case.member("nodes")?.items()?;
    let views: Vec<_> = trie.nodes().collect::<Result<_, _>>().map_err(|error| broken("nodes", error))?;
    equal("number of nodes", expected.len(), views.len())?;
    for (index, (expected, view)) in expected.iter().zip(views).enumerate() {
        let named = |field: &str| format!("node {index}: {field}");
        equal(named("bits"), expected.member("bits")?.number()?, view.bits as u64)?;
        equal(named("path"), hex::encode(expected.member("path")?.bytes()?), hex::encode(view.path))?;
        equal(named("own"), expected.member("own")?.number()?, view.own_bits as u64)?;
        equal(named("msg"), hex::encode(expected.member("msg")?.bytes()?), hex::encode(view.message))?;
        equal(named("hash"), expected.member("hash")?.parsed()?, view.hash)?;
        equal(named("emb"), expected.member("emb")?.boolean()?, view.is_embedded)?;
        equal(named("cs"), expected.member("cs")?.number()?, view.children_size)?;
        equal(named("vl"), expected.member("vl")?.number()?, view.value_length as u64)?;
    }
    Ok(())
}

/// Returns a trie with the entries `[key, value]`, put in order.
pub(crate) fn trie_of(entries: &Value) -> Result<Trie, CaseFailure> {
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    for entry in entries.items()? {
        let [key, value] = entry.items()? else { continue };
        trie.put(&key.bytes()?, &value.bytes()?).map_err(|error| broken("put", error))?;
    }
    Ok(trie)
}

/// Compares all entries of a trie with a list of `[key, value]`.
pub(crate) fn check_entries(what: &str, expected: &Value, trie: &Trie) -> CaseResult {
    let mut wanted = BTreeMap::new();
    for entry in expected.items()? {
        if let [key, value] = entry.items()? {
            wanted.insert(hex::encode(key.bytes()?), hex::encode(value.bytes()?));
        }
    }
    let found: BTreeMap<_, _> = trie
        .entries()
        .map(|entry| entry.map(|(key, value)| (hex::encode(key), hex::encode(value))))
        .collect::<Result<_, _>>()
        .map_err(|error| broken("entries", error))?;
    equal(what, wanted, found)
}

pub(crate) fn check_operations(json: &Value, report: &mut SuiteReport) -> CaseResult {
    let operations = json.member("ops")?.items()?;
    let mut replay = TrieHistory::new();
    let mut done = 0;
    for checkpoint in json.member("checkpoints")?.items()? {
        let n = checkpoint.member("n")?.number()? as usize;
        report.case(&format!("after {n} operations"), || {
            let next = operations.get(done..n).unwrap_or_default();
            done = n;
            replay.run(next)?;
            replay.check(checkpoint)
        });
    }
    report.case("final", || check_entries("entries", json.member("final")?, &replay.trie));
    Ok(())
}

/// Applies a history in three ways: as single operations; as batches on a trie that is stored and reopened at each
/// checkpoint; as entries of a new trie.
struct TrieHistory {
    trie: Trie,
    nodes: Arc<MemoryNodes>,
    stored_root: B256,
}

impl TrieHistory {
    fn new() -> TrieHistory {
        let nodes = Arc::new(MemoryNodes::default());
        let trie = Trie::empty(nodes.clone());
        TrieHistory { stored_root: trie.root_hash(), trie, nodes }
    }

    fn run(&mut self, operations: &[Value]) -> CaseResult {
        for operation in operations {
            let result = match operation.items()? {
                [kind, key, value] if kind == "p" => self.trie.put(&key.bytes()?, &value.bytes()?),
                [kind, key] if kind == "d" => self.trie.delete(&key.bytes()?),
                [kind, key] if kind == "r" => self.trie.delete_recursive(&key.bytes()?),
                _ => return equal("operation", "p, d or r", operation.to_string().as_str()),
            };
            result.map_err(|error| broken("operation", error))?;
        }
        Ok(())
    }

    fn check(&mut self, checkpoint: &Value) -> CaseResult {
        check_roots(checkpoint, &self.trie)?;
        let size = self.trie.children_size().map_err(|error| broken("children size", error))?;
        equal("cs", checkpoint.member("cs")?.number()?, size)?;
        let keys = self.trie.collect_keys(None).map_err(|error| broken("keys", error))?;
        equal("keys", checkpoint.member("keys")?.number()?, keys.len() as u64)?;
        self.check_batch().map_err(|error| broken("batch", error))??;
        self.check_rebuilt().map_err(|error| broken("rebuilding", error))?
    }

    fn check_batch(&mut self) -> Result<CaseResult, TrieError> {
        let source: Arc<dyn NodeSource> = self.nodes.clone();
        let mut stored = Trie::open(self.stored_root, source);
        stored.apply(&diff(&stored, &self.trie)?)?;
        self.nodes.insert(stored.commit());
        self.stored_root = stored.root_hash();
        Ok(equal("root of the stored trie", self.trie.root_hash(), self.stored_root))
    }

    fn check_rebuilt(&self) -> Result<CaseResult, TrieError> {
        let mut delta = StateDelta::default();
        for entry in self.trie.entries() {
            let (key, value) = entry?;
            delta.writes.insert(key, Some(value));
        }
        let mut rebuilt = Trie::empty(self.nodes.clone());
        rebuilt.apply(&delta)?;
        Ok(equal("root of the rebuilt trie", self.trie.root_hash(), rebuilt.root_hash()))
    }
}
