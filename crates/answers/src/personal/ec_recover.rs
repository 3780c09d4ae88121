//! `personal_ecRecover`.

use crate::accounts::message_hash;
use crate::error::{Answer, RpcError};
use crate::json;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use rhizome_primitives::{Address, Bytes};

/// The address that signed a message under the standard prefix. v may be 0, 1, 27 or 28.
pub fn answer(message: &Bytes, signature: &Bytes) -> Answer {
    let invalid = |reason: &str| RpcError::invalid_params(format!("Invalid signature: {reason}"));
    let (components, v) = match signature.as_ref() {
        [components @ .., v] if components.len() == 64 => (components, *v),
        _ => return Err(invalid("it must have 65 bytes")),
    };
    let recovery = RecoveryId::from_byte(if v >= 27 { v - 27 } else { v }).filter(|id| !id.is_x_reduced());
    let recovery = recovery.ok_or_else(|| invalid("v must be 27 or 28"))?;
    let signature = Signature::from_slice(components).map_err(|_range| invalid("r or s is out of range"))?;
    let hash = message_hash(message);
    let key = VerifyingKey::recover_from_prehash(hash.as_slice(), &signature, recovery)
        .map_err(|_none| invalid("it leads to no key"))?;
    let point = key.to_encoded_point(false);
    let address = point.as_bytes().get(1..).map(Address::from_raw_public_key);
    address.map(|address| json::data(address.as_slice())).ok_or_else(|| invalid("it leads to no key"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::Accounts;

    #[test]
    fn who_signed() {
        let accounts = Accounts::development();
        let address = accounts.addresses()[0];
        let mut signature = accounts.sign_message(&address, b"hello").unwrap().to_vec();
        let message = Bytes::from_static(b"hello");
        let expected = json::data(address.as_slice());
        assert_eq!(answer(&message, &signature.clone().into()).unwrap(), expected);
        signature[64] -= 27;
        assert_eq!(answer(&message, &signature.clone().into()).unwrap(), expected);
        for bad in [&[][..], &[1; 64], &[0; 65], &[0xff; 65]] {
            assert!(answer(&message, &Bytes::copy_from_slice(bad)).is_err());
        }
    }
}
