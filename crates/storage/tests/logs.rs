use rhizome_primitives::{Address, B256};
use rhizome_storage::{LOG_SHARD_BLOCKS, LogIndexQuery, Store};

use crate::{TestBlock, temporary};

const A: Address = Address::repeat_byte(0xa);
const B: Address = Address::repeat_byte(0xb);
const X: B256 = B256::repeat_byte(0x1);
const Y: B256 = B256::repeat_byte(0x2);

fn find(store: &Store, addresses: &[Address], topics: &[Vec<B256>], from: u64, to: u64) -> Option<Vec<u64>> {
    store.log_candidates(&LogIndexQuery { addresses, topics }, from, to).unwrap()
}

#[test]
fn candidates_meet_all_conditions() {
    let store = temporary();
    let shard = LOG_SHARD_BLOCKS;
    TestBlock::new(1, "").with_log("1", A, &[X]).write_best(&store);
    TestBlock::new(2, "").with_log("2", A, &[Y]).write_best(&store);
    TestBlock::new(3, "").with_log("3", B, &[X, Y]).write_best(&store);
    TestBlock::new(4, "").write_best(&store);
    TestBlock::new(shard, "").with_log("s", B, &[Y, X]).write_best(&store);
    TestBlock::new(3 * shard + 7, "").with_log("far", A, &[X, X, X, Y]).write_best(&store);
    let all = |addresses: &[Address], topics: &[Vec<B256>]| find(&store, addresses, topics, 0, 10 * shard).unwrap();
    assert_eq!(find(&store, &[], &[], 0, 9), None);
    assert_eq!(find(&store, &[], &[vec![], vec![]], 0, 9), None);
    assert_eq!(all(&[A], &[]), [1, 2, 3 * shard + 7]);
    assert_eq!(all(&[A, B], &[]), [1, 2, 3, shard, 3 * shard + 7]);
    assert_eq!(all(&[], &[vec![X]]), [1, 3, 3 * shard + 7]);
    assert_eq!(all(&[], &[vec![X, Y]]), [1, 2, 3, shard, 3 * shard + 7]);
    assert_eq!(all(&[B], &[vec![X], vec![Y]]), [3]);
    assert_eq!(all(&[], &[vec![], vec![X]]), [shard, 3 * shard + 7]);
    assert_eq!(all(&[], &[vec![], vec![], vec![], vec![Y]]), [3 * shard + 7]);
    assert!(all(&[], &[vec![], vec![], vec![], vec![], vec![Y]]).is_empty());
    assert!(all(&[Address::ZERO], &[]).is_empty());
    assert_eq!(find(&store, &[A], &[], 2, 3 * shard), Some(vec![2]));
    assert_eq!(find(&store, &[A], &[], 3 * shard + 7, u64::MAX), Some(vec![3 * shard + 7]));
}

#[test]
fn a_contract_that_logs_in_every_block_is_found_exactly() {
    let store = temporary();
    for number in 0..5000 {
        TestBlock::new(number, "").with_log("t", A, &[]).write_best(&store);
    }
    assert!(find(&store, &[A], &[], 0, 9999).unwrap().into_iter().eq(0..5000));
    assert!(find(&store, &[A], &[], 4095, 4097).unwrap().into_iter().eq(4095..=4097));
}

/// First bytes of address and topics of each log.
type Logs = Vec<[u8; 3]>;

/// Blocks around the borders of 12 shards, each with up to two logs. Some values are in every shard, others in few.
fn scattered() -> Vec<(u64, Logs)> {
    let around = (1..=12).flat_map(|shard| shard * LOG_SHARD_BLOCKS - 12..shard * LOG_SHARD_BLOCKS + 12);
    let value = |seed: u64| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).leading_zeros() as u8 - 32;
    let log = |seed: u64| [1, 2, 3].map(|salt| value(seed * 10 + salt));
    let logs = |number: u64| {
        [3, 7].into_iter().filter(move |share| !number.is_multiple_of(*share)).map(move |share| log(number * share))
    };
    around.map(|number| (number, logs(number).collect())).collect()
}

/// Numbers of the blocks with a log that has one of the values in each position.
fn expected(blocks: &[(u64, Logs)], query: [&[u8]; 3], from: u64, to: u64) -> Vec<u64> {
    let is_wanted = |log: &[u8; 3]| log.iter().zip(query).all(|(byte, any)| any.is_empty() || any.contains(byte));
    let wanted = blocks.iter().filter(|(_, logs)| logs.iter().any(is_wanted)).map(|(number, _)| *number);
    wanted.filter(|number| (from..=to).contains(number)).collect()
}

#[test]
fn no_block_is_missed_at_the_borders_of_shards() {
    let store = temporary();
    let blocks = scattered();
    for (number, logs) in &blocks {
        let mut block = TestBlock::new(*number, "");
        for [address, x, y] in logs {
            let topics = [B256::repeat_byte(*x), B256::repeat_byte(*y)];
            block = block.with_log(&format!("{number} {address} {x} {y}"), Address::repeat_byte(*address), &topics);
        }
        block.write_best(&store);
    }
    let starts = [1, 2, 3, 4, 5, 9, 12].map(|shard| shard * LOG_SHARD_BLOCKS);
    let bounds: Vec<u64> = starts.into_iter().flat_map(|start| [start - 1, start, start + 5]).chain([0]).collect();
    let values: [&[u8]; 5] = [&[], &[0], &[3], &[1, 6], &[9]];
    let mut superfluous = 0;
    for query in (1..125).map(|number| [number / 25, number / 5 % 5, number % 5].map(|at: usize| values[at])) {
        let addresses: Vec<Address> = query[0].iter().copied().map(Address::repeat_byte).collect();
        let topics = [1, 2].map(|at| query[at].iter().copied().map(B256::repeat_byte).collect());
        for (from, to) in bounds.iter().flat_map(|from| bounds.iter().map(move |to| (*from, *to))) {
            let (found, expected) =
                (find(&store, &addresses, &topics, from, to).unwrap(), expected(&blocks, query, from, to));
            assert!(found.is_sorted() && found.iter().all(|number| (from..=to).contains(number)), "{from} {to}");
            assert!(expected.iter().all(|number| found.contains(number)), "{from} {to} {query:?}");
            superfluous += found.len() - expected.len();
            if query.iter().filter(|any| any.is_empty()).count() == 2 {
                assert_eq!(found, expected, "{from} {to} {query:?}");
            }
        }
    }
    // Two logs of one block may match the conditions together, and the search skips conditions once few blocks are
    // left.
    assert!(superfluous > 0);
}
