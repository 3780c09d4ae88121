//! Templates of blocks for other miners, which find the proof of work of a Bitcoin block.

use std::collections::VecDeque;
use std::sync::Arc;

use rhizome_pow::{MiningSolution, SolveError, proof_of_work, target};
use rhizome_primitives::{B256, Block, U256};

use crate::error::ImportError;
use crate::import::head_writer::HeadWriter;
use crate::import::outcome::{BlockOrigin, ImportOutcome};
use crate::import::prepared_block::PreparedBlock;
use crate::mining::block_builder::BlockBuilder;
use crate::mining::block_template_options::BlockTemplateOptions;
use crate::mining::submission::{SubmissionError, SubmittedBlock};
use crate::mining::{MineError, Miner, fork_data};

/// Number of templates for which a solution is accepted.
const MAX_TEMPLATES: usize = 20;

/// Fees in percent of the last notified ones from which miners should change over.
const NOTIFIED_RISE_PERCENT: u64 = 110;

/// A block for a miner, without its proof of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockTemplate {
    /// The hash for merged mining that goes into the Bitcoin coinbase.
    pub hash: B256,
    /// Highest hash that a Bitcoin header may have.
    pub target: U256,
    /// Fees of the block, in wei.
    pub fees: U256,
    /// Hash of the parent.
    pub parent: B256,
    /// Whether miners should change over to it.
    pub notify: bool,
}

/// The templates of a chain.
#[derive(Default)]
pub(crate) struct BlockTemplates {
    current: Option<CurrentTemplate>,
    /// The last templates by their hash, oldest first.
    kept: VecDeque<(B256, Arc<Block>)>,
    /// Fees of the last template with a notification.
    notified_fees: U256,
    submitted_at: Option<u64>,
    /// Version of the state that the kept blocks are built on.
    state_version: u64,
}

/// The current template, with the versions that it was built from.
struct CurrentTemplate {
    template: BlockTemplate,
    generation: u64,
    pool_version: u64,
    at: u64,
    settings_version: u64,
}

impl BlockTemplates {
    /// Drops the templates of another state: they are no longer valid.
    fn follow_state(&mut self, state_version: u64) {
        if self.state_version != state_version {
            self.state_version = state_version;
            self.kept.clear();
        }
    }

    /// Adds a template. A known one keeps its age.
    fn keep(&mut self, hash: B256, block: Block) {
        let block = Arc::new(block);
        match self.kept.iter_mut().find(|(known, _)| *known == hash) {
            Some((_, known)) => *known = block,
            None => self.kept.push_back((hash, block)),
        }
        if self.kept.len() > MAX_TEMPLATES {
            self.kept.pop_front();
        }
    }

    /// Whether miners should change over: for another parent, and for much higher fees.
    fn is_worth_notifying(&self, parent: &B256, fees: U256, options: &BlockTemplateOptions) -> bool {
        if self.current.as_ref().is_none_or(|current| current.template.parent != *parent) {
            return true;
        }
        let raised = self.notified_fees.saturating_mul(U256::from(NOTIFIED_RISE_PERCENT)) / U256::from(100);
        fees > raised && fees >= options.notified_fees
    }

    fn find_for_submission(&mut self, hash: B256, now: u64, interval: u64) -> Result<Arc<Block>, SubmissionError> {
        if interval > 0 && self.submitted_at.is_some_and(|at| now.saturating_sub(at) < interval) {
            return Err(SubmissionError::TooSoon);
        }
        self.submitted_at = Some(now);
        let found = self.kept.iter().find(|(known, _)| *known == hash);
        found.map(|(_, block)| Arc::clone(block)).ok_or(SubmissionError::UnknownTemplate { hash })
    }
}

impl Miner {
    /// Returns the template on the best block. `None` if mining was never on; while mining is off the template stays the same.
    /// `now` is in seconds; the development offset is added to it and then ends.
    pub(crate) fn block_template(&self, now: u64) -> Result<Option<BlockTemplate>, MineError> {
        let mut templates = self.templates.lock();
        self.follow_head(&mut templates, now)?;
        Ok(templates.current.as_ref().map(|current| current.template))
    }

    /// [`Miner::block_template`] for a miner: the next caller does not get the request to change over.
    pub(crate) fn fetch_block_template(&self, now: u64) -> Result<Option<BlockTemplate>, MineError> {
        let mut templates = self.templates.lock();
        self.follow_head(&mut templates, now)?;
        Ok(templates.current.as_mut().map(|current| {
            let fetched = current.template;
            current.template.notify = false;
            fetched
        }))
    }

    /// Builds another template now, whether or not the current one is outdated.
    pub(crate) fn renew_block_template(&self, now: u64) -> Result<(), MineError> {
        self.build_template(&mut self.templates.lock(), now)
    }

    /// Completes the block that a solution is for and imports it. If it becomes the best block, the template on top of it is built
    /// at once.
    pub(crate) fn submit_solution(
        self: &Arc<Self>,
        solution: MiningSolution,
        now: u64,
    ) -> Result<SubmittedBlock, SubmissionError> {
        let hash = solution.hash_for_merged_mining()?;
        let miner = Arc::clone(self);
        let import = move |writer: &mut HeadWriter| miner.import_solution(writer, hash, &solution, now);
        let submitted = self.importer.run(import).map_err(ImportError::from)??;
        if matches!(submitted.outcome, ImportOutcome::ImportedBest) {
            // The solution is imported. A failure here shows again when the next template is requested.
            drop(self.follow_head(&mut self.templates.lock(), now));
        }
        Ok(submitted)
    }

    /// Runs on the importer: neither the head nor the state below the template changes meanwhile.
    fn import_solution(
        &self,
        writer: &mut HeadWriter,
        hash_for_merged_mining: B256,
        solution: &MiningSolution,
        now: u64,
    ) -> Result<SubmittedBlock, SubmissionError> {
        let BlockBuilder { config, publisher, .. } = &self.builder;
        let interval = config.block_templates.submission_interval;
        let template = {
            let mut templates = self.templates.lock();
            templates.follow_state(publisher.state_version());
            templates.find_for_submission(hash_for_merged_mining, now, interval)?
        };
        let mut block = Block::clone(&template);
        solution.complete(&mut block.header, &config.spec);
        let (hash, number) = (block.hash(), block.header.number);
        proof_of_work(&block.header, &config.spec).map_err(|source| SubmissionError::ProofOfWork {
            hash,
            hash_for_merged_mining,
            number,
            source: Box::new(source),
        })?;
        let outcome = writer.import(PreparedBlock::new(block), BlockOrigin::MiningSolution)?;
        Ok(SubmittedBlock { outcome, hash, number })
    }

    fn follow_head(&self, templates: &mut BlockTemplates, now: u64) -> Result<(), MineError> {
        let BlockBuilder { config, publisher, settings, .. } = &self.builder;
        if !settings.is_automining() {
            return Ok(());
        }
        let (generation, pool_version) = (publisher.head().generation, publisher.pool().version());
        let settings_version = settings.version();
        let is_fresh = templates.current.as_ref().is_some_and(|current| {
            current.generation == generation
                && current.settings_version == settings_version
                && (!config.block_templates.follows_pool || current.pool_version == pool_version)
                && now.saturating_sub(current.at) < config.block_templates.refresh_seconds
        });
        if is_fresh { Ok(()) } else { self.build_template(templates, now) }
    }

    fn build_template(&self, templates: &mut BlockTemplates, now: u64) -> Result<(), MineError> {
        let BlockBuilder { config, publisher, settings, reported, .. } = &self.builder;
        // Read before the block is built: a later change outdates the template.
        let (generation, pool_version) = (publisher.head().generation, publisher.pool().version());
        let (settings_version, state_version) = (settings.version(), publisher.state_version());
        let pending = self.builder.pending_block(now)?;
        settings.end_time_setting(pending.block.header.timestamp, now, false);
        publisher.pool().remove(&pending.unfit());
        reported.report(&pending.skipped, publisher.listeners());
        let header = &pending.block.header;
        let fork_data = fork_data(&self.builder, header, &pending.parent)?;
        if header.expects_fork_detection_data() && fork_data.is_none() {
            return Err(SolveError::NoForkData.into());
        }
        let hash = header.hash_for_mining_with(&fork_data.unwrap_or_default()).map_err(SolveError::from)?;
        let (parent, fees) = (pending.parent.hash, header.paid_fees);
        let notify = templates.is_worth_notifying(&parent, fees, &config.block_templates);
        if notify {
            templates.notified_fees = fees;
        }
        let template = BlockTemplate { hash, target: target(header.difficulty_value()), fees, parent, notify };
        templates.current = Some(CurrentTemplate { template, generation, pool_version, at: now, settings_version });
        templates.follow_state(state_version);
        templates.keep(hash, pending.block.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, ChainConfig, Clock, DataDir};
    use rhizome_bitcoin::coinbase::{synthetic, transaction_id};
    use rhizome_bitcoin::merkle::root_of;
    use rhizome_bitcoin::{BitcoinHeader, display};
    use rhizome_primitives::{Address, Bytes, ChainSpec, Transaction, UnsignedTransaction, hex, keccak256};

    const NOW: u64 = 1_700_000_000;

    fn open(change: impl FnOnce(&mut ChainConfig)) -> Arc<Chain> {
        let mut config = ChainConfig::new(Arc::new(ChainSpec::regtest()), DataDir::Temporary);
        config.clock = Clock::new(|| NOW);
        config.coinbase = Address::repeat_byte(0xc0);
        change(&mut config);
        let chain = Chain::open(config).unwrap();
        chain.set_automine(true);
        chain
    }

    /// Returns a Bitcoin block for a template. Each `extra` gives a different block.
    fn bitcoin_block(work: &BlockTemplate, extra: u32, is_solved: bool) -> MiningSolution {
        let coinbase = synthetic(&work.hash.0, extra);
        let root = root_of(&[transaction_id(&coinbase)]);
        let header = (0..).map(|nonce| BitcoinHeader::new(1, [0; 32], root, 5, 0, nonce));
        let is_below = |header: &BitcoinHeader| U256::from_be_bytes(display(header.hash())) <= work.target;
        let header = header.into_iter().find(|header| is_below(header) == is_solved).unwrap();
        MiningSolution::from_block(&[header.as_bytes().as_slice(), &[1], &coinbase].concat()).unwrap()
    }

    fn transfer(nonce: u64, gas_price: u64) -> Transaction {
        let unsigned = UnsignedTransaction {
            nonce: U256::from(nonce),
            gas_price: U256::from(gas_price),
            gas_limit: 30_000,
            to: Some(Address::ZERO),
            value: U256::from(3),
            data: Bytes::new(),
        };
        Transaction::sign(unsigned, 33, &keccak256("cow")).unwrap()
    }

    #[test]
    fn a_solution_becomes_the_best_block_once() {
        let chain = open(|_config| {});
        let work = chain.fetch_block_template(NOW).unwrap().unwrap();
        assert_eq!((work.parent, work.fees, work.notify), (chain.head().hash(), U256::ZERO, true));
        assert_eq!(work.target, U256::MAX / U256::from(3));
        let solution = bitcoin_block(&work, 1, true);
        let submitted = chain.submit_solution(&solution, NOW).unwrap();
        assert!(matches!(submitted.outcome, ImportOutcome::ImportedBest));
        assert_eq!((submitted.hash, submitted.number), (chain.head().hash(), 1));
        let head = chain.head();
        let header = &head.record.block.header;
        assert_eq!(header.hash_for_merged_mining().unwrap(), work.hash);
        assert_eq!(header.coinbase_address(), Address::repeat_byte(0xc0));
        assert!(matches!(chain.submit_solution(&solution, NOW).unwrap().outcome, ImportOutcome::Exists));
        let next = chain.fetch_block_template(NOW).unwrap().unwrap();
        assert_eq!((next.parent, next.notify), (submitted.hash, true));
        assert!(!chain.fetch_block_template(NOW).unwrap().unwrap().notify);
    }

    #[test]
    fn siblings_become_uncles_once() {
        let chain = open(|_config| {});
        let work = chain.fetch_block_template(NOW).unwrap().unwrap();
        let mut siblings = Vec::new();
        for extra in 0..12 {
            let submitted = chain.submit_solution(&bitcoin_block(&work, extra, true), NOW).unwrap();
            match submitted.outcome {
                ImportOutcome::ImportedBest => assert_eq!(extra, 0),
                ImportOutcome::ImportedNotBest => siblings.push(submitted.hash),
                other => panic!("{other:?}"),
            }
        }
        // The template was built before there were siblings.
        assert_eq!(chain.pending_block(NOW).unwrap().block.uncles.len(), 10);
        for left in [10, 1, 0] {
            chain.renew_block_template(NOW).unwrap();
            let work = chain.block_template(NOW).unwrap().unwrap();
            let submitted = chain.submit_solution(&bitcoin_block(&work, 0, true), NOW).unwrap();
            assert!(matches!(submitted.outcome, ImportOutcome::ImportedBest));
            let head = chain.head();
            let named: Vec<B256> = head.record.block.uncles.iter().map(|uncle| uncle.hash()).collect();
            assert_eq!(named.len(), left);
            assert_eq!(head.record.block.header.uncle_count as usize, left);
            siblings.retain(|hash| !named.contains(hash));
        }
        assert!(siblings.is_empty());
    }

    #[test]
    fn siblings_that_are_too_old_are_no_uncles() {
        let chain = open(|_config| {});
        let work = chain.fetch_block_template(NOW).unwrap().unwrap();
        (0..2).for_each(|extra| drop(chain.submit_solution(&bitcoin_block(&work, extra, true), NOW).unwrap()));
        let others = open(|config| config.extra_data = Bytes::from_static(b"x"));
        let block = |number| others.block(&others.main_hash(number).unwrap().unwrap()).unwrap().unwrap().block.clone();
        others.import_block(chain.main_block(1).unwrap().unwrap().block.clone()).unwrap();
        for number in 2..=7 {
            others.mine(NOW).unwrap();
            chain.import_block(block(number)).unwrap();
            let uncles = chain.pending_block(NOW).unwrap().block.uncles.len();
            assert_eq!(uncles, usize::from(number < 7), "a child of block {number}");
        }
    }

    #[test]
    fn wrong_solutions_are_rejected_in_the_words_of_the_reference() {
        let chain = open(|_config| {});
        let mut work = chain.fetch_block_template(NOW).unwrap().unwrap();
        let failure = chain.submit_solution(&bitcoin_block(&work, 0, false), NOW).unwrap_err().to_string();
        let expected = format!(" {} at height 1", hex::encode(work.hash));
        assert!(failure.starts_with("Invalid block supplied by miner: ") && failure.ends_with(&expected), "{failure}");
        work.hash = B256::repeat_byte(7);
        let failure = chain.submit_solution(&bitcoin_block(&work, 0, true), NOW).unwrap_err().to_string();
        let unknown = "07".repeat(32);
        assert_eq!(failure, format!("Cannot publish block, could not find hash 0x{unknown} in the cache"));
    }

    #[test]
    fn keeps_the_last_twenty_templates() {
        let chain = open(|_config| {});
        let templates: Vec<BlockTemplate> = (0..21)
            .map(|second| {
                chain.renew_block_template(NOW + second).unwrap();
                chain.block_template(NOW + second).unwrap().unwrap()
            })
            .collect();
        let submit = |index: usize| chain.submit_solution(&bitcoin_block(&templates[index], 0, true), NOW);
        assert!(matches!(submit(0), Err(SubmissionError::UnknownTemplate { hash }) if hash == templates[0].hash));
        assert!(matches!(submit(1).unwrap().outcome, ImportOutcome::ImportedBest));
        assert!(matches!(submit(20).unwrap().outcome, ImportOutcome::ImportedNotBest));
    }

    #[test]
    fn a_template_is_reused_until_it_is_outdated() {
        let chain = open(|config| config.block_templates.follows_pool = false);
        let first = chain.fetch_block_template(NOW).unwrap().unwrap();
        chain.submit(transfer(0, 20)).unwrap();
        let shown = |at| chain.block_template(at).unwrap().unwrap();
        assert_eq!(shown(NOW + 59).hash, first.hash);
        assert_eq!(shown(NOW + 60).fees, U256::from(21_000 * 20));
        chain.set_automine(false);
        chain.mine(NOW).unwrap();
        assert_eq!(shown(NOW + 600).parent, first.parent, "mining is off");
        chain.set_automine(true);
        assert_eq!(shown(NOW + 600).parent, chain.head().hash());
        chain.rewind(0).unwrap();
        assert_eq!(shown(NOW + 600).parent, first.parent);
        let never = open(|_config| {});
        never.set_automine(false);
        assert_eq!(never.block_template(NOW).unwrap(), None);
    }

    #[test]
    fn miners_are_notified_of_much_higher_fees() {
        let chain = open(|config| {
            config.block_templates = BlockTemplateOptions {
                follows_pool: true,
                notified_fees: U256::from(500_000),
                ..BlockTemplateOptions::default()
            };
        });
        assert!(chain.fetch_block_template(NOW).unwrap().unwrap().notify);
        let fetch = |nonce, price| {
            chain.submit(transfer(nonce, price)).unwrap();
            let work = chain.fetch_block_template(NOW).unwrap().unwrap();
            (work.fees.to::<u64>(), work.notify)
        };
        assert_eq!(fetch(0, 20), (420_000, false), "not worth it");
        assert_eq!(fetch(1, 10), (630_000, true));
        assert_eq!(fetch(2, 3), (693_000, false), "ten percent");
        assert_eq!(fetch(3, 1), (714_000, true));
    }

    #[test]
    fn submissions_have_a_minimum_interval() {
        let chain = open(|config| config.block_templates.submission_interval = 10);
        let work = chain.fetch_block_template(NOW).unwrap().unwrap();
        chain.submit_solution(&bitcoin_block(&work, 0, true), NOW).unwrap();
        let next = chain.fetch_block_template(NOW).unwrap().unwrap();
        let solution = bitcoin_block(&next, 0, true);
        assert!(matches!(chain.submit_solution(&solution, NOW + 9), Err(SubmissionError::TooSoon)));
        assert!(matches!(chain.submit_solution(&solution, NOW + 10).unwrap().outcome, ImportOutcome::ImportedBest));
    }

    #[test]
    fn the_development_offset_and_the_fixed_clock() {
        let chain = open(|config| config.has_fixed_clock = true);
        chain.increase_time(500);
        chain.renew_block_template(NOW).unwrap();
        assert_eq!(chain.time_offset(), 0);
        let work = chain.block_template(NOW).unwrap().unwrap();
        chain.submit_solution(&bitcoin_block(&work, 0, true), NOW).unwrap();
        assert_eq!(chain.head().record.block.header.timestamp, 500);
        assert_eq!(chain.pending_block(NOW).unwrap().block.header.timestamp, 500);
    }
}
