//! Reading the golden data.

use rhizome_primitives::{Bytes, ChainSpec, hex};
use serde_json::Value;
use std::io::Read;

/// A file of `tests/vectors`, compressed or not.
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

/// The member `cases` of a file.
pub(crate) fn cases(name: &str) -> Vec<Value> {
    load(name)["cases"].as_array().unwrap().clone()
}

/// A member that holds bytes in hex.
pub(crate) fn bytes(case: &Value, key: &str) -> Bytes {
    hex::decode(text(case, key)).unwrap().into()
}

/// A member that holds a text.
pub(crate) fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_else(|| panic!("{key} in {case}"))
}

/// The chain that a case belongs to.
pub(crate) fn spec(case: &Value) -> ChainSpec {
    ChainSpec::by_name(text(case, "net")).unwrap()
}

/// The networks, loaded once for files that mix them.
pub(crate) struct Specs(Vec<(String, ChainSpec)>);

impl Specs {
    /// Every network under the name that the vectors use.
    pub(crate) fn load() -> Specs {
        let names = ["main", "testnet", "testnet2", "devnet", "regtest"];
        Specs(names.into_iter().map(|name| (name.to_owned(), ChainSpec::by_name(name).unwrap())).collect())
    }

    /// The chain that a case belongs to.
    pub(crate) fn of(&self, case: &Value) -> &ChainSpec {
        let net = text(case, "net");
        &self.0.iter().find(|(name, _)| name == net).unwrap().1
    }
}
