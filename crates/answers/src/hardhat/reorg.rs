//! `anvil_reorg`.

use super::rollback::too_deep;
use crate::accounts::{Signer, written};
use crate::call_object::CallObject;
use crate::error::{Answer, RpcError};
use crate::eth::send_raw_transaction::read_signed;
use crate::eth::send_transaction::{self, Draft};
use crate::json;
use crate::node::Node;
use rhizome_chain::Chain;
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, Transaction};
use serde_json::Value;
use std::collections::BTreeMap;

/// Most transactions of a request.
const MOST_TRANSACTIONS: usize = 10_000;
const EXPECTED: &str = "transactions: expected an array of [transaction, position of its block]";

/// A transaction for one of the new blocks.
enum BlockTransaction {
    Signed(Transaction),
    Draft(Draft),
}

/// Replaces the highest `depth` blocks by as many others, mined now. `transactions` is the JSON text of a list of pairs: a
/// transaction, raw or as for `eth_sendTransaction`, and the position of its block, from 0; empty for none. Null.
pub fn answer(node: &Node, depth: u64, transactions: &str, deadline: &Deadline) -> Answer {
    node.require_no_fleet("anvil_reorg")?;
    let chain = node.require_development()?;
    let mut blocks = match transactions {
        "" => BTreeMap::new(),
        text => read(node, depth, text)?,
    };
    let deadline = deadline.clone();
    let reorganized = chain.reorganize(depth, node.now(), move |chain, position| {
        if deadline.has_passed() {
            let message = format!("Execution has got timeout out: {position} of {depth} blocks are mined.");
            return Err(RpcError { message, ..RpcError::timed_out() });
        }
        blocks.remove(&position).into_iter().flatten().try_for_each(|transaction| transaction.submit(chain))
    })?;
    if reorganized { Ok(json::null()) } else { Err(too_deep(node, depth)) }
}

impl BlockTransaction {
    fn read(node: &Node, value: &Value) -> Result<Self, RpcError> {
        if let Value::String(raw) = value {
            let transaction = read_signed(node, raw)?;
            transaction
                .recover_sender()
                .map_err(|error| RpcError::invalid_params(format!("Invalid input: invalid signature, {error}")))?;
            return Ok(Self::Signed(transaction));
        }
        let object = CallObject::parse_transaction(&value.to_string())?;
        let accounts = node.accounts();
        let signer = |from: &Address| -> Result<Signer, RpcError> {
            accounts.signer(from, || format!("Could not find account for address: {}", written(from)))
        };
        send_transaction::pending(node, &object, signer).map(Self::Draft)
    }

    fn submit(self, chain: &Chain) -> Result<(), RpcError> {
        match self {
            Self::Signed(transaction) => drop(chain.submit(transaction)?),
            Self::Draft(draft) => drop(draft.submit(chain)?),
        }
        Ok(())
    }
}

/// Returns the transactions by the position of their block.
fn read(node: &Node, depth: u64, json: &str) -> Result<BTreeMap<u64, Vec<BlockTransaction>>, RpcError> {
    let refused = |message: String| RpcError::invalid_params(message).with_hint(EXPECTED);
    let Ok(Value::Array(pairs)) = serde_json::from_str(json) else {
        return Err(refused("Invalid transactions: an array is expected".into()));
    };
    if pairs.len() > MOST_TRANSACTIONS {
        return Err(refused(format!("too many transactions: {} > {MOST_TRANSACTIONS}", pairs.len())));
    }
    let mut blocks: BTreeMap<u64, Vec<BlockTransaction>> = BTreeMap::new();
    for pair in &pairs {
        let Some([transaction, position]) = pair.as_array().map(Vec::as_slice) else {
            return Err(refused("Invalid transactions: pairs of transaction and position are expected".into()));
        };
        let Some(position) = position.as_u64().filter(|position| *position < depth) else {
            return Err(refused(format!("Invalid position of a block: {position}, {depth} blocks are replaced")));
        };
        blocks.entry(position).or_default().push(BlockTransaction::read(node, transaction)?);
    }
    Ok(blocks)
}
