//! Migration of the coins of the retiring federation (docs/spec/bridge.md, 7.4).

use crate::coin_selection::SpendableCoins;
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation;
use crate::fee_per_kb::fee_per_kb;
use crate::settlement::{CoinList, settle, spent_outpoints};
use crate::storage::Storage;
use crate::transaction_builder::{BuildFailure, BuiltTransaction, build_migration};
use crate::wallet::FederationWallet;
use rhizome_primitives::{Log, Rule};

/// Moves coins of the retiring federation to the active one while the active one has the age for it. Forgets the retiring
/// federation at the end of that age.
pub(crate) fn migrate(storage: &mut Storage<'_>, ctx: &CallContext<'_>, logs: &mut Vec<Log>) -> Result<()> {
    let Some(retiring) = federation::retiring(storage, ctx)? else { return Ok(()) };
    let stored = &federation::retiring_coins(storage, ctx)?.0;
    let (count, limit) = (stored.len(), ctx.constants.migration_inputs);
    let considered = if ctx.has(Rule::Rskip294) { count.min(limit) } else { count };
    let coins = SpendableCoins::new(&stored[..considered]);
    let mut wallet = FederationWallet::of_federation(ctx, &retiring, coins)?;
    let balance = wallet.coins.balance();
    let created = federation::active(storage, ctx)?.creation_block;
    let age = i128::from(ctx.call.block_number) - i128::from(created);
    let (begin, end) = federation::migration_ages(ctx);
    if i128::from(begin) < age && age < i128::from(end) {
        let minimum = i64::try_from(fee_per_kb(storage, ctx)? / 2).map_err(|_overflow| MethodFailure::Rejected)?;
        if balance > minimum {
            move_coins(storage, ctx, logs, &mut wallet)?;
        }
    }
    if age < i128::from(end) {
        return Ok(());
    }
    if balance > 0 {
        match move_coins(storage, ctx, logs, &mut wallet) {
            Err(MethodFailure::Fatal(error)) => return Err(MethodFailure::Fatal(error)),
            Ok(()) => {}
            Err(MethodFailure::Rejected | MethodFailure::Argument) => {
                // The reference asks for the balance again, through a view of the list that a removal has made invalid.
                let remaining = federation::retiring_coins(storage, ctx)?.0.len();
                if considered < count && remaining < count {
                    return Err(MethodFailure::Rejected);
                }
            }
        }
    }
    federation::forget_retiring(storage);
    Ok(())
}

fn move_coins(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    wallet: &mut FederationWallet,
) -> Result<()> {
    storage.confirmations.get(&mut storage.slots)?;
    let to = federation::active(storage, ctx)?.output_script(ctx)?;
    let built = build(storage, ctx, wallet, &to)?;
    // Coins of the list with the same outpoint count each.
    let spent = spent_outpoints(&built.transaction);
    let mut satoshis = 0_i64;
    for coin in &federation::retiring_coins(storage, ctx)?.0 {
        if spent.contains(&(coin.txid.0, coin.index)) {
            satoshis = satoshis.checked_add(coin.satoshis).ok_or(MethodFailure::Rejected)?;
        }
    }
    settle(storage, ctx, logs, CoinList::Retiring, &built, Some(ctx.call.transaction_hash), satoshis)
}

/// Builds a transaction of all coins, or of a part that fits: half the amount as often as needed.
fn build(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    wallet: &mut FederationWallet,
    to: &[u8],
) -> Result<BuiltTransaction> {
    let mut satoshis = wallet.coins.balance();
    loop {
        match build_migration(storage, ctx, wallet, to, satoshis)? {
            Ok(built) => return Ok(built),
            Err(BuildFailure::Dusty) => return Err(MethodFailure::Rejected),
            Err(BuildFailure::Insufficient | BuildFailure::TooBig | BuildFailure::CannotAdjust) => satoshis /= 2,
        }
    }
}
