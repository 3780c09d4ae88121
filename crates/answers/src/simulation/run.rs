use super::blocks::{Planned, plan};
use super::request::{BlockRequest, Simulation};
use super::transfers::Transfers;
use crate::call_object::CallObject;
use crate::error::{ErrorCode, RpcError};
use crate::node::Node;
use rhizome_chain::{BlockRecord, ChainAncestry};
use rhizome_evm::tracing::Inspection;
use rhizome_evm::{
    AncestorBlock, Ancestry, AncestryError, BlockEnv, BlockExecutor, Deadline, ExecError, SublistState,
    TransactionOutcome, TransactionRefusal,
};
use rhizome_primitives::transaction::created_address;
use rhizome_primitives::{
    Address, Block, Bytes, Header, I256, Log, Receipt, Rule, Transaction, U256, UnsignedTransaction,
};
use rhizome_trie::{StateReader, Trie, list_root};
use std::sync::Arc;

/// Calls of a whole simulation.
const MAX_CALLS: usize = 1000;

/// A block with the results of its calls.
pub(crate) struct SimulatedBlock {
    pub(crate) block: Block,
    /// Sender of each call.
    pub(crate) senders: Vec<Address>,
    pub(crate) outcomes: Vec<TransactionOutcome>,
}

/// The blocks after `base`, on its state.
pub(crate) fn run(
    node: &Node,
    simulation: &Simulation,
    base: &Arc<BlockRecord>,
    deadline: &Deadline,
) -> Result<Vec<SimulatedBlock>, RpcError> {
    let calls: usize = simulation.blocks.iter().map(|block| block.calls.len()).sum();
    if calls > MAX_CALLS {
        return Err(RpcError::new(ErrorCode::SimulationLimit, format!("too many calls: {calls} > {MAX_CALLS}")));
    }
    let header = &base.block.header;
    let planned = plan(simulation, header.number, header.timestamp)?;
    node.with_state_trie(base, deadline, |trie| run_on(node, simulation, base, &planned, trie, deadline))
}

fn run_on(
    node: &Node,
    simulation: &Simulation,
    base: &Arc<BlockRecord>,
    planned: &[Planned<'_>],
    trie: Trie,
    deadline: &Deadline,
) -> Result<Vec<SimulatedBlock>, RpcError> {
    let chain = node.chain();
    let header = &base.block.header;
    let mut run = Run {
        node,
        simulation,
        deadline,
        trie,
        ancestry: SimulatedAncestry { base: chain.ancestry(base), above: header.number, blocks: Vec::new() },
        gas_left: node.options().call_gas_cap,
    };
    let mut parent = header.clone();
    let mut blocks = Vec::with_capacity(planned.len());
    for planned in planned {
        let simulated = run.block(planned, &parent)?;
        parent = simulated.block.header.clone();
        blocks.push(simulated);
    }
    Ok(blocks)
}

/// A simulation under way.
struct Run<'a> {
    node: &'a Node,
    simulation: &'a Simulation,
    deadline: &'a Deadline,
    /// The state after the blocks so far.
    trie: Trie,
    ancestry: SimulatedAncestry,
    /// Gas that all calls that follow may use.
    gas_left: u64,
}

impl Run<'_> {
    fn block(&mut self, planned: &Planned<'_>, parent: &Header) -> Result<SimulatedBlock, RpcError> {
        let nothing = BlockRequest::default();
        let request = planned.request.unwrap_or(&nothing);
        let mut env = BlockEnv::from_header(parent);
        (env.number, env.timestamp, env.parent_hash) = (planned.number, planned.time, parent.hash());
        if !self.simulation.validates {
            env.minimum_gas_price = U256::ZERO;
        }
        request.block.apply(&mut env);
        let state: Arc<dyn StateReader> = Arc::new(self.trie.clone());
        let spec = self.node.chain().spec();
        let mut executor = BlockExecutor::new(spec, env.clone(), state, &self.ancestry)?;
        executor = executor.with_deadline(self.deadline.clone());
        executor.apply_overrides(&request.state)?;
        let mut container = SublistState { gas_limit: env.gas_limit, ..SublistState::default() };
        let mut calls = Calls::default();
        for call in &request.calls {
            if self.deadline.has_passed() {
                return Err(RpcError::timed_out());
            }
            let transaction = transaction(self, call, &mut executor, &env, &container)?;
            let sender = call.from.unwrap_or_default();
            let outcome = execute(self.simulation, &mut executor, &transaction, sender, &mut container)?;
            self.gas_left = self.gas_left.saturating_sub(outcome.gas_used);
            calls.transactions.push(transaction);
            calls.senders.push(sender);
            calls.outcomes.push(outcome);
        }
        let outcome = executor.finish()?;
        self.trie.apply(&outcome.delta).map_err(RpcError::internal)?;
        let mut header = header_of(&env, spec);
        header.state_root = self.trie.root_hash().into();
        let is_orchid = !spec.rules(env.number).is_active(Rule::Rskip126);
        let receipts: Vec<Vec<u8>> = outcome.receipts.iter().map(Receipt::encode).collect();
        let root = |items: &mut dyn Iterator<Item = &[u8]>| list_root(items, is_orchid).map_err(RpcError::internal);
        header.receipts_root = root(&mut receipts.iter().map(Vec::as_slice))?.into();
        let encoded = &mut calls.transactions.iter().map(|transaction| transaction.encoded().as_ref());
        header.transactions_root = root(encoded)?.into();
        header.logs_bloom = Bytes::copy_from_slice(outcome.logs_bloom.as_bytes());
        header.gas_used = outcome.gas_used;
        header.paid_fees = outcome.paid_fees;
        let block = Block { header, transactions: calls.transactions, uncles: Vec::new() };
        self.ancestry.blocks.push(Arc::new(AncestorBlock::new(&block, block.hash(), U256::ZERO)));
        Ok(SimulatedBlock { block, senders: calls.senders, outcomes: calls.outcomes })
    }
}

/// The calls of a block so far.
#[derive(Default)]
struct Calls {
    transactions: Vec<Transaction>,
    senders: Vec<Address>,
    outcomes: Vec<TransactionOutcome>,
}

/// The transaction that stands for a call: the sender takes the place of a signature.
fn transaction(
    run: &Run<'_>,
    call: &CallObject,
    executor: &mut BlockExecutor<'_>,
    env: &BlockEnv,
    container: &SublistState,
) -> Result<Transaction, RpcError> {
    let validates = run.simulation.validates;
    let sender = call.from.unwrap_or_default();
    let next = executor.state().nonce(sender)?;
    let room = container.gas_limit.saturating_sub(container.gas_used);
    let asked = call.gas.map_or(room, |gas| gas.saturating_to());
    if asked > room {
        let message = format!("block gas limit reached: {} of {} are used", container.gas_used, container.gas_limit);
        return Err(RpcError::new(ErrorCode::SimulatedBlockGas, message));
    }
    if run.gas_left == 0 {
        return Err(RpcError::new(ErrorCode::SimulationLimit, "the gas of the simulation is used up"));
    }
    let gas_price = call.gas_price.unwrap_or_default();
    if validates && gas_price < env.minimum_gas_price {
        let message = format!("gas price {gas_price} is below the block's minimum {}", env.minimum_gas_price);
        return Err(RpcError::new(ErrorCode::SimulatedPriceTooLow, message));
    }
    let unsigned = UnsignedTransaction {
        // Without validation any nonce is the next one.
        nonce: if validates { call.nonce.unwrap_or(next) } else { next },
        gas_price,
        gas_limit: asked.min(run.gas_left),
        to: call.to,
        value: call.value.unwrap_or_default(),
        data: call.data.clone(),
    };
    let chain_id = run.node.chain().spec().chain_id;
    Transaction::impersonate(unsigned, chain_id, &sender).map_err(RpcError::internal)
}

fn execute(
    simulation: &Simulation,
    executor: &mut BlockExecutor<'_>,
    transaction: &Transaction,
    sender: Address,
    container: &mut SublistState,
) -> Result<TransactionOutcome, RpcError> {
    if !simulation.traces_transfers {
        return executor.execute_in(transaction, sender, false, container).map_err(refusal);
    }
    let mut transfers = Transfers::default();
    let inspection = Inspection { inspector: Some(&mut transfers), ..Inspection::default() };
    let inspected = executor.inspect_in(transaction, sender, false, container, inspection).map_err(refusal)?;
    let mut outcome = inspected.outcome;
    let to = transaction.to().unwrap_or_else(|| created_address(&sender, &transaction.nonce()));
    outcome.logs = transfers.logs(outcome.end, sender, to, transaction.value());
    Ok(outcome)
}

/// Returns the error for a call that its block cannot contain.
fn refusal(error: ExecError) -> RpcError {
    let ExecError::Refused { reason, .. } = error else { return error.into() };
    let code = match reason {
        TransactionRefusal::InitCodeSize { .. } => ErrorCode::SimulatedInitCode,
        TransactionRefusal::BlockGas { .. } => ErrorCode::SimulatedBlockGas,
        TransactionRefusal::IntrinsicGas { .. } => ErrorCode::SimulatedGasTooLow,
        TransactionRefusal::Nonce { nonce, expected } if nonce < expected => ErrorCode::SimulatedNonceTooLow,
        TransactionRefusal::Nonce { .. } => ErrorCode::SimulatedNonceTooHigh,
        TransactionRefusal::Balance => ErrorCode::SimulatedFunds,
        TransactionRefusal::Signature => return RpcError::internal(reason),
    };
    RpcError::new(code, reason.to_string())
}

/// The header before execution.
fn header_of(env: &BlockEnv, spec: &rhizome_primitives::ChainSpec) -> Header {
    let mut header = Header::new(env.number, spec);
    header.parent_hash = env.parent_hash.into();
    header.coinbase = Some(env.coinbase);
    header.timestamp = env.timestamp;
    header.difficulty = Some(env.difficulty);
    header.gas_limit = env.gas_limit.to_be_bytes().to_vec().into();
    header.minimum_gas_price = Some(I256::from_raw(env.minimum_gas_price));
    header
}

/// The simulated blocks, and below them those of the chain.
struct SimulatedAncestry {
    base: ChainAncestry,
    /// Number of the highest block of the chain.
    above: u64,
    blocks: Vec<Arc<AncestorBlock>>,
}

impl Ancestry for SimulatedAncestry {
    fn ancestor(&self, number: u64) -> Result<Option<Arc<AncestorBlock>>, AncestryError> {
        match number.checked_sub(self.above).and_then(|distance| distance.checked_sub(1)) {
            None => self.base.ancestor(number),
            // One for every number: gaps are filled.
            Some(index) => Ok(usize::try_from(index).ok().and_then(|index| self.blocks.get(index).cloned())),
        }
    }
}

impl SimulatedBlock {
    /// Logs of the block before those of the call at `index`.
    pub(crate) fn logs_before(&self, index: usize) -> usize {
        self.outcomes.iter().take(index).map(|outcome| outcome.logs.len()).sum()
    }

    /// Logs of the call at `index`.
    pub(crate) fn logs(&self, index: usize) -> &[Log] {
        self.outcomes.get(index).map_or(&[], |outcome| &outcome.logs)
    }
}
