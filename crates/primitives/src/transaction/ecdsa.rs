//! ECDSA on secp256k1: group order, field prime, and the signatures that can be recovered in batches.

use alloy_primitives::{B256, U256, uint};

/// Group order.
pub(super) const ORDER: U256 = uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);
/// Field prime.
pub(super) const FIELD: U256 = uint!(0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f_U256);

/// Input of a batch recovery: a signature with r and s between 1 and the group order.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "the vector code is for x86-64 only"))]
pub(super) struct RecoveryInput {
    pub(super) message: B256,
    pub(super) r: U256,
    pub(super) s: U256,
    pub(super) is_y_odd: bool,
}
