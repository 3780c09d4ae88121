use rhizome_primitives::{Address, B256};
use rhizome_storage::{LOG_SHARD_BLOCKS, LogQuery, Store};

use crate::{Made, temporary};

const A: Address = Address::repeat_byte(0xa);
const B: Address = Address::repeat_byte(0xb);
const X: B256 = B256::repeat_byte(0x1);
const Y: B256 = B256::repeat_byte(0x2);

fn find(store: &Store, addresses: &[Address], topics: &[Vec<B256>], from: u64, to: u64) -> Option<Vec<u64>> {
    store.log_candidates(&LogQuery { addresses, topics }, from, to).unwrap()
}

#[test]
fn candidates_meet_all_conditions() {
    let store = temporary();
    let shard = LOG_SHARD_BLOCKS;
    Made::new(1, "").with_log("1", A, &[X]).write_best(&store);
    Made::new(2, "").with_log("2", A, &[Y]).write_best(&store);
    Made::new(3, "").with_log("3", B, &[X, Y]).write_best(&store);
    Made::new(4, "").write_best(&store);
    Made::new(shard, "").with_log("s", B, &[Y, X]).write_best(&store);
    Made::new(3 * shard + 7, "").with_log("far", A, &[X, X, X, Y]).write_best(&store);
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
fn a_contract_that_always_logs_stays_exact() {
    let store = temporary();
    for number in 0..5000 {
        Made::new(number, "").with_log("t", A, &[]).write_best(&store);
    }
    assert!(find(&store, &[A], &[], 0, 9999).unwrap().into_iter().eq(0..5000));
    assert!(find(&store, &[A], &[], 4095, 4097).unwrap().into_iter().eq(4095..=4097));
}
