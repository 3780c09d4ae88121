//! Consensus rules of a block: those before execution, and the comparison of its header with the result.

use std::collections::HashMap;

use rhizome_evm::BlockOutcome;
use rhizome_pow::{ForkDetectionError, UncleRuleError};
use rhizome_pow::{check_fork_detection, check_header, check_uncles, header_rules, sublists};
use rhizome_primitives::{Address, B256, Block, ChainSpec, Header, I256, Rule, U256, hex};
use rhizome_trie::keys::{REMASC_SENDER, account_keys};
use rhizome_trie::{AccountState, StateError, StateReader, Trie, orchid_state_root};

use crate::archive::Archive;
use crate::config::OldStateRoots;
use crate::error::{ChainError, ImportError};
use crate::import::invalid_block::InvalidBlock;
use crate::import::prepared_block::PreparedBlock;

/// A rejected block, or a failure of the node.
#[derive(Debug)]
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

/// Input of the rules besides the block.
pub(crate) struct RuleContext<'a> {
    pub(crate) archive: &'a Archive,
    pub(crate) parent: &'a Header,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

/// Checks all rules that need no state, cheapest first: header and proof of work, then the body, then the signatures.
/// Returns the sender of each transaction.
pub(crate) fn check_rules(
    prepared: &mut PreparedBlock,
    context: &RuleContext<'_>,
) -> Result<Vec<Address>, ImportFailure> {
    let spec: &ChainSpec = &context.archive.spec;
    check_header(&prepared.block.header, context.parent, spec, context.now).map_err(InvalidBlock::from)?;
    if let Some(expected) = spec.contradicted_checkpoint(prepared.block.header.number, &prepared.hash) {
        return Err(InvalidBlock::Checkpoint { expected, found: prepared.hash }.into());
    }
    survives_encoding(&prepared.block.header, spec)?;
    prepared.take_proof_of_work(spec).map_err(InvalidBlock::ProofOfWork)?;
    fork_detection(&prepared.block.header, context)?;
    let computed = prepared.take_transactions_root(spec)?;
    let block = &prepared.block;
    let header = &block.header;
    if header.transactions_root.as_ref() != computed.as_slice() {
        let header = hex::encode_prefixed(&header.transactions_root);
        return Err(InvalidBlock::TransactionsRoot { header, computed }.into());
    }
    uncles(block, context)?;
    block.uncles.iter().try_for_each(|uncle| survives_encoding(uncle, spec))?;
    let count = block.transactions.len();
    if !count.checked_sub(1).is_some_and(|last| block.is_remasc(last)) {
        return Err(InvalidBlock::Remasc { count }.into());
    }
    if !sublists::header_edges_are_valid(header, count, spec) {
        return Err(InvalidBlock::Edges { edges: header.edges.clone().unwrap_or_default(), count }.into());
    }
    transaction_fields(block)?;
    gas_prices(block, spec)?;
    Ok(senders(prepared)?)
}

/// Whether the checks of a block that need neither state nor signatures succeed, as far as they can be made ahead.
pub(crate) fn is_worth_recovering(prepared: &PreparedBlock, archive: &Archive, now: u64) -> Result<bool, ChainError> {
    let header = &prepared.block.header;
    let fits_parent = match header.parent() {
        Some(parent) => match archive.ancestor(&parent)? {
            Some(parent) => check_header(header, &parent.header, &archive.spec, now).is_ok(),
            // The parent comes right before, so the importer decides.
            None => true,
        },
        None => false,
    };
    let has_root = || match prepared.transactions_root(&archive.spec) {
        Ok(computed) => header.transactions_root.as_ref() == computed.as_slice(),
        Err(_) => false,
    };
    Ok(fits_parent && prepared.proof_of_work(&archive.spec).is_ok() && has_root())
}

/// Rejects a header that changes when it is encoded and decoded. The reference does not compare the version of a header with its
/// height, but it cannot read most blocks of another version, or with such uncles, back from its own database. Blocks that it can
/// read back are accepted.
fn survives_encoding(header: &Header, spec: &ChainSpec) -> Result<(), InvalidBlock> {
    match header.survives_encoding(spec) {
        true => Ok(()),
        false => Err(InvalidBlock::Version { version: header.version, number: header.number }),
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
    let recovered = prepared.senders();
    let mut senders = Vec::with_capacity(recovered.len());
    for (index, (transaction, sender)) in prepared.block.transactions.iter().zip(recovered).enumerate() {
        let no_sender = |reason| InvalidBlock::Sender { index, transaction: transaction.hash(), reason };
        senders.push((*sender).map_err(no_sender)?);
    }
    Ok(senders)
}

/// Rule 2: the nonces of each sender go up by one from its account in the parent's state, REMASC's sender included.
pub(crate) fn check_nonces(block: &Block, senders: &[Address], state: &dyn StateReader) -> Result<(), ImportFailure> {
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

/// The archive fails with errors of this crate only; the rules pass them on unread.
fn look_up_failure(source: rhizome_pow::LookUpError) -> ImportError {
    match source.downcast::<ChainError>() {
        Ok(error) => ImportError::Chain(*error),
        Err(other) => ImportError::Chain(ChainError::State(StateError::Reader(other))),
    }
}

/// Result of an execution, in the form of the header.
pub(crate) struct ExecutionResult<'a> {
    pub(crate) outcome: &'a BlockOutcome,
    pub(crate) state_root: B256,
    pub(crate) receipts_root: B256,
}

/// Compares the state root of a block before RSKIP-126 with the state after it, if the configuration asks for it.
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

/// Compares the state after a block before RSKIP-126 with the root that the specification of the chain states, if it states one.
pub(crate) fn check_known_state_root(number: u64, computed: B256, spec: &ChainSpec) -> Result<(), InvalidBlock> {
    match spec.known_state_root(number) {
        Some(expected) if expected != computed => Err(InvalidBlock::KnownStateRoot { expected, computed }),
        _ => Ok(()),
    }
}

/// Compares the header with the result of the execution. State roots before RSKIP-126: [`check_old_state_root`].
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rhizome_pow::solve;
    use rhizome_primitives::uncles_hash;

    use super::*;
    use crate::{Chain, ChainConfig, DataDir};

    #[test]
    fn uncles_have_a_version_that_can_be_read_back() {
        let now = 1_700_000_000;
        let chain = Chain::open(ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary)).unwrap();
        let first = chain.mine(now).unwrap().block.clone();
        let second = chain.mine(now + 1).unwrap().block.clone();
        let archive = &chain.importer().steps.archive;
        let context = RuleContext { archive, parent: &first.header, now };
        let with_uncle = |version| {
            let mut uncle = first.header.clone();
            uncle.coinbase = Some(Address::repeat_byte(7));
            uncle.version = version;
            solve(&mut uncle, None, chain.spec(), u32::MAX).unwrap();
            let mut block = second.clone();
            block.uncles = vec![uncle.clone()];
            block.header.uncles_hash = uncles_hash(&block.uncles).to_vec().into();
            solve(&mut block.header, None, chain.spec(), u32::MAX).unwrap();
            block.header = block.header.clone();
            check_rules(&mut PreparedBlock::new(block), &context)
        };
        assert!(with_uncle(first.header.version).is_ok());
        for version in [0, 1] {
            let refused = with_uncle(version);
            let Err(ImportFailure::Invalid(InvalidBlock::Version { version: found, number: 1 })) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(found, version);
        }
    }

    #[test]
    fn senders_are_recovered_after_header_proof_of_work_and_root() {
        let now = 1_700_000_000;
        let open = || Chain::open(ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary)).unwrap();
        let block = open().mine(now).unwrap().block.clone();
        let chain = open();
        let archive = &chain.importer().steps.archive;
        let parent = chain.head().record.block.header.clone();
        let changed = |change: fn(&mut Header), is_solved: bool| {
            let mut block = block.clone();
            change(&mut block.header);
            if is_solved {
                solve(&mut block.header, None, chain.spec(), u32::MAX).unwrap();
            }
            block.header = block.header.clone();
            PreparedBlock::new(block)
        };
        let right = changed(|_| {}, false);
        assert!(is_worth_recovering(&right, archive, now).unwrap());
        let wrong = [
            changed(|header| header.transactions_root = vec![7; 32].into(), true),
            changed(|header| header.number += 1, true),
            changed(|header| header.timestamp += 1, false),
        ];
        for mut prepared in wrong {
            assert!(!is_worth_recovering(&prepared, archive, now).unwrap());
            let context = RuleContext { archive, parent: &parent, now };
            assert!(matches!(check_rules(&mut prepared, &context), Err(ImportFailure::Invalid(_))));
            assert!(!prepared.has_senders());
        }
    }
}
