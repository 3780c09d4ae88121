//! The rules of an import that need more than the header: transactions, roots, REMASC, edges, and the comparison of a
//! block with what its execution gave.

use std::collections::HashMap;

use rhizome_evm::BlockOutcome;
use rhizome_pow::{ForkDetectionError, UncleRuleError};
use rhizome_pow::{check_fork_detection, check_uncles, header_rules, sublists};
use rhizome_primitives::{Address, B256, Block, ChainSpec, Header, I256, Rule, U256, hex};
use rhizome_trie::keys::{REMASC_SENDER, account_keys};
use rhizome_trie::{AccountState, StateError, StateReader, Trie, orchid_state_root};

use crate::archive::Archive;
use crate::import::prepared_block::PreparedBlock;
use crate::{ChainError, ImportError, InvalidBlock, OldStateRoots};

/// A refused block, or a failure on our side.
pub(crate) enum ImportFailure {
    Invalid(InvalidBlock),
    Error(ImportError),
}

impl From<InvalidBlock> for ImportFailure {
    fn from(invalid: InvalidBlock) -> Self {
        Self::Invalid(invalid)
    }
}

impl<E: Into<ImportError>> From<E> for ImportFailure {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// What the rules look at besides the block.
pub(crate) struct RuleContext<'a> {
    pub(crate) archive: &'a Archive,
    pub(crate) parent: &'a Header,
    pub(crate) state: &'a dyn StateReader,
    pub(crate) now: u64,
}

/// All rules that come before execution, in the order of the reference. Returns the sender of each transaction.
pub(crate) fn check_rules(
    prepared: &mut PreparedBlock,
    context: &RuleContext<'_>,
) -> Result<Vec<Address>, ImportFailure> {
    let spec: &ChainSpec = &context.archive.spec;
    let block = &prepared.block;
    let (header, parent) = (&block.header, context.parent);
    transaction_fields(block)?;
    let senders = senders(prepared)?;
    nonces(block, &senders, context.state)?;
    header_rules::minimum_gas_price_range(header, parent).map_err(InvalidBlock::from)?;
    header_rules::number(header, parent).map_err(InvalidBlock::from)?;
    header_rules::difficulty_rule(header, parent, spec).map_err(InvalidBlock::from)?;
    header_rules::gas_limit_range(header, parent, spec).map_err(InvalidBlock::from)?;
    gas_prices(block, spec)?;
    uncles(block, context)?;
    let computed = std::mem::replace(&mut prepared.transactions_root, Ok(B256::ZERO))?;
    let block = &prepared.block;
    let header = &block.header;
    if header.transactions_root.as_ref() != computed.as_slice() {
        let header = hex::encode_prefixed(&header.transactions_root);
        return Err(InvalidBlock::TransactionsRoot { header, computed }.into());
    }
    std::mem::replace(&mut prepared.proof_of_work, Ok(())).map_err(InvalidBlock::ProofOfWork)?;
    let count = block.transactions.len();
    if !count.checked_sub(1).is_some_and(|last| block.is_remasc(last)) {
        return Err(InvalidBlock::Remasc { count }.into());
    }
    header_rules::timestamp(header, spec, context.now).map_err(InvalidBlock::from)?;
    header_rules::gas_limit_floor(header, spec).map_err(InvalidBlock::from)?;
    header_rules::extra_data(header, spec).map_err(InvalidBlock::from)?;
    fork_detection(header, context)?;
    if !sublists::header_edges_are_valid(header, count, spec) {
        return Err(InvalidBlock::Edges { edges: header.edges.clone().unwrap_or_default(), count }.into());
    }
    survives_encoding(header, spec)?;
    Ok(senders)
}

/// The reference does not compare the version of a header with its height, but it cannot read most blocks of another
/// version back from its own database, so they do not spread. Those that can be read back are accepted.
fn survives_encoding(header: &Header, spec: &ChainSpec) -> Result<(), InvalidBlock> {
    match Header::decode(&header.encode(), spec) {
        Ok(decoded) if decoded.hash() == header.hash() => Ok(()),
        _ => Err(InvalidBlock::Version { version: header.version, number: header.number }),
    }
}

/// Rule 1.
fn transaction_fields(block: &Block) -> Result<(), InvalidBlock> {
    for (index, transaction) in block.transactions.iter().enumerate() {
        if !transaction.fields_valid() {
            return Err(InvalidBlock::TransactionFields { index, transaction: transaction.hash() });
        }
    }
    Ok(())
}

fn senders(prepared: &PreparedBlock) -> Result<Vec<Address>, InvalidBlock> {
    let mut senders = Vec::with_capacity(prepared.senders.len());
    for (index, (transaction, sender)) in prepared.block.transactions.iter().zip(&prepared.senders).enumerate() {
        let no_sender = |reason| InvalidBlock::Sender { index, transaction: transaction.hash(), reason };
        senders.push((*sender).map_err(no_sender)?);
    }
    Ok(senders)
}

/// Rule 2: the nonces of each sender go up by one from its account in the parent's state, REMASC's sender included.
fn nonces(block: &Block, senders: &[Address], state: &dyn StateReader) -> Result<(), ImportFailure> {
    let addresses: Vec<_> = (senders.iter().enumerate())
        .map(|(index, sender)| if block.is_remasc(index) { REMASC_SENDER } else { sender.as_slice() })
        .collect();
    let mut next: HashMap<Vec<u8>, U256> = HashMap::new();
    for (index, (transaction, key)) in block.transactions.iter().zip(account_keys(&addresses)).enumerate() {
        let expected = match next.get(&key) {
            Some(expected) => *expected,
            None => nonce_of(state, &key)?,
        };
        let nonce = transaction.nonce();
        if nonce != expected {
            return Err(InvalidBlock::Nonce { index, transaction: transaction.hash(), nonce, expected }.into());
        }
        next.insert(key, expected.wrapping_add(U256::ONE));
    }
    Ok(())
}

fn nonce_of(state: &dyn StateReader, key: &[u8]) -> Result<U256, StateError> {
    let Some(value) = state.get(key)? else { return Ok(U256::ZERO) };
    let account = AccountState::decode(&value);
    Ok(account.map_err(|reason| StateError::Account { key: key.to_vec(), reason })?.nonce)
}

/// Rules 7 and 8: prices from the block's minimum up to 100 times that (RSKIP-252). REMASC is free.
fn gas_prices(block: &Block, spec: &ChainSpec) -> Result<(), InvalidBlock> {
    let minimum = block.header.minimum_gas_price.and_then(|minimum: I256| U256::try_from(minimum).ok());
    let priced = || block.transactions.iter().enumerate().filter(|(index, _)| !block.is_remasc(*index));
    if block.header.minimum_gas_price.is_none() {
        let (transaction, price) = block
            .transactions
            .first()
            .map_or((B256::ZERO, U256::ZERO), |transaction| (transaction.hash(), transaction.gas_price()));
        return Err(InvalidBlock::GasPriceTooLow { index: 0, transaction, price, minimum });
    }
    // A negative minimum is below every price.
    let lowest = minimum.unwrap_or_default();
    for (index, transaction) in priced() {
        let price = transaction.gas_price();
        if price < lowest {
            return Err(InvalidBlock::GasPriceTooLow { index, transaction: transaction.hash(), price, minimum });
        }
    }
    if spec.rules(block.header.number).is_active(Rule::Rskip252) {
        for (index, transaction) in priced() {
            let price = transaction.gas_price();
            if !header_rules::gas_price_is_below_cap(lowest, price) {
                let transaction = transaction.hash();
                return Err(InvalidBlock::GasPriceTooHigh { index, transaction, price, minimum: lowest });
            }
        }
    }
    Ok(())
}

/// Rule 9.
fn uncles(block: &Block, context: &RuleContext<'_>) -> Result<(), ImportFailure> {
    check_uncles(block, context.archive, &context.archive.spec, context.now).map_err(|error| match error {
        UncleRuleError::LookUp(source) => ImportFailure::Error(look_up_failure(source)),
        broken => ImportFailure::Invalid(InvalidBlock::Uncles(broken)),
    })
}

/// Rule 16.
fn fork_detection(header: &Header, context: &RuleContext<'_>) -> Result<(), ImportFailure> {
    check_fork_detection(header, &context.archive.spec, context.archive).map_err(|error| match error {
        ForkDetectionError::LookUp(source) => ImportFailure::Error(look_up_failure(source)),
        broken => ImportFailure::Invalid(InvalidBlock::ForkDetection(broken)),
    })
}

/// The archive only fails with our own errors; the rules carry them without knowing what they are.
fn look_up_failure(source: rhizome_pow::LookUpError) -> ImportError {
    match source.downcast::<ChainError>() {
        Ok(error) => ImportError::Chain(*error),
        Err(other) => ImportError::Chain(ChainError::State(StateError::Reader(other))),
    }
}

/// What execution gave, in the form of the header.
pub(crate) struct ExecutionResult<'a> {
    pub(crate) outcome: &'a BlockOutcome,
    pub(crate) state_root: B256,
    pub(crate) receipts_root: B256,
}

/// Compares the state root of a block before RSKIP-126 with the state after it, where that is asked for.
pub(crate) fn check_old_state_root(
    header: &Header,
    state: &Trie,
    spec: &ChainSpec,
    wanted: OldStateRoots,
) -> Result<(), ImportFailure> {
    if !wanted.covers(spec, header.number) {
        return Ok(());
    }
    let computed = orchid_state_root(state)?;
    if header.state_root.as_ref() == computed.as_slice() {
        return Ok(());
    }
    Err(InvalidBlock::OldStateRoot { header: hex::encode_prefixed(&header.state_root), computed }.into())
}

/// The comparison after execution. [`check_old_state_root`] compares the state roots before RSKIP-126.
pub(crate) fn check_outcome(
    header: &Header,
    executed: &ExecutionResult<'_>,
    spec: &ChainSpec,
) -> Result<(), InvalidBlock> {
    let rules = spec.rules(header.number);
    let outcome = executed.outcome;
    let has_state_root = rules.is_active(Rule::Rskip85) && rules.is_active(Rule::Rskip126);
    if has_state_root && header.state_root.as_ref() != executed.state_root.as_slice() {
        let computed = executed.state_root;
        return Err(InvalidBlock::StateRoot { header: hex::encode_prefixed(&header.state_root), computed });
    }
    if header.receipts_root.as_ref() != executed.receipts_root.as_slice() {
        let computed = executed.receipts_root;
        return Err(InvalidBlock::ReceiptsRoot { header: hex::encode_prefixed(&header.receipts_root), computed });
    }
    if header.logs_bloom.as_ref() != outcome.logs_bloom.as_bytes().as_slice() {
        let computed = Box::new(outcome.logs_bloom);
        return Err(InvalidBlock::LogsBloom { header: hex::encode_prefixed(&header.logs_bloom), computed });
    }
    if header.gas_used != outcome.gas_used {
        return Err(InvalidBlock::GasUsed { header: header.gas_used, computed: outcome.gas_used });
    }
    if header.paid_fees != outcome.paid_fees {
        return Err(InvalidBlock::PaidFees { header: header.paid_fees, computed: outcome.paid_fees });
    }
    Ok(())
}
