use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rhizome_chain::{Chain, ChainError, ChainEvent, ProvenBlocks};
use rhizome_checkpoints::{CheckpointError, CopyRequests, DataCopy, restore_beside};

use crate::{LIMIT, NOW, Scene, go_on};

#[test]
fn a_running_node_is_copied_while_it_mines() {
    let scene = Scene::new(ProvenBlocks::All);
    let chain = scene.open("data");
    let copied = Arc::clone(&chain);
    let requests = CopyRequests::start(scene.path("data"), move |path| copied.checkpoint(path)).unwrap();
    let is_over = AtomicBool::new(false);
    let created = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                chain.mine(NOW).unwrap();
                thread::sleep(Duration::from_millis(1));
            }
        });
        let created = scene.create().unwrap();
        is_over.store(true, Ordering::Relaxed);
        created
    });
    drop(requests);
    scene.restore("restored").unwrap();
    let restored = scene.open("restored");
    assert_eq!(restored.head().number(), created.manifest.number);
    assert_eq!(chain.main_hash(created.manifest.number).unwrap(), Some(restored.head().hash()));
    assert_eq!(restored.mine(NOW).unwrap().number(), created.manifest.number + 1);
}

#[test]
fn a_running_node_continues_with_a_restored_database() {
    for proven_blocks in [ProvenBlocks::All, ProvenBlocks::Last(8)] {
        let scene = Scene::new(proven_blocks);
        scene.mine("data", 20);
        let created = scene.create().unwrap();
        let dir = scene.path("late");
        let chain = scene.open("late");
        chain.mine(NOW + 100).unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        chain.on_event(Box::new(move |event| {
            if let ChainEvent::NewHead { number, .. } = event {
                seen.lock().unwrap().push(*number);
            }
        }));
        // Nothing changes before the head is verified.
        fs::create_dir_all(dir.join("restore").join("unverified")).unwrap();
        chain.open_restored().unwrap();
        assert_eq!(chain.head().number(), 1);
        restore_beside(&scene.latest().unwrap(), &dir, chain.config(), &go_on).unwrap();
        assert_eq!(chain.head().number(), 1);
        chain.open_restored().unwrap();
        assert_eq!(chain.head().hash(), created.manifest.hash);
        assert_eq!(chain.main_hash(20).unwrap(), Some(created.manifest.hash));
        let next = chain.mine(NOW).unwrap();
        assert_eq!(next.number(), 21);
        assert_eq!(heads.lock().unwrap().last_chunk(), Some(&[20, 21]));
        drop(chain);
        assert_eq!(scene.open("late").head().hash(), next.hash);
    }
}

#[test]
fn a_restored_database_without_an_address_index_gets_one() {
    let scene = Scene::new(ProvenBlocks::All);
    scene.mine("data", 20);
    scene.create().unwrap();
    let dir = scene.path("late");
    let mut config = scene.config(&dir);
    config.has_address_index = true;
    let chain = Chain::open(config).unwrap();
    chain.mine(NOW + 100).unwrap();
    restore_beside(&scene.latest().unwrap(), &dir, chain.config(), &go_on).unwrap();
    chain.open_restored().unwrap();
    assert_eq!(chain.head().number(), 20);
    let start = Instant::now();
    while chain.blocks_missing_in_address_index().unwrap() != Some(0) {
        assert!(start.elapsed() < LIMIT, "{:?}", chain.blocks_missing_in_address_index());
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_node_that_cannot_copy_says_so() {
    let scene = Scene::new(ProvenBlocks::All);
    let _chain = scene.open("data");
    let refuse = |_: &std::path::Path| Err(ChainError::ImporterStopped);
    let _requests = CopyRequests::start(scene.path("data"), refuse).unwrap();
    let Err(CheckpointError::Copy { reason, .. }) = DataCopy::make(&scene.path("data"), LIMIT) else {
        panic!("copied");
    };
    assert_eq!(reason, ChainError::ImporterStopped.to_string());
}

#[test]
fn a_program_that_makes_no_copy_is_named() {
    let scene = Scene::new(ProvenBlocks::All);
    let _chain = scene.open("data");
    let unanswered = DataCopy::make(&scene.path("data"), Duration::from_millis(300));
    assert!(matches!(unanswered, Err(CheckpointError::NoAnswer { .. })));
    assert!(!scene.path("data").join("copies").exists());
}

#[test]
fn the_copies_of_killed_programs_are_removed() {
    let scene = Scene::new(ProvenBlocks::All);
    scene.mine("data", 3);
    let copies = scene.path("data").join("copies");
    // A killed program leaves its files without the lock.
    for folder in ["killed", "half.partial", "killed/chain"] {
        fs::create_dir_all(copies.join(folder)).unwrap();
    }
    fs::write(copies.join("killed.request"), "").unwrap();
    let held = DataCopy::make(&scene.path("data"), LIMIT).unwrap();
    // Another program removes abandoned copies only.
    drop(DataCopy::make(&scene.path("data"), LIMIT).unwrap());
    assert_eq!(fs::read_dir(&copies).unwrap().count(), 2);
    drop(held);
    assert!(!copies.exists());
}
