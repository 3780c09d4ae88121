use rhizome_evm::tracing::{CallKind, FrameEnd, FrameStart, Inspector, LeafCall, LeafEnd};
use rhizome_evm::{End, ExecError, State};
use rhizome_primitives::{Address, B256, Log, U256, address, b256};

/// The address in the logs of value transfers.
const EMITTER: Address = address!("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
/// `Transfer(address,address,uint256)`.
const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// Collects logs and transfers of coins in the order in which they happen; those of failed frames vanish.
#[derive(Default)]
pub(super) struct Transfers {
    logs: Vec<Log>,
    /// Length of the list when each frame began.
    marks: Vec<usize>,
    has_run: bool,
}

impl Transfers {
    /// The logs of a call from `from` to `to` that ended so.
    pub(super) fn logs(mut self, end: End, from: Address, to: Address, value: U256) -> Vec<Log> {
        if end != End::Success {
            return Vec::new();
        }
        if !self.has_run {
            // No code ran: that of the sender is the only transfer.
            self.moved(from, to, value);
        }
        self.logs
    }

    fn moved(&mut self, from: Address, to: Address, value: U256) {
        if value.is_zero() {
            return;
        }
        self.logs.push(Log {
            address: EMITTER,
            topics: vec![TRANSFER, from.into_word(), to.into_word()],
            data: value.to_be_bytes_vec().into(),
        });
    }
}

impl Inspector for Transfers {
    fn frame_start(&mut self, start: &FrameStart<'_>, _state: &mut State) -> Result<(), ExecError> {
        self.has_run = true;
        self.marks.push(self.logs.len());
        if matches!(start.kind, CallKind::Call | CallKind::Create | CallKind::Create2) {
            self.moved(start.from, start.account, start.value);
        }
        Ok(())
    }

    fn frame_end(&mut self, end: &FrameEnd<'_>) -> Result<(), ExecError> {
        let mark = self.marks.pop().unwrap_or_default();
        if end.end != End::Success {
            self.logs.truncate(mark);
        }
        Ok(())
    }

    fn leaf_call(&mut self, call: &LeafCall) -> Result<(), ExecError> {
        if call.kind == CallKind::Call && matches!(call.end, LeafEnd::Transferred | LeafEnd::PrecompileSucceeded) {
            self.moved(call.from, call.to, call.value);
        }
        Ok(())
    }

    fn selfdestruct(&mut self, account: Address, heir: Address, balance: U256) -> Result<(), ExecError> {
        self.moved(account, heir, balance);
        Ok(())
    }

    fn log(&mut self, log: &Log) -> Result<(), ExecError> {
        self.logs.push(log.clone());
        Ok(())
    }
}
