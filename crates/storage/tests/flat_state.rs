use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rhizome_primitives::keccak256;

use crate::{TestBlock, temporary};

#[test]
fn values_of_every_length_round_trip() {
    let store = temporary();
    let values: Vec<Vec<u8>> = [1, 31, 32, 33, 35, 36, 37, 1000].map(|length| vec![0xab; length]).to_vec();
    let mut block = TestBlock::new(1, "a");
    for value in &values {
        block = block.with_flat(&value.len().to_be_bytes(), Some(value));
    }
    block.write_best(&store);
    for value in &values {
        let key = value.len().to_be_bytes();
        assert_eq!(store.flat_get(&key).unwrap().unwrap(), *value);
        assert_eq!(store.flat_length_and_hash(&key).unwrap(), Some((value.len(), keccak256(value))));
    }
    assert_eq!(store.flat_get(b"absent").unwrap(), None);
    assert_eq!(store.flat_length_and_hash(b"absent").unwrap(), None);
}

#[test]
fn the_generation_reveals_a_concurrent_write() {
    let store = Arc::new(temporary());
    let value = |number: u64| number.to_be_bytes();
    let mut generation = TestBlock::new(0, "0").with_flat(b"key", Some(&value(0))).write_best(&store);
    let stop = Arc::new(AtomicBool::new(false));
    let first = generation;
    let reader = {
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        thread::spawn(move || {
            let mut reads = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                let before = store.generation();
                let read = store.flat_get(b"key").unwrap().unwrap();
                if store.generation() == before {
                    // Right after the generation was incremented the batch is not always visible yet: an older value is
                    // read, never a later one.
                    let read = u64::from_be_bytes(read.as_ref().try_into().unwrap());
                    assert!(read <= before - first);
                    reads += 1;
                }
            }
            reads
        })
    };
    for number in 1..2000 {
        generation = TestBlock::new(number, "n").with_flat(b"key", Some(&value(number))).write_best(&store);
        assert_eq!(generation, first + number);
    }
    stop.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    assert_eq!(store.generation(), generation);
}
