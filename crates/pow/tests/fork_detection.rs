//! `fork_detection.json`: consecutive real mainnet blocks.

use crate::chains::Blocks;
use crate::vectors;
use rhizome_pow::fork_detection_data;
use rhizome_primitives::{Bytes, ChainSpec, Header};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<(u64, u32, String, Option<String>)>,
}

#[test]
fn real_mainnet_blocks_contain_the_computed_data() {
    let file: Cases = vectors::read("fork_detection");
    assert_eq!(file.cases.len(), 549);
    let spec = ChainSpec::mainnet();
    let mut blocks = Blocks::default();
    let mut parent: Option<Arc<Header>> = None;
    let mut compared = 0;
    for (number, uncle_count, bitcoin, expected) in file.cases {
        if let (Some(parent), Some(expected)) = (&parent, expected) {
            let found = fork_detection_data(parent, &blocks).unwrap().expect("enough ancestors");
            assert_eq!(hex::encode(found), expected, "block {number}");
            compared += 1;
        }
        let mut header = Header::new(number, &spec);
        header.parent_hash = parent.map(|parent| Bytes::copy_from_slice(parent.hash().as_slice())).unwrap_or_default();
        header.uncle_count = uncle_count;
        header.bitcoin_header = Some(Bytes::from(hex::decode(bitcoin).unwrap()));
        header.merkle_proof = Some(Bytes::new());
        let header = Arc::new(header);
        blocks.add(&header, Vec::new());
        parent = Some(header);
    }
    assert_eq!(compared, 100);
}
