//! Passes the events of one execution to several inspectors.

use rhizome_evm::tracing::{FrameEnd, FrameStart, Inspector, LeafCall, Step, StepEnd};
use rhizome_evm::{ExecError, State};
use rhizome_primitives::{Address, Log, U256};

/// Inspectors of the same execution. Only inspectors that want steps receive them.
pub(crate) struct Several<'i>(Vec<&'i mut dyn Inspector>);

impl<'i> Several<'i> {
    pub(crate) fn new(inspectors: Vec<&'i mut dyn Inspector>) -> Self {
        Self(inspectors)
    }

    /// Returns the only inspector, or this fan-out of all inspectors; `None` if there are none.
    pub(crate) fn inspector(&mut self) -> Option<&mut dyn Inspector> {
        match self.0.len() {
            0 => None,
            1 => self.0.first_mut().map(|only| &mut **only as &mut dyn Inspector),
            _ => Some(self),
        }
    }

    fn each(&mut self, mut pass: impl FnMut(&mut dyn Inspector) -> Result<(), ExecError>) -> Result<(), ExecError> {
        self.0.iter_mut().try_for_each(|inspector| pass(&mut **inspector))
    }
}

impl Inspector for Several<'_> {
    fn wants_steps(&self) -> bool {
        self.0.iter().any(|inspector| inspector.wants_steps())
    }

    fn wants_inner_messages(&self) -> bool {
        self.0.iter().any(|inspector| inspector.wants_inner_messages())
    }

    fn frame_start(&mut self, start: &FrameStart<'_>, state: &mut State) -> Result<(), ExecError> {
        self.each(|inspector| inspector.frame_start(start, state))
    }

    fn frame_end(&mut self, end: &FrameEnd<'_>) -> Result<(), ExecError> {
        self.each(|inspector| inspector.frame_end(end))
    }

    fn leaf_call(&mut self, call: &LeafCall) -> Result<(), ExecError> {
        self.each(|inspector| inspector.leaf_call(call))
    }

    fn selfdestruct(&mut self, account: Address, heir: Address, balance: U256) -> Result<(), ExecError> {
        self.each(|inspector| inspector.selfdestruct(account, heir, balance))
    }

    fn log(&mut self, log: &Log) -> Result<(), ExecError> {
        self.each(|inspector| inspector.log(log))
    }

    fn step_start(&mut self, step: &Step<'_>, state: &mut State) -> Result<(), ExecError> {
        self.each(|inspector| match inspector.wants_steps() {
            true => inspector.step_start(step, state),
            false => Ok(()),
        })
    }

    fn step_end(&mut self, end: &StepEnd<'_>) -> Result<(), ExecError> {
        self.each(|inspector| match inspector.wants_steps() {
            true => inspector.step_end(end),
            false => Ok(()),
        })
    }
}
