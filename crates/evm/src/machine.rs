//! The host of the interpreter: state, block, transaction and precompiles, shared by all frames.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::hash_maps::HashSet;
use revm::context_interface::cfg::{GasId, GasParams};
use revm::context_interface::context::{SStoreResult, SelfDestructResult, StateLoad};
use revm::context_interface::host::LoadError;
use revm::context_interface::journaled_state::AccountInfoLoad;
use revm::interpreter::{Host, InstructionResult};
use revm::primitives::hardfork::SpecId;
use revm::primitives::{Log as RevmLog, StorageKey, StorageValue};
use rhizome_primitives::{Address, B256, BRIDGE, ChainSpec, Log, REMASC, Rules, U256};

use crate::active_rules::ActiveRules;
use crate::block_env::{Ancestry, BlockEnv};
use crate::deadline::Deadline;
use crate::error::{ExecError, Unexecutable};
use crate::frame_request::FrameRequest;
use crate::internal_transactions::FrameRecords;
use crate::overrides::MovedPrecompiles;
use crate::precompiles::{PrecompileEntry, precompile_at};
use crate::state::State;

/// The transaction or local call that started the execution.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    /// Sender; zero for REMASC and for local calls without a sender.
    pub(crate) sender: Address,
    pub(crate) gas_price: U256,
    /// Position in the block.
    pub(crate) index: usize,
    pub(crate) hash: B256,
    pub(crate) is_local_call: bool,
    /// Accounts deleted by earlier transactions of the block or sublist.
    pub(crate) deleted_before: HashSet<Address>,
}

/// The host of the interpreter, for all transactions of a block.
pub(crate) struct Machine<'e> {
    pub(crate) spec: &'e ChainSpec,
    pub(crate) rules: Rules,
    pub(crate) active_rules: ActiveRules,
    pub(crate) env: BlockEnv,
    pub(crate) ancestry: &'e dyn Ancestry,
    pub(crate) deadline: Deadline,
    pub(crate) state: State,
    pub(crate) origin: Origin,
    /// Logs of the transaction in order of emission. A reverted frame truncates them.
    pub(crate) logs: Vec<Log>,
    /// Accounts to delete at the end of the transaction, with repetitions. A reverted frame truncates them.
    pub(crate) deletions: Vec<Address>,
    /// Whether the Bridge or REMASC was called in a frame that the scheduler of parallel sublists observes.
    pub(crate) calls_sequential_contract: bool,
    pub(crate) frame_records: FrameRecords,
    /// Accounts of inner calls of the transaction; `None` unless they are collected.
    pub(crate) inner_accounts: Option<BTreeSet<Address>>,
    /// The frame that the last instruction has requested.
    pub(crate) frame_request: Option<FrameRequest>,
    /// The error that stopped the interpreter.
    pub(crate) fatal: Option<ExecError>,
    /// Precompiles at additional addresses, by the overrides of a local call.
    pub(crate) moved_precompiles: Option<MovedPrecompiles>,
    gas_params: GasParams,
}

impl<'e> Machine<'e> {
    pub(crate) fn new(
        spec: &'e ChainSpec,
        env: BlockEnv,
        ancestry: &'e dyn Ancestry,
        state: State,
        deadline: Deadline,
    ) -> Machine<'e> {
        let rules = spec.rules(env.number);
        Machine {
            spec,
            rules,
            active_rules: ActiveRules::new(&rules),
            env,
            ancestry,
            deadline,
            state,
            origin: Origin::default(),
            logs: Vec::new(),
            deletions: Vec::new(),
            calls_sequential_contract: false,
            frame_records: FrameRecords::default(),
            inner_accounts: None,
            frame_request: None,
            fatal: None,
            moved_precompiles: None,
            gas_params: gas_params(),
        }
    }

    /// Starts a transaction: clears the data of the previous one.
    pub(crate) fn begin(&mut self, origin: Origin) {
        self.origin = origin;
        self.logs.clear();
        self.deletions.clear();
        self.calls_sequential_contract = false;
        self.frame_records.clear();
        if let Some(inner) = &mut self.inner_accounts {
            inner.clear();
        }
        self.frame_request = None;
        self.fatal = None;
    }

    /// Notes the callee of an inner call, a created contract or the heir of a destroyed one, also if that is undone later.
    #[inline]
    pub(crate) fn note_inner(&mut self, account: Address) {
        if let Some(inner) = &mut self.inner_accounts {
            inner.insert(account);
        }
    }

    /// Stops the interpreter with an error.
    #[cold]
    pub(crate) fn stop(&mut self, error: impl Into<ExecError>) -> InstructionResult {
        self.fatal = Some(error.into());
        InstructionResult::FatalExternalError
    }

    /// Returns the error that stopped the interpreter.
    pub(crate) fn take_fatal(&mut self) -> ExecError {
        let index = self.origin.index;
        self.fatal.take().unwrap_or(ExecError::Unexecutable { index, reason: Unexecutable::SilentHalt })
    }

    /// Takes the accounts to delete, each once, in the order of their first deletion.
    pub(crate) fn take_deletions(&mut self) -> Vec<Address> {
        let mut distinct = HashSet::<Address>::default();
        std::mem::take(&mut self.deletions).into_iter().filter(|address| distinct.insert(*address)).collect()
    }

    /// Returns the precompile at an address.
    #[inline]
    pub(crate) fn precompile_at(&self, address: &Address) -> Option<&'static PrecompileEntry> {
        let moved = self.moved_precompiles.as_ref().and_then(|moved| moved.precompile_at(address));
        moved.or_else(|| precompile_at(address, &self.rules))
    }

    /// Records the call of a precompile that parallel sublists must not call.
    pub(crate) fn note_precompile_call(&mut self, address: &Address) {
        self.calls_sequential_contract |= *address == BRIDGE || *address == REMASC;
    }
}

/// Conversion of a failed read: it stops the interpreter.
pub(crate) trait OrStop<T> {
    fn or_stop(self, machine: &mut Machine<'_>) -> Result<T, InstructionResult>;
}

impl<T, E: Into<ExecError>> OrStop<T> for Result<T, E> {
    #[inline]
    fn or_stop(self, machine: &mut Machine<'_>) -> Result<T, InstructionResult> {
        self.map_err(|error| machine.stop(error))
    }
}

/// Returns the gas parameters of the instructions of revm.
fn gas_params() -> GasParams {
    static PARAMS: OnceLock<GasParams> = OnceLock::new();
    let make = || {
        let mut params = GasParams::new_spec(SpecId::TANGERINE);
        params.override_gas([(GasId::exp_byte_gas(), 50)]);
        params
    };
    PARAMS.get_or_init(make).clone()
}

/// Methods that only replaced instructions of revm call return placeholders.
impl Host for Machine<'_> {
    fn basefee(&self) -> U256 {
        self.env.minimum_gas_price
    }

    fn blob_gasprice(&self) -> U256 {
        U256::ZERO
    }

    fn gas_limit(&self) -> U256 {
        U256::from(self.env.gas_limit)
    }

    fn difficulty(&self) -> U256 {
        self.env.difficulty
    }

    fn prevrandao(&self) -> Option<U256> {
        Some(self.env.difficulty)
    }

    fn block_number(&self) -> U256 {
        U256::from(self.env.number)
    }

    fn timestamp(&self) -> U256 {
        U256::from(self.env.timestamp)
    }

    fn beneficiary(&self) -> Address {
        self.env.coinbase
    }

    fn slot_num(&self) -> U256 {
        U256::ZERO
    }

    fn chain_id(&self) -> U256 {
        U256::from(self.spec.chain_id)
    }

    fn effective_gas_price(&self) -> U256 {
        self.origin.gas_price
    }

    fn caller(&self) -> Address {
        self.origin.sender
    }

    fn blob_hash(&self, _number: usize) -> Option<U256> {
        None
    }

    fn max_initcode_size(&self) -> usize {
        usize::MAX
    }

    fn gas_params(&self) -> &GasParams {
        &self.gas_params
    }

    fn is_amsterdam_eip8037_enabled(&self) -> bool {
        false
    }

    fn block_hash(&mut self, number: u64) -> Option<B256> {
        match self.ancestry.ancestor(number) {
            Ok(found) => Some(found.map_or(B256::ZERO, |block| block.hash)),
            Err(error) => {
                self.fatal = Some(error.into());
                None
            }
        }
    }

    fn selfdestruct(
        &mut self,
        _address: Address,
        _target: Address,
        _skip_cold_load: bool,
    ) -> Result<StateLoad<SelfDestructResult>, LoadError> {
        Err(LoadError::DBError)
    }

    fn log(&mut self, _log: RevmLog) {}

    fn sstore_skip_cold_load(
        &mut self,
        _address: Address,
        _key: StorageKey,
        _value: StorageValue,
        _skip_cold_load: bool,
    ) -> Result<StateLoad<SStoreResult>, LoadError> {
        Err(LoadError::DBError)
    }

    fn sload_skip_cold_load(
        &mut self,
        _address: Address,
        _key: StorageKey,
        _skip_cold_load: bool,
    ) -> Result<StateLoad<StorageValue>, LoadError> {
        Err(LoadError::DBError)
    }

    fn tstore(&mut self, address: Address, key: StorageKey, value: StorageValue) {
        self.state.set_transient_word(address, key, value);
    }

    fn tload(&mut self, address: Address, key: StorageKey) -> StorageValue {
        self.state.transient_word(&address, &key)
    }

    fn load_account_info_skip_cold_load(
        &mut self,
        _address: Address,
        _load_code: bool,
        _skip_cold_load: bool,
    ) -> Result<AccountInfoLoad<'_>, LoadError> {
        Err(LoadError::DBError)
    }
}
