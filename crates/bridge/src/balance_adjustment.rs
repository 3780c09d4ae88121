//! The balance of the Bridge after a peg-out with a raised change (docs/spec/bridge.md, 7.5.6).

use crate::error::{MethodFailure, Result};
use crate::storage::Storage;
use crate::transaction_builder::BuiltTransaction;
use crate::units::WEI_PER_SATOSHI;
use crate::wallet::FederationWallet;
use rhizome_primitives::{Address, U256};

/// Receives what the peg-out did not spend.
const BURN_ADDRESS: Address = Address::repeat_byte(0xff);

/// Burns the part of `satoshis` that the change returned to the federation because a smaller change would be dust.
pub(crate) fn burn_raised_change(
    storage: &mut Storage<'_>,
    wallet: &FederationWallet,
    built: &BuiltTransaction,
    satoshis: i64,
) -> Result<()> {
    let outputs = &built.transaction.outputs;
    if outputs.len() <= 1 {
        return Ok(());
    }
    let own_script = wallet.spendings.own_script()?;
    let mut spent = 0_i64;
    for value in &built.input_values {
        spent = spent.checked_add(*value).ok_or(MethodFailure::Rejected)?;
    }
    for output in outputs.iter().filter(|output| output.script == own_script) {
        spent = spent.checked_sub(output.satoshis).ok_or(MethodFailure::Rejected)?;
    }
    if spent >= satoshis {
        return Ok(());
    }
    let burnt = satoshis.checked_sub(spent).ok_or(MethodFailure::Rejected)?;
    storage.slots.pay(BURN_ADDRESS, U256::from(burnt.unsigned_abs()) * WEI_PER_SATOSHI)
}
