use super::{TestBlock, identity, small};
use rhizome_primitives::U256;
use rhizome_storage::{BlockLogRows, LogPlace, Store, StoreOptions};

fn noting() -> StoreOptions {
    StoreOptions { notes_blocks: true, ..small() }
}

#[test]
fn new_blocks_are_noted_until_they_are_published() {
    let dir = tempfile::tempdir().unwrap();
    let (genesis, one, two, side) =
        (TestBlock::new(0, "a"), TestBlock::new(1, "a"), TestBlock::new(2, "a"), TestBlock::new(1, "b"));
    {
        let store = Store::open(dir.path(), &identity(), &noting()).unwrap();
        let rows = BlockLogRows::new(&store);
        for block in [&genesis, &one, &two] {
            block.write_best(&store);
        }
        assert_eq!(rows.unpublished(9).unwrap(), [one.number_and_hash(), two.number_and_hash()], "not genesis");
        assert!(!rows.has_unread() && rows.unpublished(9).unwrap().is_empty(), "read once");
        side.write_beside(&store);
        assert!(rows.has_unread(), "a block of a branch below");
        rows.remove(&[one.number_and_hash()]).unwrap();
        assert_eq!(rows.unpublished(9).unwrap(), [side.number_and_hash(), two.number_and_hash()]);
        assert_eq!(rows.block(&side.hash).unwrap().unwrap(), (side.raw.clone().into(), U256::from(10)));
        // Executed later: the same block is written again.
        side.write(&store, Some((&[side.number_and_hash()], &[two.number_and_hash(), one.number_and_hash()])));
        rows.remove(&[side.number_and_hash()]).unwrap();
        assert_eq!(rows.unpublished(9).unwrap(), [two.number_and_hash()]);
    }
    let store = Store::open(dir.path(), &identity(), &noting()).unwrap();
    let rows = BlockLogRows::new(&store);
    assert_eq!(rows.unpublished(9).unwrap(), [two.number_and_hash()], "notes survive the process");
    let place = LogPlace { log: 7, sequence: 0 };
    rows.note_from(0, place).unwrap();
    assert_eq!((rows.unpublished(2).unwrap().len(), rows.has_unread()), (2, true), "a page");
    rows.read_again(0);
    assert_eq!((rows.unpublished(9).unwrap().len(), rows.place().unwrap()), (3, Some(place)));
}

#[test]
fn blocks_are_not_noted_without_a_fleet() {
    let store = super::temporary();
    for number in [0, 1] {
        TestBlock::new(number, "a").write_best(&store);
    }
    assert!(BlockLogRows::new(&store).unpublished(9).unwrap().is_empty());
}

#[test]
fn the_place_joins_the_batch_of_the_next_block() {
    let store = super::temporary();
    let rows = BlockLogRows::new(&store);
    TestBlock::new(0, "a").write_best(&store);
    let place = |sequence| LogPlace { log: 7, sequence };
    rows.set_place(place(3));
    rows.set_place(place(4));
    assert_eq!(rows.place().unwrap(), None);
    TestBlock::new(1, "a").write_best(&store);
    assert_eq!(rows.place().unwrap(), Some(place(4)));
    rows.set_place(place(5));
    rows.write_place().unwrap();
    rows.write_place().unwrap();
    assert_eq!(rows.place().unwrap(), Some(place(5)));
}
