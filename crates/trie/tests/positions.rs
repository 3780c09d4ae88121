//! Tries whose nodes are stored by position: the rows are always those of a trie built in one piece.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rhizome_primitives::{B256, Bytes, keccak256};
use rhizome_trie::snap_chunk::{CHUNK_SIZE, build_chunk};
use rhizome_trie::{
    KnownValue, MemoryNodes, NodePosition, NodeRows, NodeSource, SourceError, SourceNode, StateDelta, Trie,
    ValuesBefore, WantedNode,
};

/// Rows by position, and long values by hash.
#[derive(Default)]
struct Rows {
    nodes: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
    values: Mutex<BTreeMap<B256, Bytes>>,
    reads: AtomicUsize,
    /// Number of reads of several nodes at once.
    batches: AtomicUsize,
    /// Number of reads of a range.
    ranges: AtomicUsize,
}

impl Rows {
    fn write(&self, rows: NodeRows) {
        let mut nodes = self.nodes.lock().unwrap();
        for (position, message) in rows.iter() {
            match message {
                Some(message) => nodes.insert(position.to_vec(), message.to_vec()),
                None => nodes.remove(position),
            };
        }
    }

    fn keep_values(&self, delta: &StateDelta) {
        let long = delta.writes.values().flatten().filter(|value| value.len() > 32);
        self.values.lock().unwrap().extend(long.map(|value| (keccak256(value), value.clone())));
    }
}

impl NodeSource for Rows {
    fn get(&self, hash: &B256) -> Result<Option<Bytes>, SourceError> {
        Ok(self.values.lock().unwrap().get(hash).cloned())
    }

    fn node(&self, wanted: &WantedNode<'_>) -> Result<Option<SourceNode>, SourceError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let message = self.nodes.lock().unwrap().get(&wanted.position.row_key()).cloned().map(Bytes::from);
        Ok(message.filter(|message| keccak256(message) == wanted.hash).map(SourceNode::from))
    }

    fn nodes(&self, wanted: &[WantedNode<'_>]) -> Result<Vec<Option<SourceNode>>, SourceError> {
        self.batches.fetch_add(1, Ordering::Relaxed);
        wanted.iter().map(|wanted| self.node(wanted)).collect()
    }

    fn nodes_below(&self, position: NodePosition<'_>, _wanted: &B256) -> Result<Vec<Bytes>, SourceError> {
        self.ranges.fetch_add(1, Ordering::Relaxed);
        let (start, end) = position.row_keys_below();
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        let nodes = self.nodes.lock().unwrap();
        let rows = nodes.range::<Vec<u8>, _>((Bound::Included(start), end));
        Ok(rows.map(|(_, message)| Bytes::from(message.clone())).collect())
    }
}

/// Index of a key, and length of its new value (0 deletes it).
type Write = (usize, usize);

/// A block: accounts to delete with everything below them, and writes.
type Step = (Vec<usize>, Vec<Write>);

/// Keys of few lengths with many shared prefixes.
fn key(index: usize) -> Vec<u8> {
    let account = [(index % 7) as u8 * 0x25, 0x0f, (index % 5) as u8];
    match index % 3 {
        0 => account.to_vec(),
        1 => [&account[..], &[0, (index / 8) as u8]].concat(),
        _ => [&account[..], &[0x80]].concat(),
    }
}

fn delta((wiped, writes): &Step, fill: u8) -> StateDelta {
    let value = |length: usize| (length > 0).then(|| Bytes::from(vec![fill | 1; length]));
    StateDelta {
        wiped: wiped.iter().map(|index| key(index * 3)).collect(),
        writes: writes.iter().map(|(index, length)| (key(*index), value(*length))).collect(),
    }
}

/// Values by key.
type Values = BTreeMap<Vec<u8>, Bytes>;

fn values(trie: &Trie) -> Values {
    trie.entries().map(Result::unwrap).collect()
}

fn known(value: &Bytes) -> KnownValue<'_> {
    if value.len() > 32 { KnownValue::Long(keccak256(value), value.len() as u32) } else { KnownValue::Short(value) }
}

/// Returns the value of a key, a wrong one for some keys.
fn nearly_known<'a>(before: &'a Values, key: &[u8]) -> Option<KnownValue<'a>> {
    match key.last().map_or(0, |last| last % 4) {
        0 => None,
        1 => before.values().next().map(known),
        _ => before.get(key).map(known),
    }
}

/// Returns the rows of the same trie, built in one piece.
fn rebuilt(trie: &Trie) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let source: Arc<Rows> = Arc::default();
    let mut whole = Trie::open_by_position(rhizome_primitives::EMPTY_ROOT, source);
    let writes = trie.entries().map(|entry| entry.map(|(key, value)| (key, Some(value)))).collect::<Result<_, _>>();
    whole.apply(&StateDelta { writes: writes.unwrap(), ..StateDelta::default() }).unwrap();
    assert_eq!(whole.root_hash(), trie.root_hash());
    whole.flush().iter().filter_map(|(position, message)| Some((position.to_vec(), message?.to_vec()))).collect()
}

#[test]
fn rows_are_those_of_a_trie_built_in_one_piece() {
    let writes =
        prop::collection::vec((0..140_usize, prop::sample::select(vec![0_usize, 1, 4, 30, 32, 33, 60])), 0..12);
    let step = (prop::collection::vec(0..40_usize, 0..2), writes);
    // Each step with whether the trie is flushed, and whether it is opened again, after it.
    let steps = prop::collection::vec((step, any::<bool>(), any::<bool>()), 1..25);
    let run = |steps: Vec<(Step, bool, bool)>| {
        let source: Arc<Rows> = Arc::default();
        let mut trie = Trie::open_by_position(rhizome_primitives::EMPTY_ROOT, source.clone());
        let mut reference = Trie::empty(Arc::new(MemoryNodes::default()));
        for (number, (step, is_flushed, is_opened)) in steps.iter().enumerate() {
            let delta = delta(step, number as u8);
            source.keep_values(&delta);
            let before = values(&reference);
            trie.apply_known(&delta, &|key| nearly_known(&before, key)).unwrap();
            reference.apply(&delta).unwrap();
            assert_eq!(trie.root_hash(), reference.root_hash());
            if *is_flushed || *is_opened {
                source.write(trie.flush());
                let expected = rebuilt(&trie);
                assert_eq!(*source.nodes.lock().unwrap(), expected);
            }
            if *is_opened {
                trie = Trie::open_by_position(trie.root_hash(), source.clone());
            } else if *is_flushed {
                let most = number % 4 * 8;
                // Nodes that another version shares stay in that version.
                let shared = (number % 2 == 0).then(|| (trie.clone(), values(&trie)));
                assert!(trie.evict(most) <= most);
                if let Some((shared, before)) = shared {
                    assert_eq!(values(&shared), before);
                    assert_eq!(shared.root_hash(), trie.root_hash());
                }
            }
        }
        assert_eq!(values(&trie), values(&reference));
        Ok(())
    };
    let config = ProptestConfig { cases: 400, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random).run(&steps, run).unwrap();
}

/// Changes `keys` of a trie that is not in memory. Returns the root and the number of reads.
fn changed(source: &Arc<Rows>, root: B256, delta: &StateDelta, before: ValuesBefore<'_, '_>) -> (B256, usize) {
    let mut trie = Trie::open_by_position(root, source.clone());
    source.reads.store(0, Ordering::Relaxed);
    trie.apply_known(delta, before).unwrap();
    (trie.root_hash(), source.reads.load(Ordering::Relaxed))
}

#[test]
fn leaves_with_known_values_are_not_read() {
    let source: Arc<Rows> = Arc::default();
    let mut trie = Trie::open_by_position(rhizome_primitives::EMPTY_ROOT, source.clone());
    let key = |index: u32| keccak256(index.to_be_bytes()).to_vec();
    let value = |index: u32| (key(index), Some(Bytes::from(vec![7; 20 + index as usize % 30])));
    let old = StateDelta { writes: (0..1500).map(value).collect(), ..StateDelta::default() };
    source.keep_values(&old);
    trie.apply(&old).unwrap();
    source.write(trie.flush());
    let before = values(&trie);
    for after in [None, Some(Bytes::from_static(b"after"))] {
        let writes = (0..900).map(|index| (key(index), after.clone())).collect();
        let delta = StateDelta { writes, ..StateDelta::default() };
        let (root, all) = changed(&source, trie.root_hash(), &delta, &|_| None);
        let (known_root, inner) = changed(&source, trie.root_hash(), &delta, &|key| before.get(key).map(known));
        assert_eq!(root, known_root);
        assert_eq!(inner, all - 900, "{after:?}");
    }
}

#[test]
fn evicted_nodes_are_read_in_batches() {
    let source: Arc<Rows> = Arc::default();
    let mut trie = Trie::open_by_position(rhizome_primitives::EMPTY_ROOT, source.clone());
    let change = |trie: &mut Trie, fill: u8| {
        let writes = (0..100_u32).map(|index| (keccak256(index.to_be_bytes()).to_vec(), Some(vec![fill; 20].into())));
        trie.apply(&StateDelta { writes: writes.collect(), ..StateDelta::default() }).unwrap();
        source.write(trie.flush());
        source.batches.swap(0, Ordering::Relaxed)
    };
    change(&mut trie, 0);
    trie.evict(0);
    assert!(change(&mut trie, 1) > 0);
    for fill in 2..20 {
        assert_eq!(change(&mut trie, fill), 0);
    }
    trie.evict(0);
    assert!(change(&mut trie, 20) > 0);
}

#[test]
fn a_loaded_trie_reads_no_more_nodes() {
    let source: Arc<Rows> = Arc::default();
    let mut trie = Trie::open_by_position(rhizome_primitives::EMPTY_ROOT, source.clone());
    assert_eq!(trie.load_all().unwrap(), 0);
    let delta = delta(&(Vec::new(), (0..140).map(|index| (index, 1 + index % 60)).collect()), 1);
    source.keep_values(&delta);
    trie.apply(&delta).unwrap();
    source.write(trie.flush());
    let opened = Trie::open_by_position(trie.root_hash(), source.clone());
    source.reads.store(0, Ordering::Relaxed);
    assert_eq!(opened.load_all().unwrap(), trie.nodes().count());
    // The small trie is one range, below its root.
    assert_eq!((source.reads.load(Ordering::Relaxed), source.ranges.load(Ordering::Relaxed)), (1, 1));
    let expected: Vec<_> = trie.entries().map(Result::unwrap).collect();
    source.nodes.lock().unwrap().clear();
    assert!(Trie::open_by_position(trie.root_hash(), source).load_all().is_err());
    let read: Vec<_> = opened.entries().map(Result::unwrap).collect();
    assert_eq!(read, expected);
}

#[test]
fn the_nodes_on_the_way_to_keys_are_read_before() {
    let source: Arc<Rows> = Arc::default();
    let mut trie = Trie::open_by_position(rhizome_primitives::EMPTY_ROOT, source.clone());
    let key = |index: u32| keccak256(index.to_be_bytes()).to_vec();
    let writes = (0..500).map(|index| (key(index), Some(Bytes::from(vec![7; 20])))).collect();
    trie.apply(&StateDelta { writes, ..StateDelta::default() }).unwrap();
    source.write(trie.flush());
    let opened = Trie::open_by_position(trie.root_hash(), source.clone());
    let mut keys: Vec<_> = (0..50).map(key).collect();
    keys.sort();
    opened.load_paths(keys.iter().map(Vec::as_slice)).unwrap();
    source.nodes.lock().unwrap().clear();
    assert!(keys.iter().all(|key| opened.get(key).unwrap().is_some()));
    assert!(opened.get(&key(60)).is_err());
}

#[test]
fn the_nodes_of_several_blocks_are_read_together() {
    let source: Arc<Rows> = Arc::default();
    let mut trie = Trie::open_by_position(rhizome_primitives::EMPTY_ROOT, source.clone());
    let key = |index: u32| keccak256(index.to_be_bytes()).to_vec();
    let delta = |indexes: std::ops::Range<u32>, fill: u8| StateDelta {
        writes: indexes.map(|index| (key(index), Some(Bytes::from(vec![fill; 20])))).collect(),
        ..StateDelta::default()
    };
    trie.apply(&delta(0..2000, 1)).unwrap();
    source.write(trie.flush());
    let blocks: Vec<_> = (0..5).map(|block| delta(block * 8..block * 8 + 10, 2)).collect();
    let keys: BTreeMap<_, _> = blocks.iter().flat_map(|block| &block.writes).collect();
    let open = || Trie::open_by_position(trie.root_hash(), source.clone());
    let batches = || source.batches.swap(0, Ordering::Relaxed);
    let (mut single, mut together) = (open(), open());
    blocks.iter().for_each(|block| single.apply(block).unwrap());
    let single_batches = batches();
    together.read_ahead(keys.keys().map(|key| &key[..]), &|_key| None).unwrap();
    assert!(batches() * 2 < single_batches);
    let reads = source.reads.load(Ordering::Relaxed);
    blocks.iter().for_each(|block| together.apply(block).unwrap());
    assert_eq!((batches(), source.reads.load(Ordering::Relaxed)), (0, reads));
    assert_eq!(together.root_hash(), single.root_hash());
    // Blocks behind these are read on their own again.
    together.apply(&delta(1000..1010, 2)).unwrap();
    assert!(batches() > 0);
}

/// Chunks of a state that is stored by position are those of the same state stored by hash, and cost few reads.
#[test]
fn chunks_are_read_in_ranges() {
    let writes: BTreeMap<Vec<u8>, Option<Bytes>> = (0..20_000_u32)
        .map(|index| {
            let key = keccak256(index.to_be_bytes());
            let length = 1 + usize::from(key[0]) % 60;
            (key[..8 + usize::from(key[1]) % 24].to_vec(), Some(Bytes::from(vec![index as u8 | 1; length])))
        })
        .collect();
    let delta = StateDelta { writes, ..StateDelta::default() };
    let rows: Arc<Rows> = Arc::default();
    rows.keep_values(&delta);
    let mut by_position = Trie::open_by_position(rhizome_primitives::EMPTY_ROOT, rows.clone());
    by_position.apply(&delta).unwrap();
    rows.write(by_position.flush());
    let nodes = Arc::new(MemoryNodes::default());
    let mut by_hash = Trie::empty(nodes.clone());
    by_hash.apply(&delta).unwrap();
    nodes.insert(by_hash.commit());
    let (root, size) = (by_hash.root_hash(), by_hash.size().unwrap());
    assert_eq!(by_position.root_hash(), root);
    let chunks = size.div_ceil(CHUNK_SIZE);
    assert!(chunks > 20);
    for from in (0..chunks).map(|index| index * CHUNK_SIZE) {
        let stored = Trie::open_by_position(root, rows.clone());
        let expected = build_chunk(&Trie::open(root, nodes.clone()), from, from + CHUNK_SIZE).unwrap();
        assert_eq!(build_chunk(&stored, from, from + CHUNK_SIZE).unwrap(), expected);
    }
    let (reads, ranges) = (rows.reads.load(Ordering::Relaxed), rows.ranges.load(Ordering::Relaxed));
    assert!(reads + ranges < 40 * chunks as usize, "{reads} nodes and {ranges} ranges for {chunks} chunks");
}
