//! Access to the golden data.

use rhizome_primitives::{Bytes, ChainSpec, hex};
use serde_json::Value;
use std::io::Read;

/// Reads a file of `tests/vectors`, compressed or not.
pub(crate) fn load(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(_) => {
            let file = std::fs::File::open(format!("{path}.gz")).unwrap_or_else(|error| panic!("{path}: {error}"));
            let mut text = String::new();
            flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
            text
        }
    };
    serde_json::from_str(&text).unwrap()
}

/// Returns the member `cases` of a file.
pub(crate) fn cases(name: &str) -> Vec<Value> {
    load(name)["cases"].as_array().unwrap().clone()
}

/// Returns a member with bytes in hex.
pub(crate) fn bytes(case: &Value, key: &str) -> Bytes {
    hex::decode(text(case, key)).unwrap().into()
}

/// Returns a member with a text.
pub(crate) fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_else(|| panic!("{key} in {case}"))
}

/// Returns the chain specification of a case.
pub(crate) fn spec(case: &Value) -> ChainSpec {
    ChainSpec::by_name(text(case, "net")).unwrap()
}

/// The built-in networks, loaded once for files with cases of several networks.
pub(crate) struct Specs(Vec<(String, ChainSpec)>);

impl Specs {
    /// Loads all networks under their names in the vectors.
    pub(crate) fn load() -> Specs {
        let names = ["main", "testnet", "testnet2", "devnet", "regtest"];
        Specs(names.into_iter().map(|name| (name.to_owned(), ChainSpec::by_name(name).unwrap())).collect())
    }

    /// Returns the chain specification of a case.
    pub(crate) fn of(&self, case: &Value) -> &ChainSpec {
        let net = text(case, "net");
        &self.0.iter().find(|(name, _)| name == net).unwrap().1
    }
}
