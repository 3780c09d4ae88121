//! Struct-log traces of contracts with many storage slots: the cost depends on the shown slots.

use rhizome_answers::json::JsonWriter;
use rhizome_answers::options::TraceShape;
use rhizome_answers::tracing::Limit;
use rhizome_answers::tracing::options::TraceOptions;
use rhizome_answers::tracing::struct_logs::StructLogs;
use rhizome_answers::tracing::traced::Traced;
use rhizome_evm::tracing::Inspection;
use rhizome_evm::{
    AncestorBlock, Ancestry, AncestryError, BlockEnv, CallRequest, CallSequence, Deadline, State, StateOverrides,
};
use rhizome_primitives::{Address, Bytes, ChainSpec, Header, U256, hex};
use rhizome_trie::{MemoryNodes, StateError, StateReader, Trie};
use serde_json::Value;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const CONTRACT: Address = Address::repeat_byte(7);
const CALLER: Address = Address::repeat_byte(8);
/// Ends at once.
const IDLE: &[u8] = &hex!("6000500000");
/// Reads slot 1.
const READER: &[u8] = &hex!("600154500000");

struct Alone;

impl Ancestry for Alone {
    fn ancestor(&self, _number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        Ok(None)
    }
}

/// A state that reads all keys below a prefix before the first visit, like those of earlier blocks.
struct Counted {
    trie: Trie,
    keys: AtomicUsize,
}

impl StateReader for Counted {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        Ok(self.trie.get(key)?)
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        let mut keys = Vec::new();
        self.trie.visit_keys(prefix, &mut |key| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        })?;
        self.keys.fetch_add(keys.len(), Ordering::Relaxed);
        let _flow = keys.iter().try_for_each(|key| visit(key));
        Ok(())
    }
}

/// A contract with a number of slots, and a contract that calls it several times.
fn state(code: &'static [u8], slots: u64, calls: usize) -> Arc<Counted> {
    let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
    let mut state = State::new(Arc::new(trie.clone()));
    let call = [hex!("6000600060006000600073").as_slice(), CONTRACT.as_slice(), &hex!("5af150")].concat();
    for (address, code) in [(CONTRACT, code.to_vec()), (CALLER, [call.repeat(calls), vec![0]].concat())] {
        state.setup_contract(address).unwrap();
        state.save_code(address, code.into()).unwrap();
    }
    for slot in 1..=slots {
        state.set_storage_word(CONTRACT, U256::from(slot), U256::from(slot)).unwrap();
    }
    trie.apply(&state.into_delta()).unwrap();
    Arc::new(Counted { trie, keys: AtomicUsize::default() })
}

/// Returns the trace of a call and the number of keys that were listed for it.
fn trace(state: &Arc<Counted>, to: Address, shape: TraceShape, options: &str) -> (Value, usize) {
    let limit = Limit::new(64 << 20);
    let options = TraceOptions::parse(options).unwrap();
    let mut logs = StructLogs::new(options, shape, limit, Deadline::none());
    let inspection = Inspection { inspector: Some(&mut logs), changes_limit: None };
    let request = CallRequest {
        from: None,
        to: Some(to),
        gas: 1_000_000,
        gas_price: U256::ZERO,
        value: U256::ZERO,
        data: Bytes::new(),
    };
    let spec = ChainSpec::regtest();
    let env = BlockEnv::from_header(&Header::new(1, &spec));
    let reader = Arc::clone(state) as Arc<dyn StateReader>;
    let (none, deadline) = (StateOverrides::default(), Deadline::none());
    let call = CallSequence::new(&none, &spec, env, reader, &Alone, &deadline).unwrap();
    let inspected = call.inspect_last(&request, inspection).unwrap();
    let mut json = JsonWriter::new();
    logs.write(&mut json, &Traced::of_call(&request, inspected.outcome)).unwrap();
    (serde_json::from_slice(&json.finish()).unwrap(), state.keys.swap(0, Ordering::Relaxed))
}

#[test]
fn small_storage_is_listed_and_counted_in_both_shapes() {
    for slots in [0, 1, 300, 10_000, 10_001] {
        let state = state(IDLE, slots, 0);
        let listed = if slots > 10_000 { 0 } else { slots as usize };
        for shape in [TraceShape::Standard, TraceShape::Reference] {
            let (trace, _) = trace(&state, CONTRACT, shape, "{}");
            assert_eq!(trace["storageSize"], slots);
            for member in ["initStorage", "currentStorage"] {
                assert_eq!(trace[member].as_object().unwrap().len(), listed);
            }
        }
    }
}

#[test]
fn large_storage_is_not_listed_to_the_end() {
    const SLOTS: u64 = 100_000;
    let idle = state(IDLE, SLOTS, 0);
    let (standard, keys) = trace(&idle, CONTRACT, TraceShape::Standard, "{}");
    assert!(standard.get("storageSize").is_none() && keys < 21_000, "{keys} keys");
    let (reference, keys) = trace(&idle, CONTRACT, TraceShape::Reference, "{}");
    assert_eq!((&reference["storageSize"], keys as u64), (&SLOTS.into(), SLOTS));
    // The size is that of the known slots once the code has used one.
    let reader = state(READER, SLOTS, 0);
    for shape in [TraceShape::Standard, TraceShape::Reference] {
        let (trace, _) = trace(&reader, CONTRACT, shape, "{}");
        assert_eq!(trace["storageSize"], 1);
        assert_eq!(trace["currentStorage"].as_object().unwrap().len(), 1);
    }
}

#[test]
fn inner_calls_list_a_large_storage_once() {
    let state = state(READER, 100_000, 20);
    for shape in [TraceShape::Standard, TraceShape::Reference] {
        let (shown, keys) = trace(&state, CALLER, shape, "{}");
        assert_eq!(shown["structLogs"].as_array().unwrap().iter().filter(|step| step["op"] == "SLOAD").count(), 20);
        assert!(keys < 21_000, "{keys} keys");
        let (_, keys) = trace(&state, CALLER, shape, r#"{"disableStorage":true}"#);
        // The marker of the caller's own storage.
        assert_eq!(keys, 1);
    }
}
