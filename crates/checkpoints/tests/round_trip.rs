use std::ops::ControlFlow;

use rhizome_chain::ProvenBlocks;
use rhizome_checkpoints::{CheckpointError, Transferred, list};
use rhizome_storage::StorageError;

use crate::{Scene, go_on};

fn stop_half_way(progress: Transferred) -> ControlFlow<()> {
    if progress.done * 2 > progress.total { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn restores(proven_blocks: ProvenBlocks) {
    let scene = Scene::new(proven_blocks);
    scene.mine("data", 20);
    let created = scene.create().unwrap();
    assert_eq!(created.manifest.number, 20);
    assert_eq!(scene.restore("restored").unwrap().done, created.manifest.bytes());
    let (original, restored) = (scene.open("data"), scene.open("restored"));
    assert_eq!(restored.head().hash(), original.head().hash());
    // The restored chain continues.
    assert_eq!(restored.mine(crate::NOW).unwrap().number(), 21);
    assert!(!scene.path("data").join("copies").exists());
}

#[test]
fn a_restored_node_continues_the_chain() {
    restores(ProvenBlocks::All);
    restores(ProvenBlocks::Last(8));
}

#[test]
fn only_new_pieces_are_written() {
    let scene = Scene::new(ProvenBlocks::All);
    scene.mine("data", 20);
    let first = scene.create().unwrap();
    // Each open of the database writes some small files.
    let again = scene.create().unwrap();
    assert!(again.transferred.moved * 2 < first.transferred.moved, "{again:?}");
    scene.mine("data", 1);
    let second = scene.create().unwrap();
    assert!(second.transferred.moved < first.transferred.moved, "{second:?}");
    let numbers = |checkpoints: Vec<rhizome_checkpoints::OpenCheckpoint>| {
        checkpoints.iter().map(|one| one.manifest().number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(list(&scene.location(), None).unwrap()), [20, 21]);
    assert_eq!(scene.latest().unwrap().manifest().number, 21);
}

#[test]
fn an_upload_that_was_stopped_continues() {
    let scene = Scene::new(ProvenBlocks::All);
    scene.mine("data", 20);
    assert!(matches!(scene.create_until(&stop_half_way), Err(CheckpointError::Stopped)));
    let before = scene.pieces().len();
    assert!(before > 0);
    assert!(matches!(scene.latest(), Err(CheckpointError::NoCheckpoint { .. })));
    let created = scene.create().unwrap();
    let all: u64 = scene.pieces().iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
    assert!(created.transferred.moved < all, "{created:?}");
    scene.latest().unwrap().verify(&go_on).unwrap();
}

#[test]
fn a_restore_that_was_stopped_continues() {
    let scene = Scene::new(ProvenBlocks::All);
    scene.mine("data", 20);
    let created = scene.create().unwrap();
    assert!(matches!(scene.restore_until("restored", &stop_half_way), Err(CheckpointError::Stopped)));
    // No node opens a part of it.
    let unfinished = rhizome_chain::Chain::open(scene.config(&scene.path("restored")));
    assert!(matches!(unfinished, Err(rhizome_chain::ChainError::Storage(StorageError::UnfinishedRestore { .. }))));
    let again = scene.restore("restored").unwrap();
    assert!(again.moved < created.manifest.bytes(), "{again:?}");
    assert_eq!(scene.open("restored").head().number(), 20);
}

#[test]
fn another_checkpoint_replaces_an_unfinished_one() {
    let scene = Scene::new(ProvenBlocks::All);
    scene.mine("data", 20);
    scene.create().unwrap();
    assert!(matches!(scene.restore_until("restored", &stop_half_way), Err(CheckpointError::Stopped)));
    scene.mine("data", 5);
    scene.create().unwrap();
    scene.restore("restored").unwrap();
    assert_eq!(scene.open("restored").head().number(), 25);
}

#[test]
fn a_directory_with_a_chain_is_not_overwritten() {
    let scene = Scene::new(ProvenBlocks::All);
    scene.mine("data", 2);
    scene.create().unwrap();
    let refused = scene.restore("data");
    assert!(matches!(refused, Err(CheckpointError::Storage(StorageError::HasChain { .. }))), "{refused:?}");
    assert_eq!(scene.open("data").head().number(), 2);
}
