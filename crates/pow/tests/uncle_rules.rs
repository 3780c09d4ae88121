//! `uncle_rules.json`: block graphs and a candidate with uncles.

use crate::chains::Blocks;
use crate::vectors;
use rhizome_pow::uncles::{UncleWindow, check_count};
use rhizome_primitives::{B256, Bytes, ChainSpec, Header};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    blocks: Vec<Node>,
    candidate_parent: String,
    candidate_number: u64,
    candidate_uncles: Vec<String>,
    valid: bool,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    number: u64,
    parent: Option<String>,
    #[serde(default)]
    uncles: Vec<String>,
    #[serde(default = "yes")]
    stored: bool,
}

fn yes() -> bool {
    true
}

fn header(number: u64, parent: Option<&B256>, id: &str, spec: &ChainSpec) -> Header {
    let mut header = Header::new(number, spec);
    header.parent_hash = Bytes::copy_from_slice(parent.unwrap_or(&B256::ZERO).as_slice());
    header.extra_data = Bytes::copy_from_slice(id.as_bytes());
    header
}

#[test]
fn uncles_against_the_window() {
    let Cases { cases } = vectors::read("uncle_rules");
    assert_eq!(cases.len(), 60);
    let spec = ChainSpec::regtest();
    for (index, case) in cases.into_iter().enumerate() {
        let mut blocks = Blocks::default();
        let mut hashes: HashMap<String, B256> = HashMap::new();
        let mut headers: HashMap<String, Arc<Header>> = HashMap::new();
        for node in &case.blocks {
            let parent = node.parent.as_ref().map(|parent| &hashes[parent]);
            let header = Arc::new(header(node.number, parent, &node.id, &spec));
            let uncles = node.uncles.iter().map(|uncle| hashes[uncle]).collect();
            if node.stored {
                blocks.add(&header, uncles);
            }
            hashes.insert(node.id.clone(), header.hash());
            headers.insert(node.id.clone(), header);
        }
        let parent = &hashes[&case.candidate_parent];
        let candidate = header(case.candidate_number, Some(parent), "candidate", &spec);
        let window = UncleWindow::of(&candidate, &blocks, &spec).unwrap();
        let mut seen = HashSet::new();
        let verdict = check_count(case.candidate_uncles.len(), &spec).and_then(|()| {
            let mut uncles = case.candidate_uncles.iter().enumerate();
            uncles.try_for_each(|(position, uncle)| window.check(position, &headers[uncle], &mut seen))
        });
        assert_eq!(verdict.is_ok(), case.valid, "case {index}: {verdict:?}");
    }
}
