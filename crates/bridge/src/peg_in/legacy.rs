//! Peg-ins until RSKIP-379 (docs/spec/bridge.md, 6.5.4).

use super::instructions::{PegInInstructions, instructions_of};
use super::outcome::{Destination, NoRefundReason, PegIn, RejectionReason};
use super::sender::{PegInSender, SenderKind};
use crate::context::CallContext;
use crate::error::Result;
use crate::storage::Storage;
use crate::{locking_cap, whitelist};
use rhizome_bitcoin::BitcoinAddress;
use rhizome_primitives::{Log, Rule};

pub(super) fn process(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    peg_in: &PegIn<'_>,
    height: i32,
) -> Result<()> {
    let sender = PegInSender::of(ctx, peg_in.transaction)?;
    match (instructions_of(ctx, peg_in.transaction), sender) {
        (Ok(Some(instructions)), sender) => {
            process_instructed(storage, ctx, logs, peg_in, &instructions, sender.as_ref())
        }
        (Ok(None), Some(sender)) => process_plain(storage, ctx, logs, peg_in, &sender, height),
        (_, sender) => {
            if !ctx.has(Rule::Rskip170) {
                return Ok(());
            }
            log_rejection(ctx, logs, peg_in, RejectionReason::InvalidInstructions);
            let to = sender.map(|sender| sender.address);
            refund_or_log(storage, ctx, logs, peg_in, to, NoRefundReason::UnknownSender)?;
            peg_in.mark_processed(storage, ctx)
        }
    }
}

/// Processes a peg-in without instructions: the coins go to the account of the key that sent them.
fn process_plain(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    peg_in: &PegIn<'_>,
    sender: &PegInSender,
    height: i32,
) -> Result<()> {
    let accepts_witness = ctx.has(Rule::Rskip143);
    let account = match sender.kind {
        SenderKind::Key(account) => Some(account),
        _ if !accepts_witness => {
            log_rejection(ctx, logs, peg_in, RejectionReason::UnknownSender);
            return Ok(());
        }
        SenderKind::WitnessKey(account) => Some(account),
        SenderKind::Multisig | SenderKind::WitnessMultisig => None,
    };
    if let Some(account) = account
        && whitelist::use_entry(storage, &sender.address.hash, peg_in.satoshis, height)?
        && locking_cap::allows(storage, ctx, peg_in.satoshis)?
    {
        return peg_in.accept(storage, ctx, logs, Destination { account, protocol: 0 }, Some(sender));
    }
    if ctx.has(Rule::Rskip181) {
        if account.is_none() {
            log_rejection(ctx, logs, peg_in, RejectionReason::MultisigSender);
        } else if !locking_cap::allows(storage, ctx, peg_in.satoshis)? {
            log_rejection(ctx, logs, peg_in, RejectionReason::CapSurpassed);
        }
    }
    peg_in.refund(storage, ctx, logs, &sender.address)?;
    peg_in.mark_processed(storage, ctx)
}

/// Processes a peg-in with instructions (RSKIP-170). The whitelist does not apply.
fn process_instructed(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    peg_in: &PegIn<'_>,
    instructions: &PegInInstructions,
    sender: Option<&PegInSender>,
) -> Result<()> {
    if locking_cap::allows(storage, ctx, peg_in.satoshis)? {
        return peg_in.accept(storage, ctx, logs, instructions.destination(), sender);
    }
    log_rejection(ctx, logs, peg_in, RejectionReason::CapSurpassed);
    let to = instructions.refund_address.or(sender.map(|sender| sender.address));
    refund_or_log(storage, ctx, logs, peg_in, to, NoRefundReason::NoRefundAddress)?;
    peg_in.mark_processed(storage, ctx)
}

fn refund_or_log(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    peg_in: &PegIn<'_>,
    to: Option<BitcoinAddress>,
    reason: NoRefundReason,
) -> Result<()> {
    match to {
        Some(to) => peg_in.refund(storage, ctx, logs, &to),
        None => {
            if ctx.has(Rule::Rskip181) {
                peg_in.log_no_refund(logs, reason);
            }
            Ok(())
        }
    }
}

fn log_rejection(ctx: &CallContext<'_>, logs: &mut Vec<Log>, peg_in: &PegIn<'_>, reason: RejectionReason) {
    if ctx.has(Rule::Rskip181) {
        peg_in.log_rejection(logs, reason);
    }
}
