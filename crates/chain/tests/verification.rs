use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rhizome_chain::{
    BlockRecord, Chain, ChainConfig, Verification, VerificationError, VerificationScope, VerifiedPart,
};
use rhizome_primitives::{B256, Bytes, REMASC, Receipt, Transaction, U256, address, hex};
use rhizome_storage::{BlockWrite, ChainIdentity, ChangeSet, HeadChange, NewNodes, Store, StoreOptions, receipts_row};
use rhizome_trie::keys::{REMASC_SENDER, account_key};
use rhizome_trie::{MemoryNodes, StateDelta, Trie, diff};

use crate::{config, import, lines, spec, temporary, with_state};

const CHAIN: &str = "min-gas";
const FILE: &str = "min-gas.blocks.txt.gz";
const DAMAGED: u64 = 7;

fn open(dir: &Path) -> std::sync::Arc<Chain> {
    // Nodes go into files at once.
    Chain::open(ChainConfig { write_buffer_bytes: 1, ..config(spec(CHAIN), Some(dir)) }).unwrap()
}

fn verify(chain: &Chain, from: u64, to: u64) -> Result<Verification, VerificationError> {
    chain.verify(with_state(from, to), |_| ControlFlow::Continue(()))
}

/// The stored data of a block, to be written again with changes.
struct Stored {
    total_difficulty: U256,
    state_root: B256,
    receipts: Vec<Receipt>,
    /// Changes of the flat state beside those of the blocks.
    flat: Option<StateDelta>,
}

/// Imports the chain, changes the stored data of a block, and verifies. Returns field, expected and found value.
fn damaged(number: u64, change: impl FnOnce(&Chain, &mut Stored)) -> (u64, String, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    lines(FILE).iter().for_each(|line| drop(import(&chain, line)));
    let head = chain.head().number();
    let sound = verify(&chain, 0, head).unwrap();
    assert_eq!((sound.blocks, sound.difference), (head + 1, None));
    assert!(sound.keys > 0);
    let record = chain.main_block(number).unwrap().unwrap();
    let genesis = chain.main_hash(0).unwrap().unwrap();
    let receipts = chain.receipts(&record.hash).unwrap().unwrap();
    let mut stored = Stored {
        total_difficulty: record.total_difficulty,
        state_root: record.state_root,
        receipts: receipts.to_vec(),
        flat: None,
    };
    change(&chain, &mut stored);
    let identity = ChainIdentity { chain_id: chain.spec().chain_id, genesis };
    let hashes = receipts.transaction_hashes().to_vec();
    drop(chain);

    let store = Store::open(dir.path(), &identity, &StoreOptions::default()).unwrap();
    let enacted = [(number, record.hash)];
    let head_change = stored.flat.as_ref().map(|_| HeadChange { enacted: &enacted, retracted: &[] });
    let changes = stored.flat.as_ref().map(|flat| Arc::new(ChangeSet::of(flat, |key| store.flat_get(key)).unwrap()));
    let recorded = Arc::new(store.changes(number, &record.hash).unwrap());
    let write = |changes: Option<&Arc<ChangeSet>>, head_change: Option<HeadChange<'_>>| {
        let write = BlockWrite {
            hash: record.hash,
            number,
            raw: &record.block.encode(),
            total_difficulty: stored.total_difficulty,
            state_root: stored.state_root,
            senders: record.senders(),
            transaction_hashes: &hashes,
            receipts: &stored.receipts,
            receipts_row: &receipts_row(&hashes, &stored.receipts),
            inner_accounts: None,
            nodes: NewNodes::default(),
            changes,
            head_change,
        };
        store.write_block(write).unwrap();
    };
    write(changes.as_ref(), head_change);
    // The flat state is damaged, the changes of the block are not.
    write(Some(&recorded), None);
    drop(store);
    let chain = open(dir.path());
    let difference = verify(&chain, 1, head).unwrap().difference.unwrap();
    assert_eq!(Some(difference.hash), chain.main_hash(difference.number).unwrap());
    (difference.number, difference.field, difference.expected, difference.got)
}

#[test]
fn damage_is_found_and_described() {
    let found = damaged(DAMAGED, |_, stored| stored.total_difficulty += U256::ONE);
    assert_eq!((found.0, found.1.as_str()), (DAMAGED, "totalDifficulty"));
    assert_eq!(found.2.parse::<u64>().unwrap() + 1, found.3.parse::<u64>().unwrap());

    let found = damaged(DAMAGED, |_, stored| stored.receipts[0].gas_used += 1);
    assert_eq!((found.0, found.1.as_str()), (DAMAGED, "receipts[0].gasUsed"));

    // Also the root that an earlier block left.
    let mut root = B256::ZERO;
    let found = damaged(DAMAGED, |chain, stored| {
        root = chain.main_block(DAMAGED - 1).unwrap().unwrap().state_root;
        stored.state_root = root;
    });
    assert_eq!((found.0, found.1.as_str(), found.3), (DAMAGED, "stateRoot", root.to_string()));
}

/// Changes the hash under which a node is listed in the files of a closed database.
fn hide_node(dir: &Path, hash: &B256) {
    let mut found = 0;
    for file in fs::read_dir(dir.join("chain/nodes")).unwrap().map(|file| file.unwrap().path()) {
        let mut list = fs::read(&file).unwrap();
        let entry = list.chunks_exact_mut(15).find(|entry| entry.starts_with(&hash[..6]));
        if let Some(entry) = entry.filter(|_| file.extension().is_some_and(|kind| kind == "index")) {
            entry[5] ^= 1;
            fs::write(file, &list).unwrap();
            found += 1;
        }
    }
    assert_eq!(found, 1);
}

#[test]
fn a_lost_node_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    lines(FILE).iter().for_each(|line| drop(import(&chain, line)));
    let root = chain.main_block(DAMAGED).unwrap().unwrap().state_root;
    drop(chain);
    hide_node(dir.path(), &root);
    let chain = open(dir.path());
    let difference = verify(&chain, 1, chain.head().number()).unwrap().difference.unwrap();
    assert_eq!((difference.number, difference.field), (DAMAGED, format!("stateNodes[{root}]")));
    assert_eq!(difference.got, "nothing");
}

/// The damage that one changed row of the flat state does: field, expected and found value.
fn damaged_flat(key: &[u8], value: Option<&[u8]>) -> (String, String, String) {
    let head = lines(FILE).len() as u64;
    let writes = [(key.to_vec(), value.map(Bytes::copy_from_slice))].into();
    let (number, field, expected, got) =
        damaged(head, |_, stored| stored.flat = Some(StateDelta { writes, ..StateDelta::default() }));
    assert_eq!(number, head);
    (field, expected, got)
}

#[test]
fn one_changed_row_of_the_flat_state_is_found() {
    let field = |key: &[u8]| format!("flatState[{}]", hex::encode_prefixed(key));
    // Changes in every block.
    let remasc = account_key(REMASC_SENDER);
    let found = damaged_flat(&remasc, Some(&[0xc0]));
    assert_eq!((found.0, found.2.as_str()), (field(&remasc), "0xc0"));
    // A row that has not changed since the genesis is deleted.
    let still = account_key(address!("0000000000000000000000000000000000000001").as_slice());
    let found = damaged_flat(&still, None);
    assert_eq!((found.0, found.2.as_str()), (field(&still), "nothing"));
    assert_ne!(found.1, "nothing");
    // Is in no trie: before the first key, between others, and behind the last one.
    for (key, length) in [(vec![], 1), (remasc[..5].to_vec(), 1), (vec![0xff; 31], 100)] {
        let found = damaged_flat(&key, Some(&vec![7; length]));
        assert_eq!((found.0, found.1.as_str()), (field(&key), "nothing"));
        assert!(found.2 == "0x07" || found.2.starts_with("100 bytes with hash 0x"), "{}", found.2);
    }
}

#[test]
fn a_block_that_is_missing_in_an_index_is_found() {
    let (field, record, receipts) = indexed_without_receipts(true);
    let log = receipts.iter().flat_map(|receipt| &receipt.logs).min_by_key(|log| log.address).unwrap();
    assert_eq!(field, (record.number(), format!("logIndex[{}]", log.address), "nothing".into()));
    let (field, record, _receipts) = indexed_without_receipts(false);
    let lowest = record.senders().iter().copied().chain(record.block.transactions.iter().filter_map(Transaction::to));
    let lowest = lowest.filter(|address| !address.is_zero() && *address != REMASC).min().unwrap();
    assert_eq!(field, (record.number(), format!("addressIndex[{lowest}]"), "another row, or none".into()));
}

/// Stores the blocks up to one with logs, or with transactions and without logs, and indexes that one as if it had no receipts.
/// Returns what a verification finds, and the block.
fn indexed_without_receipts(has_logs: bool) -> ((u64, String, String), Arc<BlockRecord>, Vec<Receipt>) {
    let (name, file) = ("uncles-and-reorgs", "uncles-and-reorgs.arrivals.txt.gz");
    let source = temporary(name);
    lines(file).iter().for_each(|line| drop(import(&source, line)));
    let is_wanted = |number: &u64| {
        let record = source.main_block(*number).unwrap().unwrap();
        let receipts = source.receipts(&record.hash).unwrap().unwrap();
        record.block.transactions.len() > 1 && receipts.iter().any(|receipt| !receipt.logs.is_empty()) == has_logs
    };
    let number = (1..=source.head().number()).find(is_wanted).unwrap();
    let record = source.main_block(number).unwrap().unwrap();
    let parent = source.main_block(number - 1).unwrap().unwrap();
    let receipts = source.receipts(&record.hash).unwrap().unwrap();

    let dir = tempfile::tempdir().unwrap();
    let open = || Chain::open(ChainConfig { has_address_index: true, ..config(spec(name), Some(dir.path())) }).unwrap();
    let chain = open();
    for below in 1..number {
        let block = source.main_block(below).unwrap().unwrap().block.clone();
        chain.import_block(block).unwrap();
    }
    let identity = ChainIdentity { chain_id: chain.spec().chain_id, genesis: chain.main_hash(0).unwrap().unwrap() };
    drop(chain);
    // The block as it is, but indexed as if it had no receipts.
    let (before, after) = (source.state_trie(&parent).unwrap(), source.state_trie(&record).unwrap());
    let mut rebuilt = Trie::empty(Arc::new(MemoryNodes::default()));
    after.entries().map(Result::unwrap).for_each(|(key, value)| rebuilt.put(&key, &value).unwrap());
    let options = StoreOptions { has_address_index: true, ..StoreOptions::default() };
    let store = Store::open(dir.path(), &identity, &options).unwrap();
    let changes = Arc::new(ChangeSet::of(&diff(&before, &after).unwrap(), |key| store.flat_get(key)).unwrap());
    let write = BlockWrite {
        hash: record.hash,
        number,
        raw: &record.block.encode(),
        total_difficulty: record.total_difficulty,
        state_root: record.state_root,
        senders: record.senders(),
        transaction_hashes: receipts.transaction_hashes(),
        receipts: &[],
        receipts_row: &receipts_row(receipts.transaction_hashes(), &receipts),
        inner_accounts: None,
        nodes: rebuilt.commit().into(),
        changes: Some(&changes),
        head_change: Some(HeadChange { enacted: &[(number, record.hash)], retracted: &[] }),
    };
    store.write_block(write).unwrap();
    drop(store);
    let found = verify(&open(), 0, number).unwrap();
    let difference = found.difference.unwrap();
    assert_eq!(found.blocks, number);
    ((difference.number, difference.field, difference.got), record, receipts.to_vec())
}

#[test]
fn ranges_off_the_chain_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    lines(FILE)[..3].iter().for_each(|line| drop(import(&chain, line)));
    for (from, to) in [(2, 1), (0, 4), (9, 9), (0, u64::MAX)] {
        let error = verify(&chain, from, to).unwrap_err();
        assert!(matches!(error, VerificationError::Range { head: 3, .. }), "{error}");
    }
}

#[test]
fn the_state_is_compared_on_request_only() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    lines(FILE)[..3].iter().for_each(|line| drop(import(&chain, line)));
    let found = chain.verify(VerificationScope { has_state: false, ..with_state(1, 3) }, |part| {
        assert!(matches!(part, VerifiedPart::Block(_)));
        ControlFlow::Continue(())
    });
    assert_eq!(found.unwrap(), Verification { blocks: 3, keys: 0, difference: None, is_partial: false });
}

#[test]
fn a_verification_that_is_ended_is_partial() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    lines(FILE)[..3].iter().for_each(|line| drop(import(&chain, line)));
    for (has_state, last, blocks, is_partial) in
        [(false, 1, 1, true), (false, 3, 3, false), (true, 1, 1, true), (true, 3, 3, true), (true, 4, 3, false)]
    {
        let scope = VerificationScope { has_state, ..with_state(1, 3) };
        let end = |record: &BlockRecord| {
            if record.number() == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = chain.verify(scope, |part| match part {
            VerifiedPart::Block(record) => end(record),
            VerifiedPart::State { .. } => ControlFlow::Continue(()),
        });
        let found = found.unwrap();
        assert_eq!((found.blocks, found.difference, found.is_partial), (blocks, None, is_partial));
        assert_eq!(found.keys > 0, has_state && !is_partial);
    }
}
