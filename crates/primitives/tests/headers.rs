//! Headers of every version, constructed and real, and uncle lists.

use crate::vectors::{Specs, bytes, cases, load, text};
use rhizome_primitives::{ChainSpec, Header, U256, hex, uncles_hash};
use serde_json::Value;

fn check(case: &Value, specs: &Specs) {
    let raw = bytes(case, "raw");
    let decoded = Header::decode(&raw, specs.of(case));
    assert_eq!(decoded.is_ok(), case["decodes"].as_bool().unwrap(), "{decoded:?} {case}");
    let Ok(header) = decoded else { return };
    assert_eq!(header.encode() == raw, case["canonical"].as_bool().unwrap_or(true), "{case}");
    assert_eq!(Some(header.number), case["number"].as_u64());
    assert_eq!(Some(u64::from(header.version)), case["version"].as_u64());
    assert_eq!(hex::encode(header.hash()), text(case, "hash"), "{case}");
    let merged = header.hash_for_merged_mining().map(hex::encode).unwrap_or("error".into());
    assert_eq!(merged, text(case, "hashForMergedMining"), "{case}");
    let fork_data = match header.fork_detection_data() {
        Ok(data) => data.map(hex::encode).unwrap_or_default(),
        // Without mining elements the reference has neither fork detection data nor a merged mining hash.
        Err(_) if text(case, "forkDetectionData").is_empty() => String::new(),
        Err(_) => "error".into(),
    };
    assert_eq!(fork_data, text(case, "forkDetectionData"), "{case}");
    if let Ok(Some(data)) = header.fork_detection_data() {
        assert_eq!(header.hash_for_mining_with(&data), header.hash_for_merged_mining());
    }
    let optional = |key: &str, value: Option<Vec<u8>>| {
        if case[key].is_string() {
            assert_eq!(value.map(hex::encode).as_deref(), case[key].as_str(), "{key} {case}");
        }
    };
    optional("extensionHash", header.extension_hash().map(|hash| hash.to_vec()));
    optional("extensionData", header.extension_data());
    optional("extensionWire", header.extension_wire());
    optional("compressed", Some(header.encode_compressed()));
    assert_eq!(case["extensionHash"].is_string(), header.extension_hash().is_some());
    if case["fields"].is_object() {
        check_fields(&case["fields"], &header);
    }
}

fn check_fields(fields: &Value, header: &Header) {
    let shown = |key: &str| fields[key].as_str().unwrap_or_default();
    assert_eq!(hex::encode(&header.parent_hash), shown("parentHash"));
    assert_eq!(hex::encode(&header.uncles_hash), shown("unclesHash"));
    assert_eq!(header.coinbase.map(hex::encode).unwrap_or_default(), shown("coinbase"));
    assert_eq!(hex::encode(&header.state_root), shown("stateRoot"));
    assert_eq!(hex::encode(&header.transactions_root), shown("txRoot"));
    assert_eq!(hex::encode(&header.receipts_root), shown("receiptsRoot"));
    assert_eq!(header.difficulty_value().to_string(), shown("difficulty"));
    assert_eq!(hex::encode(&header.gas_limit), shown("gasLimitBytes"));
    assert_eq!(Some(header.gas_used), fields["gasUsed"].as_u64());
    assert_eq!(Some(header.timestamp), fields["timestamp"].as_u64());
    assert_eq!(hex::encode(&header.extra_data), shown("extraData"));
    assert_eq!(header.paid_fees.to_string(), shown("paidFees"));
    assert_eq!(header.minimum_gas_price.map(|price| price.to_string()).as_deref(), fields["minimumGasPrice"].as_str());
    assert_eq!(Some(u64::from(header.uncle_count)), fields["uncleCount"].as_u64());
    assert_eq!(header.umm_root.as_ref().map(hex::encode).as_deref(), fields["ummRoot"].as_str());
    assert_eq!(header.base_event.as_ref().map(hex::encode).as_deref(), fields["baseEvent"].as_str());
    let edges = fields["edges"]
        .as_array()
        .map(|edges| edges.iter().map(|edge| edge.as_i64().unwrap() as i16).collect::<Vec<_>>());
    assert_eq!(header.edges, edges);
}

#[test]
fn golden_headers() {
    let specs = Specs::load();
    let cases = cases("blocks/headers.json");
    cases.iter().for_each(|case| check(case, &specs));
    assert_eq!(cases.len(), 329);
}

#[test]
fn real_headers() {
    let specs = Specs::load();
    let cases = cases("blocks/headers_real.json");
    cases.iter().for_each(|case| check(case, &specs));
    assert_eq!(cases.len(), 38);
}

#[test]
fn checkpoints_are_hashes_of_real_blocks() {
    let blocks = load("blocks/blocks_real.json");
    let cases = cases("blocks/headers_real.json").into_iter().chain(blocks["cases"].as_array().unwrap().clone());
    let real: Vec<(String, u64, String)> = cases
        .map(|case| (text(&case, "net").to_owned(), case["number"].as_u64().unwrap(), text(&case, "hash").to_owned()))
        .collect();
    for (network, spec, count) in [("main", ChainSpec::mainnet(), 1), ("testnet", ChainSpec::testnet(), 3)] {
        assert_eq!(spec.checkpoints.len(), count);
        for (number, hash) in spec.checkpoints {
            assert!(real.contains(&(network.to_owned(), number, hex::encode(hash))), "{network} {number}");
        }
    }
}

/// The difficulty grows by at most a 400th from block to block, so the blocks up to one of difficulty d have 400 d in total.
#[test]
fn minimum_difficulties_are_those_of_real_headers() {
    let cases = cases("blocks/headers_real.json");
    for (network, spec) in [("main", ChainSpec::mainnet()), ("testnet", ChainSpec::testnet())] {
        let highest =
            cases.iter().filter(|case| text(case, "net") == network).max_by_key(|case| case["number"].as_u64());
        let difficulty: U256 = text(&highest.unwrap()["fields"], "difficulty").parse().unwrap();
        assert_eq!(spec.minimum_chain_difficulty, difficulty * U256::from(400), "{network}");
    }
    assert_eq!(ChainSpec::regtest().minimum_chain_difficulty, U256::ZERO);
}

#[test]
fn golden_uncles_hashes() {
    let specs = Specs::load();
    let cases = cases("blocks/uncles_hash.json");
    for case in &cases {
        let uncles: Vec<Header> = case["uncles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|raw| Header::decode(&hex::decode(raw.as_str().unwrap()).unwrap(), specs.of(case)).unwrap())
            .collect();
        assert_eq!(hex::encode(uncles_hash(&uncles)), text(case, "unclesHash"));
    }
    assert_eq!(cases.len(), 12);
}
