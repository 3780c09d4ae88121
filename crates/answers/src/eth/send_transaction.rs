//! `eth_sendTransaction`.

use crate::accounts::{Signer, written};
use crate::call_object::CallObject;
use crate::delivery;
use crate::error::{Answer, RpcError};
use crate::gas_price;
use crate::node::Node;
use rhizome_chain::{Chain, SubmittedTransaction};
use rhizome_primitives::{Address, Transaction, U256, UnsignedTransaction};

/// Gas of a transaction whose object names none.
const DEFAULT_GAS: u64 = 90_000;

/// Signs with an unlocked account and hands the transaction to the pool; its hash.
pub fn answer(node: &Node, object: &CallObject) -> Answer {
    let accounts = node.accounts();
    if object.from.is_none() {
        // A node without accounts reports that first. No account has the zero address.
        accounts.key(&Address::ZERO, || "from is null".into())?;
    }
    let signer =
        |from: &Address| accounts.signer(from, || format!("Could not find account for address: {}", written(from)));
    let pending = pending(node, object, signer)?;
    delivery::deliver(node, move |chain| pending.submit(chain))
}

/// A transaction that is signed when its nonce is known.
pub(crate) struct Draft {
    from: Address,
    signer: Signer,
    chain_id: u8,
    /// None: the next one.
    nonce: Option<U256>,
    /// Its nonce is not used.
    unsigned: UnsignedTransaction,
}

impl Draft {
    /// Signs the transaction and submits it to the pool. Without a nonce it takes the next one of the account, which no
    /// other submission gets.
    pub(crate) fn submit(&self, chain: &Chain) -> Result<SubmittedTransaction, RpcError> {
        match self.nonce {
            Some(nonce) => Ok(chain.submit(self.sign(nonce)?)?),
            None => chain.submit_next(&self.from, |nonce| self.sign(U256::from(nonce))),
        }
    }

    fn sign(&self, nonce: U256) -> Result<Transaction, RpcError> {
        let unsigned = UnsignedTransaction { nonce, ..self.unsigned.clone() };
        let signed = match &self.signer {
            Signer::Key(key) => Transaction::sign(unsigned, self.chain_id, key),
            Signer::Impersonated => Transaction::impersonate(unsigned, self.chain_id, &self.from),
        };
        signed.map_err(RpcError::internal)
    }
}

/// The transaction that an object describes, with the defaults of this node.
pub(crate) fn pending(
    node: &Node,
    object: &CallObject,
    signer: impl FnOnce(&Address) -> Result<Signer, RpcError>,
) -> Result<Draft, RpcError> {
    let from = object.from.ok_or_else(|| RpcError::invalid_params("from is null"))?;
    let signer = signer(&from)?;
    let chain_id = node.chain().spec().chain_id;
    if let Some((sent, text)) = &object.chain_id
        && !sent.is_zero()
        && *sent != U256::from(chain_id)
    {
        return Err(RpcError::invalid_params(format!("Invalid chainId: {text}")));
    }
    let gas = object.gas.unwrap_or(U256::from(DEFAULT_GAS));
    let price = object.gas_price.or(node.options().default_gas_price);
    let unsigned = UnsignedTransaction {
        nonce: U256::ZERO,
        gas_price: price.unwrap_or_else(|| gas_price::suggested(node)),
        gas_limit: gas.saturating_to(),
        to: object.to,
        value: object.value.unwrap_or_default(),
        data: object.data.clone(),
    };
    Ok(Draft { from, signer, chain_id, nonce: object.nonce, unsigned })
}
