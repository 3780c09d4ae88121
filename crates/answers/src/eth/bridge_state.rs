//! `eth_bridgeState`.

use crate::block_id::BlockId;
use crate::error::{Answer, ErrorCode, RpcError};
use crate::json::JsonWriter;
use crate::node::Node;
use crate::options::BridgeStateForm;
use crate::state;
use rhizome_primitives::{BRIDGE, Network, Rule, Rules, U256, hex, rlp};
use rhizome_trie::StateReader;

/// Storage slot of the head of the Bitcoin header chain (docs/spec/bridge.md, 3.1 and 5.1).
const CHAIN_HEAD: &[u8] = b"blockStoreChainHead";
/// Storage slot of the peg-out transactions that wait for signatures (docs/spec/bridge.md, 3.3.7).
const WAITING_FOR_SIGNATURES: &[u8] = b"rskTxsWaitingFS";
/// Bytes of a stored header: chain work of 12 or, from RSKIP-454, 32 bytes, height of 4, header of 80.
const WORK_SIZES: [usize; 2] = [12, 32];
const HEIGHT_AND_HEADER_SIZE: usize = 4 + 80;

/// Storage slots of the peg-outs that the reference cannot decode (RSKIP-146): requests, and transactions that wait for
/// confirmations.
const WITH_HASHES: [&[u8]; 2] = [b"releaseRequestQueueWithTxHash", b"releaseTransactionSetWithTxHash"];
/// An empty list.
const EMPTY_LIST: [u8; 1] = [0xc0];

/// Returns the state of the Bridge at the best block: height of its Bitcoin chain, transactions that wait for signatures.
pub fn answer(node: &Node) -> Answer {
    let spec = node.chain().spec();
    let rules = spec.rules(node.chain().head().number());
    answer_at(spec.network, &rules, &*BlockId::LATEST.state(node)?, node.options().bridge_state)
}

/// The same about any state, under the rules of its block.
pub fn answer_at(network: Network, rules: &Rules, state: &dyn StateReader, form: BridgeStateForm) -> Answer {
    if form == BridgeStateForm::Decodable && rules.is_active(Rule::Rskip146) {
        for name in WITH_HASHES {
            let list = cell(state, name)?;
            if !list.is_empty() && list[..] != EMPTY_LIST {
                return Err(RpcError::internal(
                    "the state of the Bridge has peg-outs that the reference cannot decode",
                ));
            }
        }
    }
    let height = bitcoin_height(network, &cell(state, CHAIN_HEAD)?)?;
    let waiting = cell(state, WAITING_FOR_SIGNATURES)?;
    let mut json = JsonWriter::new();
    json.begin_object();
    json.key("btcBlockchainBestChainHeight").number(height);
    json.key("rskTxsWaitingForSignatures").begin_array();
    for hash in waiting_hashes(&waiting)? {
        json.text(&hash);
    }
    json.end_array();
    json.end_object();
    Ok(json.finish())
}

/// Returns the height of the Bitcoin chain. Without headers it is the checkpoint of the network.
fn bitcoin_height(network: Network, head: &[u8]) -> Result<i64, RpcError> {
    let checkpoint = match network {
        Network::Mainnet => 499_968,
        Network::Testnet | Network::Testnet2 => 1_413_216,
        Network::Regtest => 0,
        Network::Devnet => {
            return Err(RpcError::new(ErrorCode::ServerError, "the Bridge of this network is not defined"));
        }
    };
    if head.is_empty() {
        return Ok(checkpoint);
    }
    let work = WORK_SIZES.into_iter().find(|size| size + HEIGHT_AND_HEADER_SIZE == head.len());
    let bytes = work.and_then(|size| head.get(size..)).and_then(<[u8]>::first_chunk::<4>);
    let height = bytes.map(|bytes| i64::from(u32::from_be_bytes(*bytes)));
    let height = height.ok_or_else(|| RpcError::internal("the Bridge's Bitcoin head cannot be decoded"))?;
    Ok(if height == 0 { checkpoint } else { height })
}

/// Every other element of the list is a hash; the ones between are the transactions.
fn waiting_hashes(cell: &[u8]) -> Result<Vec<String>, RpcError> {
    if cell.is_empty() {
        return Ok(Vec::new());
    }
    let list = rlp::decode_list(cell).map_err(RpcError::internal)?;
    let elements = list.list("transactions waiting for signatures").map_err(RpcError::internal)?;
    Ok(elements.iter().step_by(2).map(|hash| hex::encode(hash.bytes())).collect())
}

fn cell(state: &dyn StateReader, name: &[u8]) -> Result<rhizome_primitives::Bytes, RpcError> {
    state::slot(state, &BRIDGE, &U256::from_be_slice(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights() {
        assert_eq!(bitcoin_height(Network::Mainnet, &[]).unwrap(), 499_968);
        for size in WORK_SIZES {
            let mut head = vec![0xff; size + HEIGHT_AND_HEADER_SIZE];
            head[size..size + 4].copy_from_slice(&250u32.to_be_bytes());
            assert_eq!(bitcoin_height(Network::Regtest, &head).unwrap(), 250);
            head[size..size + 4].copy_from_slice(&0u32.to_be_bytes());
            assert_eq!(bitcoin_height(Network::Testnet, &head).unwrap(), 1_413_216);
        }
        assert!(bitcoin_height(Network::Regtest, &[0; 90]).is_err());
        assert!(bitcoin_height(Network::Devnet, &[]).is_err());
    }

    #[test]
    fn hashes_stand_before_their_transactions() {
        let list = rlp::list(
            &[rlp_string(&[0xab; 32]), rlp_string(&[1; 60]), rlp_string(&[0xcd; 32]), rlp_string(&[])].concat(),
        );
        assert_eq!(waiting_hashes(&list).unwrap(), ["ab".repeat(32), "cd".repeat(32)]);
        assert!(waiting_hashes(&[]).unwrap().is_empty());
        assert!(waiting_hashes(&[0x83, 1, 2, 3]).is_err());
    }

    fn rlp_string(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        rlp::put_bytes(&mut out, bytes);
        out
    }
}
