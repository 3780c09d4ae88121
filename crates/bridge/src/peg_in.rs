//! Peg-ins: coins sent to federations, for which the Bridge pays out RBTC (docs/spec/bridge.md, 6.5).

mod current;
mod instructions;
mod legacy;
mod outcome;
mod sender;

use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation;
use crate::federation_outputs::{output_scripts, outputs_to, sum};
use crate::storage::Storage;
use outcome::PegIn;
use rhizome_bitcoin::BitcoinTransaction;
use rhizome_primitives::{Log, Rule};

/// Registers, refunds or rejects a peg-in in the Bitcoin block at `height`.
pub(crate) fn register(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    transaction: &BitcoinTransaction,
    height: i32,
) -> Result<()> {
    let peg_in = PegIn { transaction, satoshis: total(storage, ctx, transaction)? };
    match ctx.has(Rule::Rskip379) {
        true => current::process(storage, ctx, logs, &peg_in),
        false => legacy::process(storage, ctx, logs, &peg_in, height),
    }
}

/// Returns the satoshis sent to the live federations. Loads the coins of both, so that the save writes them. Outputs to an
/// address that both have count twice.
fn total(storage: &mut Storage<'_>, ctx: &CallContext<'_>, transaction: &BitcoinTransaction) -> Result<i64> {
    federation::active_coins(storage, ctx)?;
    if federation::retiring(storage, ctx)?.is_some() {
        federation::retiring_coins(storage, ctx)?;
    }
    let mut satoshis = 0_i64;
    for script in output_scripts(ctx, &federation::live(storage, ctx)?)? {
        let sent = sum(&outputs_to(transaction, &[script])?)?;
        satoshis = satoshis.checked_add(sent).ok_or(MethodFailure::Rejected)?;
    }
    Ok(satoshis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Call;
    use crate::random_calls::world::Account;
    use rhizome_bitcoin::TransactionOutput;
    use rhizome_primitives::{Network, Rules};

    #[test]
    fn outputs_to_federations_with_the_same_keys_count_twice() {
        let call = Call::local(Network::Regtest, Rules::all(), 1000);
        let ctx = CallContext::of(&call).unwrap();
        let mut account = Account::default();
        let mut storage = Storage::new(&mut account, Network::Regtest, call.rules, Vec::new());
        let active = federation::active(&mut storage, &ctx).unwrap();
        let script = active.output_script(&ctx).unwrap();
        let outputs = vec![TransactionOutput { satoshis: 7, script }];
        let transaction = BitcoinTransaction { version: 2, inputs: Vec::new(), outputs, lock_time: 0 };
        assert_eq!(total(&mut storage, &ctx, &transaction).unwrap(), 7);
        storage.federations.new.set(Some(active.clone()));
        storage.federations.old.set(Some(active));
        assert_eq!(total(&mut storage, &ctx, &transaction).unwrap(), 14);
    }
}
