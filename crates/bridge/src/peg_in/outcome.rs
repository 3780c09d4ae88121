//! The outcomes of a peg-in: payment, refund, rejection (docs/spec/bridge.md, 6.5.3 and 6.5.4).

use super::sender::PegInSender;
use crate::context::CallContext;
use crate::display_order::display_id;
use crate::error::Result;
use crate::events;
use crate::federation_outputs::register_coins;
use crate::refunds::{Refund, RefundSource, build_refund};
use crate::storage::Storage;
use crate::units::WEI_PER_SATOSHI;
use rhizome_bitcoin::{BitcoinAddress, BitcoinTransaction};
use rhizome_primitives::{Address, Log, Rule, U256};

/// Why a peg-in is rejected; the numbers are those of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RejectionReason {
    CapSurpassed = 1,
    MultisigSender = 2,
    UnknownSender = 3,
    InvalidInstructions = 4,
    InvalidAmount = 5,
}

/// Why a rejected peg-in is not refunded; the numbers are those of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoRefundReason {
    UnknownSender = 1,
    NoRefundAddress = 2,
    InvalidAmount = 3,
    DifferentFederations = 4,
}

/// A peg-in and its amount.
pub(super) struct PegIn<'a> {
    pub(super) transaction: &'a BitcoinTransaction,
    /// Sum of the outputs to the live federations.
    pub(super) satoshis: i64,
}

/// Where a peg-in goes.
#[derive(Clone, Copy)]
pub(super) struct Destination {
    pub(super) account: Address,
    /// Version of the instructions; 0 if there are none.
    pub(super) protocol: u8,
}

impl PegIn<'_> {
    /// Pays the amount out and keeps the coins.
    pub(super) fn accept(
        &self,
        storage: &mut Storage<'_>,
        ctx: &CallContext<'_>,
        logs: &mut Vec<Log>,
        destination: Destination,
        sender: Option<&PegInSender>,
    ) -> Result<()> {
        let account = destination.account;
        storage.slots.pay(account, U256::from(self.satoshis.unsigned_abs()).saturating_mul(WEI_PER_SATOSHI))?;
        let id = display_id(self.transaction);
        if ctx.has(Rule::Rskip170) {
            events::peg_in(logs, account, id, self.satoshis, i64::from(destination.protocol));
        } else if ctx.has(Rule::Rskip146) {
            let sender = sender.map(|sender| sender.address.to_text()).unwrap_or_default();
            events::lock_btc(logs, account, id, &sender, self.satoshis);
        }
        register_coins(storage, ctx, self.transaction)
    }

    /// Sends the coins back.
    pub(super) fn refund(
        &self,
        storage: &mut Storage<'_>,
        ctx: &CallContext<'_>,
        logs: &mut Vec<Log>,
        to: &BitcoinAddress,
    ) -> Result<()> {
        let (source, hash) = (RefundSource::Federations, ctx.call.transaction_hash);
        build_refund(storage, ctx, logs, self.transaction, &Refund { source, to: *to, satoshis: self.satoshis, hash })
    }

    /// Marks the transaction as processed without keeping its coins.
    pub(super) fn mark_processed(&self, storage: &mut Storage<'_>, ctx: &CallContext<'_>) -> Result<()> {
        storage.set_processed(&display_id(self.transaction), ctx.call.block_number)
    }

    pub(super) fn log_rejection(&self, logs: &mut Vec<Log>, reason: RejectionReason) {
        events::rejected_peg_in(logs, display_id(self.transaction), reason as i64);
    }

    pub(super) fn log_no_refund(&self, logs: &mut Vec<Log>, reason: NoRefundReason) {
        events::unrefundable_peg_in(logs, display_id(self.transaction), reason as i64);
    }
}
