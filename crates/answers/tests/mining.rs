//! Mining by external miners, compared with recordings.

use crate::dispatch::dispatch;
use crate::node::{reference_options, regtest, steps};
use rhizome_answers::Node;
use rhizome_answers::options::MiningMode;
use rhizome_bitcoin::merkle::root_of;
use rhizome_bitcoin::{Digest, display, sha256d};
use rhizome_chain::Clock;
use rhizome_primitives::{B256, hex};
use serde_json::{Value, json};

fn ask(node: &Node, method: &str, parameters: &[Value]) -> Result<Value, (i32, String)> {
    let answer = dispatch(node, method, parameters);
    answer.map(|text| serde_json::from_slice(&text).unwrap()).map_err(|error| (error.code.number(), error.message))
}

/// Solves a block template like the miner of the recording. `others`: ids of further transactions in wire order. `tail`:
/// bytes after the hash in the coinbase.
fn solve(template: &Value, others: &[Digest], tail: &[u8]) -> (String, String, Vec<Digest>) {
    let hash = template["blockHashForMergedMining"].as_str().unwrap();
    let target = template["target"].as_str().unwrap().parse::<B256>().unwrap();
    let message = [b"RSKBLOCK:".as_slice(), &hex::decode(hash).unwrap(), tail].concat();
    let length = u8::try_from(message.len()).unwrap();
    let coinbase = [
        &hex!("0100000001")[..],
        &[0; 32],
        &hex!("ffffffff0403010000ffffffff010000000000000000"),
        &[length + 2, 0x6a, length],
        &message,
        &[0; 4],
    ]
    .concat();
    let ids = [&[sha256d(&coinbase)], others].concat();
    let root = root_of(&ids);
    for nonce in 0_u32.. {
        let header = [&[0; 36][..], &root, &[0; 8], &nonce.to_le_bytes()].concat();
        if display(sha256d(&header)) <= target.0 {
            return (hex::encode(header), hex::encode(coinbase), ids);
        }
    }
    unreachable!("a third of all headers meets the target")
}

fn template_of(node: &Node) -> Value {
    ask(node, "mnr_getWork", &[]).unwrap()
}

fn displayed(id: &Digest) -> String {
    hex::encode(display(*id))
}

#[test]
fn accepts_the_three_forms_of_a_solution() {
    let node = regtest(reference_options(MiningMode::Off), Clock::new(|| 1_700_000_000));
    let others: Vec<Digest> = (0..4_u8).map(|seed| [seed; 32]).collect();
    let best = json!("0x494d504f525445445f42455354");

    let (header, coinbase, _) = solve(&template_of(&node), &[], &[]);
    let whole = json!(format!("{header}01{coinbase}"));
    let answer = ask(&node, "mnr_submitBitcoinBlock", std::slice::from_ref(&whole)).unwrap();
    assert_eq!((&answer["blockImportedResult"], &answer["blockIncludedHeight"]), (&best, &json!("0x1")));
    assert_eq!(
        answer["blockHash"],
        ask(&node, "eth_getBlockByNumber", &[json!("latest"), json!(false)]).unwrap()["hash"]
    );
    assert_eq!(ask(&node, "mnr_submitBitcoinBlock", &[whole]).unwrap()["blockImportedResult"], "0x4558495354");

    let (header, coinbase, ids) = solve(&template_of(&node), &others[..2], &[]);
    let submit = |ids: &[Digest]| {
        let ids: Vec<String> = ids.iter().map(displayed).collect();
        let parameters = [json!("0x00"), json!(header), json!(coinbase), json!(ids.join(" "))];
        ask(&node, "mnr_submitBitcoinBlockTransactions", &parameters)
    };
    let (code, message) = submit(&ids[1..]).unwrap_err();
    assert!(code == -33000 && message.starts_with("Invalid block supplied by miner: "), "{code} {message}");
    assert!(message.ends_with(" at height 2"), "{message}");
    assert_eq!(submit(&ids).unwrap()["blockImportedResult"], best);

    let (header, coinbase, ids) = solve(&template_of(&node), &others, &[7; 124]);
    let right = root_of(&ids[2..4]);
    let last = root_of(&[root_of(&[ids[4], ids[4]]), root_of(&[ids[4], ids[4]])]);
    let submit = |write: fn(&Digest) -> String| {
        let branch: Vec<String> = [ids[0], ids[1], right, last].iter().map(write).collect();
        let parameters = [json!(""), json!(header), json!(coinbase), json!(branch.join(" ")), json!("5")];
        ask(&node, "mnr_submitBitcoinBlockPartialMerkle", &parameters)
    };
    assert_eq!(submit(displayed).unwrap_err().0, -33000);
    assert_eq!(submit(|id| hex::encode(id)).unwrap()["blockIncludedHeight"], "0x3");
}

/// Repeats transcript 12 with templates of this node: siblings of one template, uncles. The transcript starts at block 12 of a
/// chain that calls the Bridge, so only its submissions that every node rejects are replayed; error texts are compared.
#[test]
fn siblings_become_uncles_and_invalid_submissions_are_rejected() {
    let node = regtest(reference_options(MiningMode::Off), Clock::new(|| 1_700_000_000));
    let submit = |block: String| ask(&node, "mnr_submitBitcoinBlock", &[json!(block)]);
    let template = template_of(&node);
    assert_eq!((&template["notify"], &template["feesPaidToMiner"]), (&json!(true), &json!("0")));
    assert_eq!(template_of(&node)["notify"], false);
    let as_array = ask(&node, "eth_getWork", &[]).unwrap();
    assert_eq!(as_array, json!([template["blockHashForMergedMining"], B256::ZERO.to_string(), template["target"]]));
    let mut results = Vec::new();
    for extra in 0..3 {
        let (header, coinbase, _) = solve(&template, &[], &[extra]);
        results.push(submit(format!("{header}01{coinbase}")).unwrap());
    }
    let names: Vec<&Value> = results.iter().map(|result| &result["blockImportedResult"]).collect();
    let side = "0x494d504f525445445f4e4f545f42455354";
    assert_eq!(names, ["0x494d504f525445445f42455354", side, side]);
    ask(&node, "evm_stopMining", &[]).unwrap();
    assert_eq!(template_of(&node)["parentBlockHash"], results[0]["blockHash"]);
    ask(&node, "evm_startMining", &[]).unwrap();
    let (header, coinbase, _) = solve(&template_of(&node), &[], &[]);
    submit(format!("{header}01{coinbase}")).unwrap();
    assert_eq!(ask(&node, "eth_getUncleCountByBlockNumber", &[json!("latest")]).unwrap(), "0x2");

    // The recorded submissions that every node rejects.
    for step in steps("12-scenario-mining-uncles-reorg.json") {
        if [26, 28].contains(&step["n"].as_u64().unwrap()) {
            let parameters = step["request"]["params"].as_array().unwrap();
            let (code, message) = ask(&node, "mnr_submitBitcoinBlock", parameters).unwrap_err();
            assert_eq!(json!({ "code": code, "message": message }), step["response"]["error"]);
        }
    }
    for (method, parameters, code) in [
        ("mnr_submitBitcoinBlock", json!(["zz"]), -32602),
        ("mnr_submitBitcoinBlock", json!(["00"]), -32602),
        ("mnr_submitBitcoinBlockTransactions", json!(["", "", "", ""]), -32602),
        ("mnr_submitBitcoinBlockTransactions", json!(["", header, coinbase, "00"]), -32602),
        ("mnr_submitBitcoinBlockTransactions", json!(["", header, coinbase, ""]), -32602),
        ("mnr_submitBitcoinBlockPartialMerkle", json!(["", "", "", "", ""]), -33000),
        ("mnr_submitBitcoinBlockPartialMerkle", json!(["", header, coinbase, "00", "1"]), -32602),
        ("mnr_submitBitcoinBlockPartialMerkle", json!(["", header, coinbase, "00".repeat(32), "zz"]), -32602),
        ("mnr_submitBitcoinBlockPartialMerkle", json!(["", header, coinbase, "00".repeat(32), "0"]), -32602),
    ] {
        assert_eq!(ask(&node, method, parameters.as_array().unwrap()).unwrap_err().0, code, "{method} {parameters}");
    }
    let other = regtest(reference_options(MiningMode::Off), Clock::system());
    other.chain().set_automine(false);
    assert_eq!(ask(&other, "mnr_getWork", &[]).unwrap_err().0, -32601);
    assert_eq!(ask(&other, "eth_getWork", &[]).unwrap_err().0, -32601);
}
