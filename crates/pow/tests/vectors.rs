//! Reading golden files.

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::Read;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/blocks/");

/// A golden file of `tests/vectors/blocks`, compressed or not.
pub(crate) fn read<T: DeserializeOwned>(name: &str) -> T {
    let plain = format!("{FOLDER}{name}.json");
    let text = fs::read_to_string(&plain).unwrap_or_else(|_absent| {
        let mut text = String::new();
        let file = fs::File::open(format!("{plain}.gz")).unwrap_or_else(|error| panic!("{plain}.gz: {error}"));
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        text
    });
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}
