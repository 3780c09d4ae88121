use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_archives::{ArchiveError, BLOCKS_PER_FILE, CreateOptions, create, verify};
use rhizome_blobs::{BlobStore, SigningKey};
use rhizome_chain::{Chain, ChainConfig, DataDir};
use rhizome_primitives::ChainSpec;

use crate::{import, limits, open, write};

fn development_chain() -> Arc<Chain> {
    let config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
    Chain::open(ChainConfig { cache_bytes: 8 << 20, write_buffer_bytes: 8 << 20, ..config }).unwrap()
}

/// One test, because the chain of more than one file takes its time.
#[test]
fn a_stopped_creation_continues_and_damage_in_the_second_file_spares_the_first() {
    let chain = development_chain();
    let last = BLOCKS_PER_FILE + 300;
    for number in 1..=last {
        chain.mine(1_800_000_000 + number).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let key = SigningKey::read_or_create(&folder.path().join("key")).unwrap();
    assert_eq!(SigningKey::read_or_create(&folder.path().join("key")).unwrap(), key);
    let path = folder.path().join("archive");
    let name = path.to_str().unwrap();
    let location = BlobStore::create(name, limits()).unwrap();
    let options = CreateOptions { key, to: u64::MAX };

    // Stopped in the second file: the first one is there, and nothing of the second.
    let stop = |number| if number > BLOCKS_PER_FILE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let stopped = create(&chain, &location, &options, stop).unwrap();
    assert_eq!((stopped.written, stopped.manifest.last()), (1, Some(BLOCKS_PER_FILE - 1)));
    assert_eq!(location.list().unwrap().len(), 2);
    let created = create(&chain, &location, &options, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((created.written, created.manifest.last()), (1, Some(last)));

    let archive = open(name).unwrap();
    let verified = verify(&archive, chain.spec(), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verified.blocks, last + 1);

    let second = path.join(created.manifest.files[1].name());
    let good = fs::read(&second).unwrap();
    let mut bad = good.clone();
    bad[100] ^= 1;
    fs::write(&second, bad).unwrap();
    let copy = development_chain();
    assert!(matches!(import(&copy, &[name]), Err(ArchiveError::Unavailable { first: BLOCKS_PER_FILE, .. })));
    assert_eq!(copy.head().number(), BLOCKS_PER_FILE - 1);
    fs::write(&second, good).unwrap();
    let continued = import(&copy, &[name]).unwrap();
    assert_eq!((continued.first, continued.blocks), (BLOCKS_PER_FILE, 301));
    assert_eq!(copy.head().record.hash, chain.head().record.hash);

    // Its own branch of the chain: the import starts below the fork and the heavier branch wins.
    copy.rewind(BLOCKS_PER_FILE - 10).unwrap();
    copy.mine(1_900_000_000).unwrap();
    import(&copy, &[name]).unwrap();
    assert_eq!(copy.head().record.hash, chain.head().record.hash);
}

#[test]
fn only_a_heavier_branch_replaces_the_end_of_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let chain = development_chain();
    let mine = |to: u64, time: u64| (chain.head().number()..to).for_each(|_| drop(chain.mine(time).unwrap()));
    mine(20, 1_800_000_000);
    write(&chain, &path, u64::MAX).unwrap();
    let end = chain.head();
    let archived = || open(path.to_str().unwrap()).unwrap().manifest().files.last().unwrap().last_hash;
    let assert_refused = |to: u64| {
        let error = write(&chain, &path, to).unwrap_err();
        let own = to.min(chain.head().number());
        let ArchiveError::Lighter { last, last_hash, to, hash, .. } = error else { unreachable!("{error}") };
        assert_eq!((last, last_hash), (20, end.record.hash));
        assert_eq!((to, Some(hash)), (own, chain.main_hash(own).unwrap()));
        assert_eq!((archived(), fs::read_dir(&path).unwrap().count()), (end.record.hash, 2));
    };
    // Behind on the same branch, then on another branch: lower, of the same height, and cut off below.
    chain.rewind(5).unwrap();
    assert_refused(u64::MAX);
    mine(6, 1_900_000_000);
    assert_refused(u64::MAX);
    mine(20, 1_900_000_000);
    assert_refused(u64::MAX);
    mine(21, 1_900_000_000);
    assert_refused(20);
    assert_eq!(write(&chain, &path, u64::MAX).unwrap().manifest.last(), Some(21));
    assert_eq!(archived(), chain.head().record.hash);
}

#[test]
fn archives_of_two_branches_lead_to_the_heavier_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let name = |name: &str| path(name).to_str().unwrap().to_owned();
    let short = development_chain();
    for number in 1..=100 {
        short.mine(1_800_000_000 + number).unwrap();
    }
    write(&short, &path("common"), u64::MAX).unwrap();
    let long = development_chain();
    import(&long, &[&name("common")]).unwrap();
    for number in 101..=300 {
        short.mine(1_800_000_000 + number).unwrap();
    }
    for number in 101..=620 {
        long.mine(1_800_001_000 + number).unwrap();
    }
    write(&short, &path("short"), u64::MAX).unwrap();
    write(&long, &path("long"), u64::MAX).unwrap();
    // The first group comes from either archive: only one of them has the parent of the second group.
    for _ in 0..4 {
        let chain = development_chain();
        import(&chain, &[&name("short"), &name("long")]).unwrap();
        assert_eq!(chain.head().record.hash, long.head().record.hash);
    }
}
