//! Registration of Bitcoin transactions (docs/spec/bridge.md, 6.1 and 6.3).

use crate::context::CallContext;
use crate::display_order::{display_hash, display_id};
use crate::error::Result;
use crate::federation_outputs::register_coins;
use crate::processed_transactions::is_known;
use crate::return_value::ReturnValue;
use crate::storage::Storage;
use crate::submission::Submission;
use crate::transaction_type::{TransactionType, transaction_type};
use crate::{peg_in, svp};
use rhizome_primitives::Log;

/// Registers a transaction. A transaction that is not proven, or is processed already, changes nothing.
pub(crate) fn register(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    submission: Submission<'_>,
) -> Result<ReturnValue> {
    let hash = display_hash(submission.hash());
    if is_known(storage, ctx, &hash)? || !submission.is_proven(storage, ctx)? {
        return Ok(ReturnValue::None);
    }
    let transaction = submission.parse()?;
    // The hash of a transaction with a witness is not its id.
    if is_known(storage, ctx, &display_id(&transaction))? {
        return Ok(ReturnValue::None);
    }
    match transaction_type(storage, ctx, &transaction, submission.height)? {
        TransactionType::PegIn => peg_in::register(storage, ctx, logs, &transaction, submission.height)?,
        TransactionType::PegOut => register_coins(storage, ctx, &transaction)?,
        TransactionType::SvpFund => {
            register_coins(storage, ctx, &transaction)?;
            svp::register_fund(storage, ctx, &transaction)?;
        }
        TransactionType::SvpSpend => {
            register_coins(storage, ctx, &transaction)?;
            svp::register_spend(storage, ctx)?;
        }
        TransactionType::Unknown => {}
    }
    Ok(ReturnValue::None)
}
