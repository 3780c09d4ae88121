//! Custom chain specifications: golden ones and small valid and invalid ones.

use crate::vectors::load;
use rhizome_primitives::{Address, ChainSpec, Header, Network, Rule, SpecError, U256, Upgrade, hex};
use serde_json::{Value, json};

#[test]
fn golden_specs() {
    for (name, file) in load("blocks/chain_specs.json").as_object().unwrap() {
        let spec = ChainSpec::from_json(&file.to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
        // The same specification as a member of a larger file.
        assert_eq!(ChainSpec::from_json(&json!({ "spec": file, "blocks": [] }).to_string()).unwrap(), spec);
        assert_eq!(Some(u64::from(spec.chain_id)), file["chainId"].as_u64());
        for (rule, height) in file["consensusRules"].as_object().unwrap() {
            let expected = u64::try_from(height.as_i64().unwrap()).ok();
            assert_eq!(spec.height(Rule::by_name(rule).unwrap()), expected, "{name} {rule}");
        }
        for (upgrade, height) in file["activationHeights"].as_object().unwrap() {
            let expected = u64::try_from(height.as_i64().unwrap()).ok();
            assert_eq!(spec.upgrade_height(Upgrade::by_name(upgrade).unwrap()), expected);
        }
        let block = &file["genesisBlock"];
        let header = Header::genesis(&spec, block["unitrieRoot"].as_str().unwrap().parse().unwrap());
        assert_eq!(Some(header.hash()), spec.genesis.expected_hash);
        let genesis = rhizome_primitives::Block { header, transactions: vec![], uncles: vec![] };
        assert_eq!(hex::encode_prefixed(genesis.encode()), block["rlp"].as_str().unwrap());
        assert_eq!(spec.genesis.alloc.len(), file["genesis"]["alloc"].as_object().unwrap().len());
    }
}

#[test]
fn contracts_in_the_genesis() {
    let file = &load("blocks/chain_specs.json")["all-forks"];
    let spec = ChainSpec::from_json(&file.to_string()).unwrap();
    let account = |address: &str| {
        let address: Address = address.parse().unwrap();
        spec.genesis.alloc.iter().find(|account| account.address == address).unwrap()
    };
    assert_eq!(account("5f000000000000000000000000000000000000aa").nonce, 7);
    let contract = account("5f00000000000000000000000000000000000001");
    assert_eq!(contract.code.as_deref().unwrap().as_ref(), hex!("60203560003555"));
    let slots: Vec<_> = contract.storage.iter().map(|(slot, value)| (slot[31], slot[0], value.len())).collect();
    assert_eq!(slots, [(1, 0, 1), (2, 0, 32), (1, 0xff, 3)]);
    assert_eq!(account("5f00000000000000000000000000000000000002").storage, []);
}

#[test]
fn a_partial_spec_inherits_the_rest() {
    let text = json!({
        "network": "regtest",
        "name": "mine",
        "networkId": 99,
        "activationHeights": { "lovell700": 50 },
        "consensusRules": { "rskip144": "lovell700", "rskip535": -1 },
        "constants": { "minimumDifficulty": "131072", "newBlockMaxSecondsInTheFuture": 20 },
        "remasc": { "maturity": 3 },
        "genesis": { "gasLimit": "0x1c9c380" , "alloc": { "00": {}, "0x00000000000000000000000000000000000000aa": { "balance": 5 } } },
    });
    // An odd number of hex digits is not a byte string.
    assert!(
        matches!(ChainSpec::from_json(&text.to_string()), Err(SpecError::BadValue { path, .. }) if path == "genesis.gasLimit")
    );
    let mut text = text;
    text["genesis"]["gasLimit"] = json!("0x01c9c380");
    let spec = ChainSpec::from_json(&text.to_string()).unwrap();
    let regtest = ChainSpec::regtest();
    assert_eq!((spec.network, spec.name.as_str(), spec.chain_id, spec.network_id), (Network::Regtest, "mine", 33, 99));
    assert_eq!(spec.height(Rule::Rskip445), Some(50));
    assert_eq!(spec.height(Rule::Rskip144), Some(50));
    assert_eq!(spec.height(Rule::Rskip535), None);
    assert_eq!(spec.height(Rule::Rskip351), Some(1), "the network's own override stays");
    assert_eq!(spec.height(Rule::Rskip544), Some(0));
    assert_eq!(spec.constants.minimum_difficulty, U256::from(131072));
    assert_eq!(spec.constants.max_seconds_in_future, 20);
    assert_eq!(spec.constants.target_gas_limit, regtest.constants.target_gas_limit);
    assert_eq!((spec.remasc.maturity, spec.remasc.synthetic_span), (3, 5));
    assert_eq!(spec.genesis.gas_limit, 30_000_000);
    assert_eq!(spec.genesis.coinbase, regtest.genesis.coinbase);
    assert_eq!((spec.genesis.alloc.len(), spec.genesis.alloc[0].balance), (1, U256::from(5)));
    assert_eq!(spec.genesis.expected_hash, None);
    assert_eq!(ChainSpec::from_json(r#"{"network":"main"}"#).unwrap().height(Rule::Rskip85), Some(729_000));
}

#[test]
fn changed_accounts_drop_the_state_root() {
    let spec = |text: Value| ChainSpec::from_json(&text.to_string()).unwrap();
    assert!(spec(json!({ "network": "testnet", "genesis": { "timestamp": "0x01" } })).genesis.state_root.is_some());
    assert!(spec(json!({ "network": "testnet", "genesis": { "alloc": {} } })).genesis.state_root.is_none());
}

#[test]
fn errors_name_the_field() {
    let bad = |text: Value| ChainSpec::from_json(&text.to_string()).unwrap_err().to_string();
    let with = |key: &str, value: Value| bad(json!({ "network": "regtest", key: value }));
    assert!(matches!(ChainSpec::from_json("{"), Err(SpecError::Json(_))));
    assert!(matches!(ChainSpec::by_name("ropsten"), Err(SpecError::UnknownNetwork { name }) if name == "ropsten"));
    assert_eq!(bad(json!([])), "the specification: expected an object, got []");
    assert_eq!(bad(json!({})), "network is missing");
    assert_eq!(
        bad(json!({ "network": "x" })),
        "unknown network \"x\"; known are mainnet, testnet, testnet2, regtest and devnet"
    );
    assert_eq!(with("chainID", json!(5)), "unknown field chainID");
    assert_eq!(with("chainId", json!(0)), "chainId: expected a whole number above 0, got 0");
    assert_eq!(with("chainId", json!(300)), "chainId: expected a whole number above 0, got 300");
    assert_eq!(
        with("activationHeights", json!({ "tangerine": 5 })),
        "activationHeights: unknown upgrade \"tangerine\""
    );
    assert_eq!(with("consensusRules", json!({ "rskip1": 5 })), "consensusRules: unknown consensus rule \"rskip1\"");
    assert_eq!(with("consensusRules", json!({ "rskip85": "x" })), "consensusRules.rskip85: unknown upgrade \"x\"");
    assert_eq!(
        with("consensusRules", json!({ "rskip85": -2 })),
        "consensusRules.rskip85: expected a block number, or -1 for never, got -2"
    );
    assert_eq!(
        with("activationHeights", json!({ "orchid": 1.5 })),
        "activationHeights.orchid: expected a block number, or -1 for never, got 1.5"
    );
    assert_eq!(with("constants", json!({ "blockTime": 5 })), "unknown field constants.blockTime");
    assert_eq!(
        with("constants", json!({ "gasLimitBoundDivisor": 0 })),
        "constants.gasLimitBoundDivisor: expected a whole number above 0, got 0"
    );
    assert_eq!(
        with("constants", json!({ "minimumDifficulty": "-1" })),
        "constants.minimumDifficulty: expected an amount in decimal digits, got \"-1\""
    );
    assert_eq!(
        with("remasc", json!({ "labsAddress": "0x12" })),
        "remasc.labsAddress: expected 20 bytes in hex, got \"0x12\""
    );
    assert_eq!(
        with("genesis", json!({ "alloc": { "12": { "balance": "1" } } })),
        "genesis.alloc.12: expected a key of 20 bytes in hex, got 12"
    );
    let address = "00000000000000000000000000000000000000aa";
    assert_eq!(
        with("genesis", json!({ "alloc": { address: {} } })),
        format!("genesis.alloc.{address}.balance is missing")
    );
    assert_eq!(
        with(
            "genesis",
            json!({ "alloc": { address: { "balance": "1", "contract": { "code": "", "data": { "zz": "" } } } } })
        ),
        format!("genesis.alloc.{address}.contract.data.zz: expected a key of up to 32 bytes in hex, got zz")
    );
    assert_eq!(
        with("genesis", json!({ "difficulty": "0xff" })),
        "genesis.difficulty: expected a positive signed number in hex, got \"0xff\""
    );
    assert_eq!(with("genesis", json!([])), "genesis: expected an object, got []");
}

/// Ids and genesis blocks that other nodes expect (docs/spec/p2p.md, 1.2).
#[test]
fn public_networks_have_their_ids_and_genesis_blocks() {
    let expected = [
        (ChainSpec::mainnet(), 775, 30, "f88529d4ab262c0f4d042e9d8d3f2472848eaafe1a9b7213f57617eb40a9f9e0"),
        (ChainSpec::testnet(), 8_100, 31, "cabb7fbe88cd6d922042a32ffc08ce8b1fbb37d650b9d4e7dbfe2a7469adfa42"),
        (ChainSpec::regtest(), 7_771, 33, "8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe"),
    ];
    for (spec, network_id, chain_id, genesis) in expected {
        assert_eq!((spec.network_id, spec.chain_id), (network_id, chain_id), "{}", spec.name);
        let hash = spec.genesis.expected_hash.map(hex::encode);
        assert_eq!(hash.as_deref(), Some(genesis), "{}", spec.name);
        // Genesis is never its own checkpoint, and checkpoints ascend.
        let heights: Vec<u64> = spec.checkpoints.iter().map(|(number, _hash)| *number).collect();
        assert!(heights.is_sorted() && !heights.contains(&0), "{}: {heights:?}", spec.name);
    }
}
