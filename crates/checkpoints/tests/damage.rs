use std::fs;
use std::sync::Arc;

use rhizome_blobs::BlobError;
use rhizome_chain::{ChainConfig, DataDir, ProvenBlocks};
use rhizome_checkpoints::{CheckpointError, OpenCheckpoint, restore_new};
use rhizome_primitives::ChainSpec;

use crate::{Scene, go_on};

fn scene() -> Scene {
    let scene = Scene::new(ProvenBlocks::All);
    scene.mine("data", 20);
    scene.create().unwrap();
    scene
}

#[test]
fn a_lost_piece_is_named() {
    let scene = scene();
    let lost = scene.pieces().remove(0);
    fs::remove_file(&lost).unwrap();
    for error in [scene.restore("restored").unwrap_err(), scene.latest().unwrap().verify(&go_on).unwrap_err()] {
        let CheckpointError::Blob(BlobError::NotFound { file }) = error else { panic!("{error}") };
        assert_eq!(file, lost.to_str().unwrap());
    }
    // The next checkpoint writes it again.
    scene.create().unwrap();
    scene.restore("restored").unwrap();
    assert_eq!(scene.open("restored").head().number(), 20);
}

#[test]
fn a_damaged_piece_is_named() {
    let scene = scene();
    let path = scene.pieces().remove(0);
    let intact = fs::read(&path).unwrap();
    let mut changed = intact.clone();
    *changed.last_mut().unwrap() ^= 1;
    let other = fs::read(scene.pieces().pop().unwrap()).unwrap();
    for damaged in [changed, intact[..intact.len() / 2].to_vec(), Vec::new(), vec![0; 9 << 20], other] {
        fs::write(&path, damaged).unwrap();
        for error in [scene.restore("restored").unwrap_err(), scene.latest().unwrap().verify(&go_on).unwrap_err()] {
            let CheckpointError::Damaged { file, .. } = error else { panic!("{error}") };
            assert_eq!(file, path.to_str().unwrap());
        }
    }
    fs::write(&path, intact).unwrap();
    scene.restore("restored").unwrap();
    assert_eq!(scene.open("restored").head().number(), 20);
}

#[test]
fn a_changed_manifest_is_refused() {
    let scene = scene();
    let path = scene.path("store").join(scene.latest().unwrap().manifest().name());
    let intact = fs::read(&path).unwrap();
    for position in (0..intact.len()).step_by(97) {
        let mut changed = intact.clone();
        changed[position] ^= 1;
        fs::write(&path, changed).unwrap();
        let refused = scene.restore("restored").unwrap_err();
        assert!(
            matches!(refused, CheckpointError::Damaged { .. } | CheckpointError::Publisher { .. }),
            "{position}: {refused}"
        );
    }
    assert!(!scene.path("restored").exists());
}

#[test]
fn another_key_is_refused() {
    let scene = scene();
    let refused = OpenCheckpoint::open(&scene.location(), None, Some(scene.other_key()));
    assert!(matches!(refused, Err(CheckpointError::Publisher { .. })));
}

#[test]
fn a_wrong_latest_is_refused() {
    let scene = scene();
    for content in ["", "../../etc/passwd", "0000000001-00.checkpoint"] {
        fs::write(scene.path("store").join("latest"), content).unwrap();
        assert!(matches!(scene.latest(), Err(CheckpointError::Damaged { .. })), "{content}");
    }
    // A manifest under the name of another block.
    let name = format!("{:010}-{}.checkpoint", 1, "0".repeat(64));
    let store = scene.path("store");
    let manifest = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    let manifest = manifest.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "checkpoint")).unwrap();
    fs::rename(manifest, store.join(&name)).unwrap();
    fs::write(store.join("latest"), name).unwrap();
    assert!(matches!(scene.latest(), Err(CheckpointError::Damaged { .. })));
}

#[test]
fn another_network_is_refused() {
    let scene = scene();
    let dir = scene.path("restored");
    let config = ChainConfig::new(Arc::new(ChainSpec::testnet()), DataDir::Path(dir.clone()));
    let refused = restore_new(&scene.latest().unwrap(), &dir, &config, &go_on);
    assert!(matches!(refused, Err(CheckpointError::Network { chain_id: 33, .. })), "{refused:?}");
    assert!(!dir.exists());
}

#[test]
fn other_trie_nodes_are_refused() {
    let scene = scene();
    let dir = scene.path("restored");
    let config = ChainConfig { proven_blocks: ProvenBlocks::Last(8), ..scene.config(&dir) };
    let refused = restore_new(&scene.latest().unwrap(), &dir, &config, &go_on);
    assert!(matches!(refused, Err(CheckpointError::Proofs { .. })), "{refused:?}");
}
