use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rhizome_primitives::{B256, keccak256};
use rhizome_storage::{ChainIdentity, DirectoryBlocks, Durability, NodeVersions, StorageError, Store, StoreOptions};

use crate::{TestBlock, identity, small};

#[test]
fn data_survives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let block = TestBlock::new(1, "a").with_flat(b"key", Some(b"value"));
    {
        let store = Store::open(dir.path(), &identity(), &small()).unwrap();
        assert_eq!(store.head().unwrap(), None);
        block.write_best(&store);
    }
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    assert_eq!(store.head().unwrap(), Some(block.hash));
    assert_eq!(store.block(&block.hash).unwrap().unwrap().raw, block.raw);
    assert_eq!(store.flat_get(b"key").unwrap().unwrap().as_ref(), b"value");
}

#[test]
fn writes_that_a_damaged_log_loses_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Store::open(dir.path(), &identity(), &small()).unwrap();
    let (first, second) = (TestBlock::new(1, "a"), TestBlock::new(2, "b"));
    let store = open();
    first.write_best(&store);
    second.write_best(&store);
    drop(store);
    let files = || fs::read_dir(dir.path().join("chain")).unwrap().map(|entry| entry.unwrap().path());
    let log = files().find(|path| path.extension().is_some_and(|extension| extension == "log")).unwrap();
    let mut bytes = fs::read(&log).unwrap();
    let at = bytes.windows(32).position(|part| part == second.hash.as_slice()).unwrap();
    bytes[at] ^= 1;
    fs::write(&log, &bytes).unwrap();
    let store = open();
    assert_eq!((store.head().unwrap(), store.has_lost_writes().unwrap()), (Some(first.hash), true));
    drop(store);
    let store = open();
    second.write_best(&store);
    // A kill: a loss of power may remove the end of the log.
    std::mem::forget(store);
    let log = files().filter(|path| path.extension().is_some_and(|extension| extension == "log")).max().unwrap();
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join("chain")).unwrap();
    for file in files().filter(|path| path.is_file()) {
        fs::copy(&file, copy.path().join("chain").join(file.file_name().unwrap())).unwrap();
    }
    fs::write(copy.path().join("chain").join(log.file_name().unwrap()), b"").unwrap();
    let store = Store::open(copy.path(), &identity(), &small()).unwrap();
    assert_eq!((store.head().unwrap(), store.has_lost_writes().unwrap()), (Some(first.hash), false));
}

#[test]
fn a_log_that_is_damaged_before_its_end_is_noticed_after_a_kill() {
    // Several writes in a block of the log, and several blocks for a write.
    for length in [3_000, 150_000] {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), &identity(), &small()).unwrap();
        let raw: Vec<u8> = (0..length).map(|index: u32| keccak256(index.to_be_bytes())[0]).collect();
        let blocks: Vec<_> =
            (1..=12).map(|number| TestBlock { raw: raw.clone(), ..TestBlock::new(number, "a") }).collect();
        for block in &blocks {
            block.write_best(&store);
        }
        let log = logs_of(dir.path()).pop().unwrap();
        let whole = fs::read(&log).unwrap();
        let block_at = |index: usize| whole.windows(32).position(|part| part == blocks[index].hash.as_slice()).unwrap();
        let opened = |bytes: &[u8]| {
            let copy = tempfile::tempdir().unwrap();
            copy_folder(&dir.path().join("chain"), &copy.path().join("chain")).unwrap();
            fs::write(copy.path().join("chain").join(log.file_name().unwrap()), bytes).unwrap();
            let blocks = DirectoryBlocks::open(copy.path(), &identity()).unwrap();
            let found = (blocks.last(), blocks.has_lost_writes());
            let head = blocks.main_hash(found.0).unwrap();
            drop(blocks);
            let store = Store::open(copy.path(), &identity(), &small()).unwrap();
            assert_eq!((store.head().unwrap(), store.has_lost_writes().unwrap()), (head, found.1));
            found
        };
        let at = block_at(6);
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        let mut zeroed = whole.clone();
        zeroed[at..at + 1_000].fill(0);
        assert_eq!(opened(&whole), (12, false));
        assert_eq!(opened(&damaged), (6, true));
        assert_eq!(opened(&zeroed), (6, true));
        // The end of a log is lost, or a kill or a full disk has ended a write.
        assert_eq!(opened(&whole[..at]), (6, false));
        assert_eq!(opened(&whole[..(at + block_at(7)) / 2]), (6, false));
        assert_eq!(opened(&whole[..whole.len() - 1]), (11, false));
    }
}

#[test]
fn a_directory_opens_only_once_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(dir.path(), &identity(), &small()).unwrap();
    assert!(matches!(Store::open(dir.path(), &identity(), &small()), Err(StorageError::Locked { .. })));
    drop(first);
    Store::open(dir.path(), &identity(), &small()).unwrap();
}

#[test]
fn a_directory_of_another_chain_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path(), &identity(), &small()).unwrap());
    let other = ChainIdentity { chain_id: 33, genesis: B256::ZERO };
    match Store::open(dir.path(), &other, &small()) {
        Err(StorageError::WrongChain { expected, found, .. }) => {
            assert_eq!(expected, other);
            assert_eq!(found, identity());
        }
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn other_node_versions_name_their_setting() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path(), &identity(), &small()).unwrap());
    let options = StoreOptions { node_versions: NodeVersions::Current, ..small() };
    let error = Store::open(dir.path(), &identity(), &options).err().unwrap();
    assert!(matches!(error, StorageError::WrongNodeVersions { .. }), "{error}");
    assert!(error.to_string().contains(" (storage.proofs): `rhizome migrate"), "{error}");
    assert!(error.to_string().ends_with("set storage.proofs to all"), "{error}");
}

#[test]
fn an_unusable_directory_is_named_in_the_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = Store::open(&file.join("data"), &identity(), &small()).err().unwrap();
    assert!(matches!(error, StorageError::NotWritable { .. }), "{error}");
    assert!(error.to_string().contains("file/data"), "{error}");
}

#[test]
fn damaged_files_fail_the_start() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path(), &identity(), &small()).unwrap());
    for entry in fs::read_dir(dir.path().join("chain")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("MANIFEST") {
            fs::write(path, b"this is no manifest").unwrap();
        }
    }
    let error = Store::open(dir.path(), &identity(), &small()).err().unwrap();
    assert!(matches!(error, StorageError::Damaged { .. }), "{error}");
}

#[test]
fn a_missing_list_of_files_is_named() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path(), &identity(), &small()).unwrap());
    let name = fs::read_to_string(dir.path().join("chain/CURRENT")).unwrap();
    let name = format!("chain/{}", name.trim_end());
    fs::remove_file(dir.path().join(&name)).unwrap();
    let error = Store::open(dir.path(), &identity(), &small()).err().unwrap();
    assert!(matches!(error, StorageError::Damaged { .. }), "{error}");
    assert!(error.to_string().ends_with(&format!("is damaged: {name} is missing")), "{error}");
}

#[test]
fn a_temporary_store_removes_its_directory() {
    let store = Store::open_temporary(&identity(), &small()).unwrap();
    let dir = store.dir().to_path_buf();
    TestBlock::new(1, "a").write_best(&store);
    assert!(dir.exists());
    drop(store);
    assert!(!dir.exists());
}

#[test]
fn a_checkpoint_is_independent_of_its_original() {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    let (first, second) = (TestBlock::new(1, "a"), TestBlock::new(2, "b"));
    first.write_best(&store);
    store.checkpoint(&copy.path().join("chain")).unwrap();
    second.write_best(&store);
    let copied = Store::open(copy.path(), &identity(), &small()).unwrap();
    assert_eq!(copied.head().unwrap(), Some(first.hash));
    assert!(!copied.has_block(&second.hash).unwrap());
}

#[test]
fn a_copy_for_its_trie_has_no_files_of_other_columns() {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = StoreOptions { node_versions: NodeVersions::Current, ..small() };
    let store = Store::open(dir.path(), &identity(), &options).unwrap();
    let value = [7; 5000];
    for number in 0..20 {
        TestBlock::new(number, "a").with_flat(&number.to_be_bytes(), Some(&value)).write_best(&store);
    }
    store.copy_to(copy.path()).unwrap();
    drop(store);
    Store::empty_all_but_trie(copy.path(), &options).unwrap();
    let copied = Store::open(copy.path(), &identity(), &options).unwrap();
    assert_eq!(copied.by_hash(&keccak256(value)).unwrap().unwrap(), value[..]);
    assert!(!copied.has_block(&TestBlock::new(1, "a").hash).unwrap());
    let bytes = copied.disk_bytes().unwrap();
    assert_eq!((bytes.blocks, bytes.history, bytes.nodes), (0, 0, 0), "{bytes:?}");
    let files = files_of(copy.path());
    let tables: u64 = files.iter().filter(|(name, _)| name.ends_with(".sst")).map(|(_, length)| length).sum();
    assert_eq!(tables, bytes.state + bytes.other, "{files:?}");
}

#[test]
fn blocks_are_written_with_durability_against_power_failures() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { durability: Durability::Power, ..small() };
    let store = Store::open(dir.path(), &identity(), &options).unwrap();
    TestBlock::new(1, "a").write_best(&store);
    assert_eq!(store.highest_number().unwrap(), Some(1));
}

#[test]
fn a_directory_of_another_layout_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path(), &identity(), &small()).unwrap());
    set_layout(dir.path(), 1);
    let error = Store::open(dir.path(), &identity(), &small()).err().unwrap();
    assert!(matches!(error, StorageError::WrongLayout { expected: 4, found: 1, .. }), "{error}");
    assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
}

#[test]
fn a_directory_without_its_list_of_files_is_damaged_and_stays_as_it_is() {
    for node_versions in [NodeVersions::All, NodeVersions::Current] {
        let (dir, options) = (tempfile::tempdir().unwrap(), StoreOptions { node_versions, ..small() });
        let store = Store::open(dir.path(), &identity(), &options).unwrap();
        TestBlock::new(1, "a").write_best(&store);
        drop(store);
        let current = dir.path().join("chain/CURRENT");
        let list = fs::read(&current).unwrap();
        fs::remove_file(&current).unwrap();
        let before = files_of(dir.path());
        let error = Store::open(dir.path(), &identity(), &options).err().unwrap();
        assert!(matches!(error, StorageError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("chain/CURRENT is missing"), "{error}");
        assert_eq!(files_of(dir.path()), before);
        fs::write(current, list).unwrap();
        let store = Store::open(dir.path(), &identity(), &options).unwrap();
        assert_eq!(store.head().unwrap(), Some(TestBlock::new(1, "a").hash));
    }
}

#[test]
fn a_database_whose_creation_was_interrupted_opens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("chain");
    fs::create_dir_all(&path).unwrap();
    // Before the list of files, and between two columns.
    fs::write(path.join("MANIFEST-000001"), b"").unwrap();
    drop(Store::open(dir.path(), &identity(), &small()).unwrap());
    let mut options = rocksdb::Options::default();
    let all = rocksdb::DB::list_cf(&options, &path).unwrap();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    for columns in [vec!["default".to_owned(), "nodes".to_owned()], all] {
        fs::remove_dir_all(&path).unwrap();
        drop(rocksdb::DB::open_cf(&options, &path, columns).unwrap());
        let error = Store::open_read_only(dir.path(), &identity(), &small()).err().unwrap();
        assert!(matches!(error, StorageError::NoChain { .. }), "{error}");
        drop(Store::open(dir.path(), &identity(), &small()).unwrap());
        Store::open_read_only(dir.path(), &identity(), &small()).unwrap();
    }
}

#[test]
fn another_layout_is_rejected_before_its_columns_change() {
    let columns = |path: &Path| rocksdb::DB::list_cf(&rocksdb::Options::default(), path).unwrap();
    let mut options = rocksdb::Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    for (layout, names) in [(3_u32, vec!["default", "blocks", "heights"]), (5, vec!["default", "blocks", "new"])] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("chain");
        let database = rocksdb::DB::open_cf(&options, &path, &names).unwrap();
        database.put(b"layout", layout.to_be_bytes()).unwrap();
        database.put(b"identity", [&[identity().chain_id], identity().genesis.as_slice()].concat()).unwrap();
        drop(database);
        let error = Store::open(dir.path(), &identity(), &small()).err().unwrap();
        assert!(matches!(error, StorageError::WrongLayout { found, .. } if found == layout), "{error}");
        assert_eq!(columns(&path), names);
    }
}

#[test]
fn a_database_of_another_program_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = rocksdb::Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    drop(rocksdb::DB::open_cf(&options, dir.path().join("chain"), ["default", "other"]).unwrap());
    let error = Store::open(dir.path(), &identity(), &small()).err().unwrap();
    assert!(error.to_string().contains("a column other, and no identity"), "{error}");
}

/// Returns the names and lengths of the files in the database folder, without messages of the engine.
fn files_of(dir: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(dir.join("chain")).unwrap().map(Result::unwrap);
    let file = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len());
    let mut files: Vec<_> = entries.map(file).filter(|(name, _)| !name.starts_with("LOG")).collect();
    files.sort();
    files
}

/// Changes the layout that a directory names.
pub(crate) fn set_layout(dir: &Path, layout: u32) {
    let path = dir.join("chain");
    let options = rocksdb::Options::default();
    let columns = rocksdb::DB::list_cf(&options, &path).unwrap();
    // Opened without merge operators: rows that need them are not read here.
    let database = rocksdb::DB::open_cf(&options, &path, columns).unwrap();
    database.put(b"layout", layout.to_be_bytes()).unwrap();
}

#[test]
fn a_directory_without_a_log_opens() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path(), &identity(), &small()).unwrap());
    logs_of(dir.path()).iter().for_each(|log| fs::remove_file(log).unwrap());
    drop(Store::open(dir.path(), &identity(), &small()).unwrap());
    Store::open(dir.path(), &identity(), &small()).unwrap();
}

/// The end of a log is lost, but not the log after it: the writes of the later log must not be applied.
#[test]
fn writes_behind_lost_writes_are_lost() {
    // A copy that was made while the database wrote a table file is no state of a disk.
    let missing = (0..20).find_map(|_attempt| missing_blocks_after_power_loss()).unwrap();
    assert_eq!(missing, Vec::<u64>::new());
}

/// The older of two logs is lost: the writes of the later one must not be applied, nor the older ones be given up silently.
#[test]
fn a_missing_log_is_named() {
    // A copy that is made before the table file belongs to the database opens with an earlier head.
    let (error, log) = (0..20).find_map(|_attempt| error_without_older_log()).unwrap();
    assert!(matches!(error, StorageError::Damaged { .. }), "{error}");
    assert!(error.to_string().ends_with(&format!("is damaged: chain/{log} is missing")), "{error}");
}

/// Copies a running database when the rows of one column are in a table file and those of the others in two logs. Returns the error of
/// opening the copy without the older log, and the name of this log.
fn error_without_older_log() -> Option<(StorageError, String)> {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    let raw: Vec<u8> = (0..25_000_u32).flat_map(|index| keccak256(index.to_be_bytes()).0).collect();
    let is_table = |(name, _length): &(String, u64)| name.ends_with(".sst");
    for number in 1_u64..5 {
        let block = TestBlock { raw: raw.clone(), ..TestBlock::new(number, "a") };
        block.with_flat(&number.to_be_bytes(), Some(b"value")).write_best(&store);
    }
    while !files_of(dir.path()).iter().any(is_table) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(50));
    copy_folder(dir.path(), copy.path())?;
    let [older, _later] = &logs_of(copy.path())[..] else { return None };
    let name = older.file_name()?.to_str()?.to_owned();
    fs::remove_file(older).unwrap();
    match Store::open(copy.path(), &identity(), &small()) {
        Err(error) => Some((error, name)),
        Ok(store) => {
            assert_eq!(store.head().unwrap(), None, "the database opens without its older blocks");
            None
        }
    }
}

/// Returns the blocks up to the head whose state is missing; `None` if the copy of the files is not consistent.
fn missing_blocks_after_power_loss() -> Option<Vec<u64>> {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    let value: Vec<u8> =
        (0..200_000_u32).flat_map(|index| rhizome_primitives::keccak256(index.to_be_bytes()).0[..4].to_vec()).collect();
    // The state of the disk at a loss of power: an older state with a part of its log, and the log that was begun later.
    let copy = tempfile::tempdir().unwrap();
    let first = logs_of(dir.path()).pop().unwrap();
    let mut lengths = Vec::new();
    for number in 1.. {
        TestBlock::new(number, "a").with_flat(&number.to_be_bytes(), Some(&value)).write_best(&store);
        let log = logs_of(dir.path()).pop().unwrap();
        if log == first {
            lengths.push(fs::metadata(log).unwrap().len());
            copy_folder(dir.path(), copy.path())?;
        } else {
            fs::copy(&log, copy.path().join("chain").join(log.file_name().unwrap())).unwrap();
            break;
        }
    }
    drop(store);
    let [older, _later] = &logs_of(copy.path())[..] else { return None };
    let [.., end, _last] = lengths[..] else { return None };
    fs::File::options().write(true).open(older).unwrap().set_len(end).unwrap();
    let store = Store::open(copy.path(), &identity(), &small()).ok()?;
    let head = store.head().unwrap().unwrap();
    let height = (1..).find(|number| TestBlock::new(*number, "a").hash == head).unwrap();
    Some((1..=height).filter(|number| store.flat_get(&number.to_be_bytes()).unwrap().is_none()).collect())
}

/// Returns the write-ahead logs of RocksDB, oldest first.
fn logs_of(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("chain")).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "log")).collect();
    logs.sort();
    logs
}

/// Returns `None` if a file disappears meanwhile.
fn copy_folder(from: &Path, to: &Path) -> Option<()> {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().ok()?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target).ok()?),
        }
    }
    Some(())
}
