//! Trie nodes between journal and node files, and damage to these files.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use rhizome_primitives::{B256, keccak256};
use rhizome_storage::{StorageError, Store, StoreOptions};

use crate::{TestBlock, identity, small};

/// Options with a journal of 256 KB, so that half a dozen blocks of `value` make an index segment.
fn small_journal() -> StoreOptions {
    StoreOptions { write_buffer_bytes: 1 << 20, ..small() }
}

fn open(dir: &Path) -> Store {
    Store::open(dir, &identity(), &small_journal()).unwrap()
}

/// The only node of a block.
fn value(number: u64) -> Vec<u8> {
    let mut value = number.to_be_bytes().to_vec();
    value.resize(4000 + number as usize, number as u8);
    value
}

fn hash(number: u64) -> B256 {
    keccak256(value(number))
}

fn write(store: &Store, numbers: std::ops::Range<u64>) {
    for number in numbers {
        TestBlock::new(number, "n").with_flat(b"key", Some(&value(number))).write_best(store);
    }
}

#[track_caller]
fn expect_values(store: &Store, numbers: std::ops::Range<u64>) {
    for number in numbers {
        assert_eq!(store.by_hash(&hash(number)).unwrap().unwrap(), value(number), "{number}");
    }
    assert_eq!(store.by_hash(&B256::ZERO).unwrap(), None);
}

fn nodes_folder(dir: &Path) -> PathBuf {
    dir.join("chain").join("nodes")
}

/// Returns the files of the node folder in order of their names.
fn files(dir: &Path, kind: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(nodes_folder(dir)) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == kind)).collect();
    paths.sort();
    paths
}

#[test]
fn nodes_are_flushed_to_files_and_survive_restarts() {
    let dir = tempfile::tempdir().unwrap();
    for start in [0, 500, 1000] {
        // 2 MB a run: several segments, and a rest that is only in the journal.
        let store = open(dir.path());
        for number in start..start + 500 {
            write(&store, number..number + 1);
            let probe = (number * 7919) % (number + 1);
            assert_eq!(store.by_hash(&hash(probe)).unwrap().unwrap(), value(probe), "{probe} of {number}");
        }
    }
    expect_values(&open(dir.path()), 0..1500);
    let segments = files(dir.path(), "index");
    assert!(!segments.is_empty() && segments.len() < 10, "segments are merged: {segments:?}");
}

#[test]
fn leftovers_of_a_crash_are_removed_or_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    write(&open(dir.path()), 0..300);
    let mut last = OpenOptions::new().append(true).open(files(dir.path(), "data").pop().unwrap()).unwrap();
    last.write_all(&[7; 10_000]).unwrap();
    let folder = nodes_folder(dir.path());
    let unfinished = [folder.join("000001.data"), folder.join("999999.index"), folder.join("999999.merge")];
    for path in &unfinished {
        fs::write(path, b"half a file").unwrap();
    }
    // Entries that are in none of the merged segments.
    for segment in files(dir.path(), "index") {
        fs::write(segment.with_extension("merge"), [7; 64]).unwrap();
    }
    fs::write(folder.join("notes.txt"), b"not ours").unwrap();
    let store = open(dir.path());
    assert!(unfinished.iter().all(|path| !path.exists()));
    assert!(folder.join("notes.txt").exists());
    write(&store, 300..600);
    expect_values(&store, 0..600);
    drop(store);
    expect_values(&open(dir.path()), 0..600);
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_power_failure_removes_whole_blocks() {
    // Large enough that the engine never starts a new log, and that nodes are flushed twice: in the middle of the run
    // and at its end.
    let options = StoreOptions { write_buffer_bytes: 32 << 20, ..small() };
    let open = |dir: &Path| Store::open(dir, &identity(), &options).unwrap();
    let dir = tempfile::tempdir().unwrap();
    write(&open(dir.path()), 0..2000);
    assert_eq!(files(dir.path(), "index").len(), 2);
    let logs = |dir: &Path| -> Vec<PathBuf> {
        let paths = fs::read_dir(dir.join("chain")).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|end| end == "log")).collect()
    };
    let [log] = &logs(dir.path())[..] else { panic!("one log: {:?}", logs(dir.path())) };
    let length = fs::metadata(log).unwrap().len();
    let mut counts = Vec::new();
    for part in 0..=5 {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(dir.path(), copy.path());
        let log = OpenOptions::new().write(true).open(copy.path().join(log.strip_prefix(dir.path()).unwrap())).unwrap();
        log.set_len(length * part / 5).unwrap();
        let store = open(copy.path());
        let count = store.highest_number().unwrap().map_or(0, |head| head + 1);
        if let Some(head) = count.checked_sub(1) {
            assert_eq!(store.main_hash(head).unwrap(), store.head().unwrap());
        }
        expect_values(&store, 0..count);
        // Writing continues from there.
        write(&store, count..2100);
        expect_values(&store, 0..2100);
        counts.push(count);
    }
    assert!(
        counts.is_sorted() && counts[0] == 0 && counts[2] > 0 && counts[2] < counts[3] && counts[5] == 2000,
        "{counts:?}"
    );
}

#[test]
fn nodes_are_readable_while_they_move() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let written = AtomicU64::new(0);
    thread::scope(|scope| {
        for seed in 1..4 {
            let (store, written) = (&store, &written);
            scope.spawn(move || {
                let mut number = seed;
                loop {
                    let limit = written.load(Ordering::Acquire);
                    if limit == 1000 {
                        break;
                    }
                    number = (number * 6_364_136 + 1_442_695) % 1_000_003;
                    if limit > 0 {
                        expect_values(store, number % limit..number % limit + 1);
                    }
                }
            });
        }
        for number in 0..1000 {
            write(&store, number..number + 1);
            written.store(number + 1, Ordering::Release);
        }
    });
}

#[test]
fn reading_a_damaged_node_fails() {
    let dir = tempfile::tempdir().unwrap();
    write(&open(dir.path()), 0..300);
    let data = OpenOptions::new().read(true).write(true).open(files(dir.path(), "data").pop().unwrap()).unwrap();
    // The first node is at the start of the file.
    let mut byte = [0];
    data.read_exact_at(&mut byte, 1000).unwrap();
    data.write_all_at(&[byte[0] ^ 1], 1000).unwrap();
    let store = open(dir.path());
    let error = store.by_hash(&hash(0)).unwrap_err();
    assert!(matches!(error, StorageError::Damaged { .. }), "{error}");
    let fault = "nodes/000000.data, offset 0: a node does not match its hash; its place is from nodes/000000.index";
    assert!(error.to_string().ends_with(fault), "{error}");
    expect_values(&store, 1..300);
    // A hash that shares its prefix with a stored one is absent.
    let mut alike = hash(1);
    alike.0[31] ^= 1;
    assert_eq!(store.by_hash(&alike).unwrap(), None);
}

#[test]
fn missing_and_truncated_files_fail_the_start() {
    for kind in ["data", "index"] {
        let dir = tempfile::tempdir().unwrap();
        write(&open(dir.path()), 0..300);
        let path = files(dir.path(), kind).pop().unwrap();
        let expect_damaged = || {
            let error = Store::open(dir.path(), &identity(), &small_journal()).err().unwrap();
            assert!(matches!(error, StorageError::Damaged { .. }), "{kind}: {error}");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(error.to_string().contains(&format!("is damaged: nodes/{name}: ")), "{error}");
        };
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
        expect_damaged();
        fs::remove_file(&path).unwrap();
        expect_damaged();
        // The end of a damaged log may have named other files.
        let error = Store::open(dir.path(), &identity(), &small_journal()).err().unwrap();
        assert!(error.to_string().ends_with("removed, or the end of the write-ahead log is lost"), "{error}");
    }
}

#[test]
fn a_checkpoint_and_its_original_change_independently() {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(dir.path());
    write(&store, 0..300);
    store.checkpoint(&copy.path().join("chain")).unwrap();
    let copied = open(copy.path());
    write(&store, 300..600);
    write(&copied, 600..900);
    expect_values(&store, 0..600);
    expect_values(&copied, 0..300);
    expect_values(&copied, 600..900);
    assert_eq!((store.by_hash(&hash(700)).unwrap(), copied.by_hash(&hash(400)).unwrap()), (None, None));
    drop((store, copied));
    expect_values(&open(dir.path()), 0..600);
    expect_values(&open(copy.path()), 600..900);
}

#[test]
fn sizes_include_node_files() {
    let dir = tempfile::tempdir().unwrap();
    write(&open(dir.path()), 0..300);
    let store = open(dir.path());
    let nodes: u64 = files(dir.path(), "data").iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(nodes > 256 << 10);
    assert!(store.disk_bytes().unwrap().nodes >= nodes);
    assert!(store.stats().unwrap().file_bytes >= nodes);
}

#[test]
fn the_database_is_reopened_after_a_failed_write() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let notified = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&notified);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
    };
    store.on_write_fault(Box::new(count));
    // A folder of that name prevents the creation of a node file.
    let obstacle = nodes_folder(dir.path()).join("000000.data");
    fs::create_dir(&obstacle).unwrap();
    let try_write = |number: u64| {
        let block = TestBlock::new(number, "n").with_flat(b"key", Some(&value(number)));
        block.try_write(&store, None, Some((&[block.number_and_hash()], &[])))
    };
    let failed = (0..10_000).find(|number| try_write(*number).is_err()).unwrap();
    let fault = store.write_fault().unwrap();
    assert!(!fault.is_full, "{fault:?}");
    assert_eq!(notified.load(Ordering::Relaxed), 1);
    assert!(matches!(try_write(failed), Err(StorageError::WriteFailed { .. })), "refused");
    assert_eq!(notified.load(Ordering::Relaxed), 2);
    expect_values(&store, 0..failed);

    assert!(store.reopen().is_err(), "the obstacle is still there");
    assert!(store.head().is_err(), "closed");
    fs::remove_dir(&obstacle).unwrap();
    let generation = store.generation();
    store.reopen().unwrap();
    assert!(store.generation() > generation);
    assert!(try_write(failed).is_err(), "refused until the caller clears the fault");
    store.clear_write_fault();
    assert_eq!(store.write_fault(), None);
    expect_values(&store, 0..failed);
    assert_eq!(store.head().unwrap(), Some(TestBlock::new(failed - 1, "n").hash));
    for number in failed..failed + 200 {
        try_write(number).unwrap();
    }
    drop(store);
    expect_values(&open(dir.path()), 0..failed + 200);
}
