use rhizome_primitives::{B256, U256};
use rhizome_storage::{DirectoryBlocks, HeaderWrite, OlderBlocks, StateTakeover, Store, TakenBlock};

use crate::{TestBlock, identity, small};

/// Returns block `number` of a chain whose blocks have the difficulty 5 each, above a genesis of 1.
fn block(number: u64) -> TestBlock {
    let mut block = TestBlock::new(number, "a");
    block.total_difficulty = U256::from(1 + 5 * number);
    if number == 0 {
        block.hash = identity().genesis;
    }
    block
}

fn taken(number: u64, counted_difficulty: U256) -> TakenBlock {
    let TestBlock { hash, raw, .. } = block(number);
    let (senders, transaction_hashes) = (Vec::new(), Vec::new());
    TakenBlock { hash, number, raw, counted_difficulty, state_root: B256::ZERO, senders, transaction_hashes }
}

/// Compares the total difficulties of all stored blocks with the true ones.
fn compare(store: &Store, numbers: impl Iterator<Item = u64>) {
    for number in numbers {
        let expected = block(number);
        assert_eq!(store.block(&expected.hash).unwrap().unwrap().total_difficulty, expected.total_difficulty);
        let entries = store.blocks_at(number).unwrap();
        assert!(
            entries.iter().all(|entry| entry.total_difficulty == expected.total_difficulty),
            "{number} {entries:?}"
        );
    }
}

#[test]
fn total_difficulties_are_corrected_with_the_last_older_block() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    block(0).write_best(&store);
    // 14 too low.
    let bound = |number: u64| U256::from(1 + 5 * number).wrapping_sub(U256::from(14));
    StateTakeover::new(&store).finish(&[taken(5, bound(5))]).unwrap();
    let header = HeaderWrite { number: 6, hash: B256::repeat_byte(6), difficulty: bound(6), encoding: b"header" };
    store.write_headers(&[header], (6, header.hash)).unwrap();
    let older = OlderBlocks::new(&store);
    older.write(&[taken(4, bound(4)), taken(3, bound(3))]).unwrap();
    assert_eq!(store.block(&block(3).hash).unwrap().unwrap().total_difficulty, U256::from(2));
    older.write(&[taken(2, bound(2))]).unwrap();
    // Negative ones are exact for the count, and zero for readers.
    assert_eq!(older.counted_difficulty(&block(2).hash).unwrap(), Some(bound(2)));
    assert_eq!(store.block(&block(2).hash).unwrap().unwrap().total_difficulty, U256::ZERO);

    older.write_last(&[taken(1, bound(1))], U256::from(14)).unwrap();
    compare(&store, 0..=5);
    let header_difficulty =
        |store: &Store| store.header(6, &header.hash).unwrap().map(|header| header.difficulty).unwrap();
    assert_eq!(header_difficulty(&store), U256::from(31));
    block(6).write_best(&store);
    TestBlock { hash: B256::repeat_byte(7), ..block(6) }.write_beside(&store);
    drop(store);
    let blocks = DirectoryBlocks::open(dir.path(), &identity()).unwrap();
    let difficulties = (0..=6).map(|number| blocks.main_block(number).unwrap().total_difficulty);
    assert!(difficulties.eq((0..=6).map(|number| block(number).total_difficulty)));
    drop(blocks);
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    compare(&store, 0..=6);
    assert_eq!(store.blocks_at(6).unwrap().len(), 2);
    assert_eq!(header_difficulty(&store), U256::from(31));
}
