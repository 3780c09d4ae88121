use rhizome_primitives::{Address, B256, U256, keccak256};
use std::sync::Arc;

use rhizome_storage::{CachedNodes, HeightEntry, Rewind, TransactionLocation};
use rhizome_trie::NodeSource;

use crate::{TestBlock, temporary};

const CONTRACT: Address = Address::repeat_byte(7);

#[test]
fn blocks_round_trip() {
    let store = temporary();
    let topic = B256::repeat_byte(3);
    let block = TestBlock::new(5, "a").with_log("t1", CONTRACT, &[topic]).with_log("t2", CONTRACT, &[]);
    block.write_best(&store);
    let stored = store.block(&block.hash).unwrap().unwrap();
    assert_eq!((stored.raw.as_ref(), stored.total_difficulty), (block.raw.as_slice(), U256::from(50)));
    assert_eq!((stored.state_root, stored.senders), (keccak256(block.hash), block.senders.clone()));
    let receipts = store.receipts(&block.hash).unwrap().unwrap();
    assert_eq!((receipts.receipts, receipts.transaction_hashes), (block.receipts.clone(), block.transactions.clone()));
    let location = TransactionLocation { block: block.hash, index: 1 };
    assert_eq!(store.transaction_locations(&block.transactions[1]).unwrap(), [location]);
    assert!(store.block(&B256::ZERO).unwrap().is_none());
    assert!(store.receipts(&B256::ZERO).unwrap().is_none());
    assert!(store.transaction_locations(&B256::ZERO).unwrap().is_empty());
}

#[test]
fn main_flags_follow_the_best_chain() {
    let store = temporary();
    let (one, two) = (TestBlock::new(1, "one"), TestBlock::new(2, "two"));
    let (other_one, other_two, other_three) = (TestBlock::new(1, "x"), TestBlock::new(2, "y"), TestBlock::new(3, "z"));
    one.write_best(&store);
    two.write_best(&store);
    other_one.write_beside(&store);
    other_two.write_beside(&store);
    assert_eq!(store.main_hash(2).unwrap(), Some(two.hash));
    assert_eq!(store.head().unwrap(), Some(two.hash));
    let enacted = [other_one.number_and_hash(), other_two.number_and_hash(), other_three.number_and_hash()];
    other_three.write(&store, Some((&enacted, &[two.number_and_hash(), one.number_and_hash()])));
    let entry = |block: &TestBlock, is_main| HeightEntry {
        hash: block.hash,
        total_difficulty: block.total_difficulty,
        is_main,
    };
    assert_eq!(store.blocks_at(1).unwrap(), [entry(&one, false), entry(&other_one, true)]);
    assert_eq!(store.blocks_at(2).unwrap(), [entry(&two, false), entry(&other_two, true)]);
    assert_eq!(store.blocks_at(3).unwrap(), [entry(&other_three, true)]);
    assert_eq!(store.head().unwrap(), Some(other_three.hash));
    // A shorter branch with a higher difficulty leaves the heights above it without a main block.
    let heavy = TestBlock::new(2, "heavy");
    heavy.write(
        &store,
        Some((&[heavy.number_and_hash()], &[other_three.number_and_hash(), other_two.number_and_hash()])),
    );
    assert_eq!(store.main_hash(3).unwrap(), None);
    assert_eq!(store.main_hash(2).unwrap(), Some(heavy.hash));
    assert_eq!(store.highest_number().unwrap(), Some(3));
}

#[test]
fn a_transaction_can_be_in_several_blocks() {
    let store = temporary();
    let blocks: Vec<TestBlock> =
        (0..100).map(|n| TestBlock::new(9, &n.to_string()).with_log("same", CONTRACT, &[])).collect();
    for block in &blocks {
        block.write_beside(&store);
    }
    let locations = store.transaction_locations(&keccak256("same")).unwrap();
    assert!(locations.iter().map(|location| location.block).eq(blocks.iter().map(|block| block.hash)));
}

#[test]
fn a_rewind_deletes_all_blocks_above_its_height() {
    let store = temporary();
    let shared = |number, name| TestBlock::new(number, name).with_log("shared", CONTRACT, &[]);
    let one = shared(1, "one").with_flat(b"key", Some(b"1"));
    let two = shared(2, "two").with_log("only in two", CONTRACT, &[]).with_flat(b"key", Some(b"2"));
    let beside = TestBlock::new(2, "beside");
    one.write_best(&store);
    let before = two.write_best(&store);
    beside.write_beside(&store);
    let retracted = [two.number_and_hash()];
    let difference = &store.difference(&retracted, &[]).unwrap();
    let (state_root, flushed) = (B256::ZERO, None);
    let rewind = Rewind { height: 1, head: one.hash, retracted: &retracted, difference, state_root, flushed };
    let generation = store.delete_above(rewind).unwrap();
    assert_eq!(generation, before + 1);
    assert_eq!(store.head().unwrap(), Some(one.hash));
    assert_eq!(store.highest_number().unwrap(), Some(1));
    assert!(store.blocks_at(2).unwrap().is_empty());
    for gone in [&two, &beside] {
        assert!(!store.has_block(&gone.hash).unwrap());
        assert!(store.receipts(&gone.hash).unwrap().is_none());
    }
    assert_eq!(
        store.transaction_locations(&keccak256("shared")).unwrap(),
        [TransactionLocation { block: one.hash, index: 0 }]
    );
    assert!(store.transaction_locations(&keccak256("only in two")).unwrap().is_empty());
    assert_eq!(store.flat_get(b"key").unwrap().unwrap().as_ref(), b"1");
}

#[test]
fn nodes_are_found_by_hash() {
    let store = temporary();
    let code = vec![0x5b; 24_576];
    TestBlock::new(1, "a").with_flat(b"code", Some(&code)).write_best(&store);
    assert_eq!(NodeSource::get(&store, &keccak256(&code)).unwrap().unwrap(), code);
    assert_eq!(store.cached_by_hash(&keccak256(&code)).unwrap().unwrap(), code);
    assert!(NodeSource::get(&store, &B256::ZERO).unwrap().is_none());
}

#[test]
fn the_node_cache_is_bounded_and_correct() {
    let store = Arc::new(temporary());
    // The cache of long values and nodes is an eighth of a megabyte, enough for a third of these.
    let messages: Vec<Vec<u8>> = (0..2000_u32).map(|number| number.to_be_bytes().repeat(25)).collect();
    let mut block = TestBlock::new(1, "a");
    messages.iter().for_each(|message| block.nodes.push(&keccak256(message), message));
    block.write_best(&store);
    let cached = CachedNodes::new(&store);
    for step in [1, 7, 1999] {
        for message in messages.iter().cycle().step_by(step).take(messages.len()) {
            assert_eq!(cached.get(&keccak256(message)).unwrap().unwrap(), *message);
        }
        let bytes = store.stats().unwrap().value_cache_bytes;
        assert!((1 << 16..=1 << 17).contains(&bytes), "{bytes}");
    }
    let before = store.stats().unwrap().value_cache_reads;
    (0..2).for_each(|_| drop(cached.get(&keccak256(&messages[0])).unwrap().unwrap()));
    let after = store.stats().unwrap().value_cache_reads;
    assert!(after.hits > before.hits, "{before:?} {after:?}");
    assert!(cached.get(&B256::ZERO).unwrap().is_none());
}
