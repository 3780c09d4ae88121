use std::fs;
use std::path::Path;

use rhizome_primitives::B256;
use rhizome_storage::{ChainIdentity, DirectoryBlocks, StorageError, Store, directory_chain};

use crate::directory::set_layout;
use crate::{TestBlock, identity, small};

/// Writes a chain of two blocks with a branch that is higher. Returns the blocks of the chain.
fn write_chain(dir: &Path) -> [TestBlock; 2] {
    let blocks = [TestBlock::new(1, "a"), TestBlock::new(2, "a").with_flat(b"key", Some(b"value"))];
    let store = Store::open(dir, &identity(), &small()).unwrap();
    blocks.iter().for_each(|block| _ = block.write_best(&store));
    TestBlock::new(2, "b").write_beside(&store);
    TestBlock::new(3, "b").write_beside(&store);
    blocks
}

#[test]
fn the_best_chain_is_read_and_the_directory_stays_as_it_is() {
    for layout in [3, 4] {
        let dir = tempfile::tempdir().unwrap();
        let blocks = write_chain(dir.path());
        set_layout(dir.path(), layout);
        let names = || fs::read_dir(dir.path().join("chain")).unwrap().count();
        let before = names();
        let opened = DirectoryBlocks::open(dir.path(), &identity()).unwrap();
        assert_eq!(opened.last(), 2);
        for block in blocks {
            assert_eq!(opened.main_hash(block.number).unwrap(), Some(block.hash));
            let read = opened.main_block(block.number).unwrap();
            assert_eq!((read.raw.to_vec(), read.total_difficulty), (block.raw, block.total_difficulty));
        }
        assert_eq!(opened.main_hash(3).unwrap(), None);
        assert!(opened.main_block(3).is_err());
        assert_eq!(names(), before);
    }
}

#[test]
fn a_store_for_reading_refuses_writes_and_shares_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let blocks = write_chain(dir.path());
    assert_eq!(directory_chain(dir.path()).unwrap().0, identity());
    let stores = [(); 2].map(|()| Store::open_read_only(dir.path(), &identity(), &small()).unwrap());
    for store in &stores {
        assert_eq!(store.head().unwrap(), Some(blocks[1].hash));
        assert_eq!(store.block(&blocks[0].hash).unwrap().unwrap().raw.to_vec(), blocks[0].raw);
        assert!(store.write_bans("no").is_err());
    }
    assert!(matches!(Store::open(dir.path(), &identity(), &small()), Err(StorageError::Locked { .. })));
    drop(stores);
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    assert_eq!((store.head().unwrap(), store.bans().unwrap()), (Some(blocks[1].hash), String::new()));
    let locked = Store::open_read_only(dir.path(), &identity(), &small());
    assert!(matches!(locked, Err(StorageError::Locked { .. })));
}

#[test]
fn other_layouts_and_chains_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    write_chain(dir.path());
    let other = ChainIdentity { chain_id: 33, genesis: B256::ZERO };
    let error = DirectoryBlocks::open(dir.path(), &other).err().unwrap();
    assert!(matches!(error, StorageError::WrongChain { .. }), "{error}");
    for layout in [2, 5] {
        set_layout(dir.path(), layout);
        let error = DirectoryBlocks::open(dir.path(), &identity()).err().unwrap();
        assert!(matches!(error, StorageError::WrongLayout { found, .. } if found == layout), "{error}");
    }
}

#[test]
fn a_directory_is_open_to_readers_or_to_one_node() {
    let dir = tempfile::tempdir().unwrap();
    write_chain(dir.path());
    let first = DirectoryBlocks::open(dir.path(), &identity()).unwrap();
    let second = DirectoryBlocks::open(dir.path(), &identity()).unwrap();
    assert!(matches!(Store::open(dir.path(), &identity(), &small()), Err(StorageError::Locked { .. })));
    drop((first, second));
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    assert!(matches!(DirectoryBlocks::open(dir.path(), &identity()), Err(StorageError::Locked { .. })));
    drop(store);
}

#[test]
fn an_absent_directory_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let error = DirectoryBlocks::open(dir.path(), &identity()).err().unwrap();
    assert!(matches!(error, StorageError::NoChain { .. }), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
