//! The hash that identifies an inner transaction in messages of the reference.

use rhizome_primitives::{Address, B256, U256, keccak256, rlp};

/// A call or creation as the reference records it.
pub(super) struct InnerTransaction<'a> {
    /// Nonce of the sender before the instruction.
    pub(super) nonce: U256,
    /// Hash of the enclosing transaction or inner transaction.
    pub(super) enclosing: B256,
    pub(super) from: Address,
    /// `None` for a creation.
    pub(super) to: Option<Address>,
    pub(super) value: U256,
    pub(super) gas_price: U256,
    pub(super) block_gas_limit: u64,
    /// Code of the callee, or init code.
    pub(super) code: &'a [u8],
    /// Depth of the parent frame.
    pub(super) depth: usize,
    /// Number of inner transactions that the parent frame has recorded before.
    pub(super) recorded: u64,
}

impl InnerTransaction<'_> {
    pub(super) fn hash(&self) -> B256 {
        let mut items = Vec::with_capacity(self.code.len() + 256);
        let nonce = if self.nonce.is_zero() { Vec::new() } else { rlp::signed_bytes(&self.nonce, false) };
        rlp::put_bytes(&mut items, &nonce);
        rlp::put_bytes(&mut items, self.enclosing.as_slice());
        rlp::put_bytes(&mut items, self.from.as_slice());
        rlp::put_bytes(&mut items, self.to.as_ref().map_or(&[][..], |to| to.as_slice()));
        rlp::put_value(&mut items, &self.value);
        rlp::put_value(&mut items, &self.gas_price);
        rlp::put_bytes(&mut items, &U256::from(self.block_gas_limit).to_be_bytes::<32>());
        rlp::put_bytes(&mut items, self.code);
        rlp::put_bytes(&mut items, if self.to.is_some() { b"call" } else { b"create" });
        rlp::put_value(&mut items, &U256::from(self.depth));
        rlp::put_value(&mut items, &U256::from(self.recorded));
        rlp::put_value(&mut items, &U256::ZERO);
        keccak256(rlp::list(&items))
    }
}
