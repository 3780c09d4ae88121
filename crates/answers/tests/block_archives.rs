//! Imports from several archives of which some cannot be read.

use crate::node::{reference_options, regtest};
use rhizome_answers::block_archives::{create, import};
use rhizome_answers::options::MiningMode;
use rhizome_answers::{Node, error::RpcError};
use rhizome_chain::Clock;
use serde_json::Value;
use std::ops::ControlFlow;

fn node() -> Node {
    let options = reference_options(MiningMode::Off);
    regtest(options, Clock::new(|| 0x6553_f484))
}

fn import_from(locations: &[&str]) -> Result<Value, RpcError> {
    let locations: Vec<String> = locations.iter().map(|location| (*location).to_owned()).collect();
    let imported = import(&node(), &locations, "", &|| false, |_| ControlFlow::Continue(()));
    imported.map(|json| serde_json::from_slice(&json).unwrap())
}

#[test]
fn a_location_without_a_manifest_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let source = node();
    for _ in 0..3 {
        source.chain().mine(1_800_000_000).unwrap();
    }
    create(&source, &path("archive"), &path("key"), 3, |_| ControlFlow::Continue(())).unwrap();
    std::fs::create_dir(path("bare")).unwrap();
    let imported = import_from(&[&path("bare"), &path("archive")]).unwrap();
    assert_eq!(imported["head"], 3);
    let refused = imported["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].as_str().unwrap().contains("bare: not an archive"), "{refused:?}");
    let error = import_from(&[&path("bare")]).unwrap_err();
    assert!(error.cause.as_deref().unwrap().contains("bare: not an archive"), "{error:?}");
}
