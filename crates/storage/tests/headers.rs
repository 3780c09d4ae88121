use rhizome_primitives::{B256, U256};
use rhizome_storage::{HeaderWrite, Store};

use crate::{identity, small};

fn header(number: u64) -> HeaderWrite<'static> {
    let hash = B256::left_padding_from(&number.to_be_bytes());
    HeaderWrite { number, hash, difficulty: U256::from(number * 10), encoding: b"header" }
}

#[test]
fn headers_and_their_tip_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let headers: Vec<HeaderWrite<'_>> = (1..=5).map(header).collect();
    {
        let store = Store::open(dir.path(), &identity(), &small()).unwrap();
        assert_eq!(store.header_tip().unwrap(), None);
        store.write_headers(&headers, (5, headers[4].hash)).unwrap();
    }
    let store = Store::open(dir.path(), &identity(), &small()).unwrap();
    assert_eq!(store.header_tip().unwrap(), Some((5, headers[4].hash)));
    let stored = store.header(3, &headers[2].hash).unwrap().unwrap();
    assert_eq!((stored.difficulty, stored.encoding.as_ref()), (U256::from(30), &b"header"[..]));
    assert_eq!(store.header(3, &headers[3].hash).unwrap(), None);
}

#[test]
fn headers_below_a_height_are_deleted() {
    let store = crate::temporary();
    let headers: Vec<HeaderWrite<'_>> = (1..=5).map(header).collect();
    store.write_headers(&headers, (5, headers[4].hash)).unwrap();
    store.delete_headers_below(4).unwrap();
    let is_stored: Vec<bool> =
        headers.iter().map(|header| store.header(header.number, &header.hash).unwrap().is_some()).collect();
    assert_eq!(is_stored, [false, false, false, true, true]);
}
