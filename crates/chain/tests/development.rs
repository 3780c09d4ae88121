use std::sync::{Arc, Mutex};

use rhizome_chain::{ChainEvent, ImportOutcome};
use rhizome_primitives::B256;

use crate::{import, lines, temporary};

#[test]
fn a_snapshot_can_be_reverted_to_many_times() {
    let chain = temporary("min-gas");
    let lines = lines("min-gas.blocks.txt.gz");
    assert_eq!(chain.snapshot().unwrap(), 1);
    lines[..4].iter().for_each(|line| drop(import(&chain, line)));
    let at_four = chain.head().hash();
    assert_eq!(chain.snapshot().unwrap(), 2);
    lines[4..].iter().for_each(|line| drop(import(&chain, line)));
    assert_eq!(chain.snapshot().unwrap(), 3);
    assert!(!chain.revert(0).unwrap());
    assert!(!chain.revert(4).unwrap());
    assert!(chain.revert(2).unwrap());
    assert_eq!(chain.head().hash(), at_four);
    assert!(!chain.revert(3).unwrap());
    let last = chain.main_hash(5).unwrap();
    assert_eq!(last, None);
    // The same blocks again: nothing of the first time is in the way.
    for line in &lines[4..] {
        assert!(matches!(import(&chain, line), ImportOutcome::ImportedBest));
    }
    assert!(chain.revert(2).unwrap());
    assert_eq!(chain.head().hash(), at_four);
    chain.reset().unwrap();
    assert_eq!(chain.head().number(), 0);
    assert!(!chain.revert(1).unwrap());
    assert_eq!(chain.snapshot().unwrap(), 1);
}

#[test]
fn a_rewind_from_a_branch_restores_the_state() {
    let chain = temporary("uncles-and-reorgs");
    let lines = lines("uncles-and-reorgs.arrivals.txt.gz");
    lines[..400].iter().for_each(|line| drop(import(&chain, line)));
    let target = chain.main_block(100).unwrap().unwrap();
    chain.rewind(100).unwrap();
    assert_eq!((chain.head().hash(), chain.highest_number().unwrap()), (target.hash, 100));
    // Everything that is imported now executes on the flat state that the way back left.
    lines.iter().for_each(|line| drop(import(&chain, line)));
    let straight = temporary("uncles-and-reorgs");
    lines.iter().for_each(|line| drop(import(&straight, line)));
    assert_eq!(chain.head().hash(), straight.head().hash());
}

#[test]
fn listeners_get_every_change_in_order() {
    let chain = temporary("uncles-and-reorgs");
    let heads: Arc<Mutex<Vec<B256>>> = Arc::default();
    let best: Arc<Mutex<Vec<B256>>> = Arc::new(Mutex::new(vec![chain.head().hash()]));
    {
        let (heads, best) = (Arc::clone(&heads), Arc::clone(&best));
        chain.on_event(Box::new(move |event| {
            let ChainEvent::NewHead { number, hash, enacted, retracted } = event else { return };
            let mut best = best.lock().unwrap();
            for gone in retracted {
                assert_eq!(best.pop(), Some(*gone));
            }
            best.extend(enacted);
            assert_eq!((best.len() as u64 - 1, best.last()), (*number, Some(hash)));
            heads.lock().unwrap().push(*hash);
        }));
    }
    let mut expected = Vec::new();
    for line in lines("uncles-and-reorgs.arrivals.txt.gz") {
        if matches!(import(&chain, &line), ImportOutcome::ImportedBest) {
            expected.push(chain.head().hash());
        }
    }
    chain.rewind(450).unwrap();
    expected.push(chain.head().hash());
    assert_eq!(*heads.lock().unwrap(), expected);
    for (number, hash) in (0..).zip(best.lock().unwrap().iter()) {
        assert_eq!(chain.main_hash(number).unwrap(), Some(*hash));
    }
}

#[test]
fn time_offsets_add_up_until_they_are_used() {
    let chain = temporary("min-gas");
    assert_eq!((chain.increase_time(5), chain.increase_time(7), chain.time_offset()), (5, 12, 12));
    assert_eq!((chain.clear_time_offset(), chain.time_offset()), (12, 0));
    assert!(!chain.is_automining());
    chain.set_automine(true);
    assert!(chain.is_automining());
}
