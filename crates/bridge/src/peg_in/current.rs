//! Peg-ins since RSKIP-379 (docs/spec/bridge.md, 6.5.3). There is no whitelist and no locking cap.

use super::instructions::instructions_of;
use super::outcome::{Destination, NoRefundReason, PegIn, RejectionReason};
use super::sender::{PegInSender, SenderKind};
use crate::context::CallContext;
use crate::error::{MethodFailure, Result};
use crate::federation;
use crate::federation_outputs::{output_scripts, outputs_to};
use crate::storage::Storage;
use rhizome_bitcoin::script::script_hash;
use rhizome_bitcoin::{BitcoinAddress, BitcoinTransaction, OutputKind, output_kind};
use rhizome_primitives::{Log, Rule};
use std::collections::BTreeSet;

/// The decision about a peg-in.
enum PegInDecision {
    Accept(Destination),
    Refund(BitcoinAddress, RejectionReason),
    Keep(RejectionReason, NoRefundReason),
}

pub(super) fn process(
    storage: &mut Storage<'_>,
    ctx: &CallContext<'_>,
    logs: &mut Vec<Log>,
    peg_in: &PegIn<'_>,
) -> Result<()> {
    match judge(storage, ctx, peg_in.transaction)? {
        PegInDecision::Accept(destination) => peg_in.accept(storage, ctx, logs, destination, None),
        PegInDecision::Refund(to, reason) => {
            peg_in.log_rejection(logs, reason);
            peg_in.refund(storage, ctx, logs, &to)?;
            peg_in.mark_processed(storage, ctx)
        }
        PegInDecision::Keep(reason, no_refund) => {
            peg_in.log_rejection(logs, reason);
            peg_in.log_no_refund(logs, no_refund);
            if ctx.has(Rule::Rskip459) && !ctx.has(Rule::Rskip551) {
                peg_in.mark_processed(storage, ctx)?;
            }
            Ok(())
        }
    }
}

fn judge(storage: &mut Storage<'_>, ctx: &CallContext<'_>, transaction: &BitcoinTransaction) -> Result<PegInDecision> {
    let live = federation::live(storage, ctx)?;
    let scripts = output_scripts(ctx, &live)?;
    let outputs = outputs_to(transaction, &scripts)?;
    let minimum = ctx.minimum_peg_in();
    if outputs.is_empty() || outputs.iter().any(|(_, output)| output.satoshis < minimum) {
        return Ok(PegInDecision::Keep(RejectionReason::InvalidAmount, NoRefundReason::InvalidAmount));
    }
    let sender = PegInSender::of(ctx, transaction)?;
    let Ok(instructions) = instructions_of(ctx, transaction) else {
        let reason = RejectionReason::InvalidInstructions;
        return Ok(match sender {
            Some(sender) => PegInDecision::Refund(sender.address, reason),
            None => PegInDecision::Keep(reason, NoRefundReason::UnknownSender),
        });
    };
    if let Some(instructions) = instructions {
        return Ok(PegInDecision::Accept(instructions.destination()));
    }
    let Some(sender) = sender else {
        return Ok(PegInDecision::Keep(RejectionReason::UnknownSender, NoRefundReason::UnknownSender));
    };
    let reason = RejectionReason::MultisigSender;
    match sender.kind {
        SenderKind::Key(account) | SenderKind::WitnessKey(account) => {
            Ok(PegInDecision::Accept(Destination { account, protocol: 0 }))
        }
        SenderKind::Multisig | SenderKind::WitnessMultisig => {
            let paid = paid_federations(transaction, &scripts)?;
            let mut versions = paid.iter().filter_map(|index| live.get(*index)).map(|federation| federation.version);
            let first = versions.next();
            Ok(match versions.all(|version| Some(version) == first) {
                true => PegInDecision::Refund(sender.address, reason),
                false => PegInDecision::Keep(reason, NoRefundReason::DifferentFederations),
            })
        }
    }
}

/// Returns the positions of the federations that outputs pay to. The reference compares only hashes, so P2PKH outputs count,
/// too; an output that is neither P2PKH nor P2SH is a call error.
fn paid_federations(transaction: &BitcoinTransaction, scripts: &[Vec<u8>]) -> Result<BTreeSet<usize>> {
    let hashes: Vec<_> = scripts.iter().map(|script| script_hash(script)).collect();
    let mut paid = BTreeSet::new();
    for output in &transaction.outputs {
        let (OutputKind::PayToKeyHash(hash) | OutputKind::PayToScriptHash(hash)) = output_kind(&output.script)? else {
            return Err(MethodFailure::Rejected);
        };
        paid.extend(hashes.iter().position(|known| *known == Some(hash)));
    }
    Ok(paid)
}
