//! Headers of mainnet and testnet in the header chain.

use std::fs::File;

use flate2::read::GzDecoder;
use rhizome_chain::{Chain, HeaderFault, HeaderRun};
use rhizome_primitives::{B256, Block, ChainSpec, Header, hex, rlp};
use serde_json::Value;

use crate::{config, vectors_folder};

/// Returns the network of a header, without the checkpoints below which few proofs of work are checked.
fn spec_of(case: &Value) -> ChainSpec {
    let mut spec = match case["net"].as_str() {
        Some("main") => ChainSpec::mainnet(),
        _ => ChainSpec::testnet(),
    };
    spec.checkpoints.clear();
    spec
}

fn bytes(case: &Value) -> Vec<u8> {
    hex::decode(case["raw"].as_str().unwrap()).unwrap()
}

/// Returns a header as another node sends it.
fn received(header: &Header, spec: &ChainSpec) -> Header {
    Header::from_compressed_item(&rlp::decode_list(&header.encode_compressed()).unwrap(), spec).unwrap()
}

#[test]
fn real_headers_pass_and_their_changed_copies_do_not() {
    let file = File::open(vectors_folder().join("blocks/headers_real.json.gz")).unwrap();
    let vectors: Value = serde_json::from_reader(GzDecoder::new(file)).unwrap();
    let mut headers = Vec::new();
    for case in vectors["cases"].as_array().unwrap() {
        let spec = spec_of(case);
        let header = Header::decode(&bytes(case), &spec).unwrap();
        let now = header.timestamp + 1;
        let run = HeaderRun::verify(vec![received(&header, &spec)], &spec, now).unwrap();
        let hash: B256 = case["hash"].as_str().unwrap().parse().unwrap();
        assert_eq!(run.positions().collect::<Vec<_>>(), [(header.number, hash)]);
        let mut changed = header.clone();
        changed.gas_used += 1;
        let fault = HeaderRun::verify(vec![received(&changed, &spec)], &spec, now).unwrap_err();
        assert!(matches!(fault, HeaderFault::ProofOfWork { number, .. } if number == header.number), "{fault}");
        if case["net"] == "main" {
            headers.push(header);
        }
    }
    // Valid headers that are no chain.
    let spec = ChainSpec::mainnet();
    let pair: Vec<Header> = headers.iter().take(2).map(|header| received(header, &spec)).collect();
    let fault = HeaderRun::verify(pair, &spec, u64::MAX).unwrap_err();
    assert!(matches!(fault, HeaderFault::Link { .. }), "{fault}");
}

#[test]
fn headers_on_the_genesis_of_testnet_become_its_header_chain() {
    let file = File::open(vectors_folder().join("blocks/chain_testnet.json")).unwrap();
    let vectors: Value = serde_json::from_reader(file).unwrap();
    let spec = ChainSpec::testnet();
    let blocks: Vec<Block> =
        vectors["cases"].as_array().unwrap().iter().map(|case| Block::decode(&bytes(case), &spec).unwrap()).collect();
    let last = &blocks.last().unwrap().header;
    let chain = Chain::open(config(spec.clone(), None)).unwrap();
    let genesis = chain.headers().find(0, &blocks[0].header.parent().unwrap()).unwrap().unwrap();
    let headers = blocks.iter().map(|block| received(&block.header, &spec)).collect();
    let run = HeaderRun::verify(headers, &spec, last.timestamp + 1).unwrap();
    chain.headers().adopt(&chain.headers().attach(&genesis, run).unwrap()).unwrap();
    assert_eq!(chain.headers().best_number(), 5);
    assert_eq!(chain.headers().tip().map(|tip| tip.hash), Some(last.hash()));
}
