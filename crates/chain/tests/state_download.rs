//! States that are downloaded and taken over without execution.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rhizome_chain::{
    Chain, ChainConfig, ChainError, DataDir, FoundLog, HeaderRun, ImportOutcome, LogFilter, LogSearchError,
    PreparedBlock, ProvenBlocks, STATE_CHUNK_BYTES, SnapshotHeights, StateDownload, StateDownloadError, StateHistory,
    StateSnapshot,
};
use rhizome_evm::Deadline;
use rhizome_primitives::{Address, B256, Block, Bytes, ChainSpec, Header, I256, U256, rlp};

use crate::{config, with_state};

const NOW: u64 = 1_700_000_000;
const PIVOT: u64 = 4;
const HEAD: u64 = 9;

fn settings(dir: &Path, snapshots: Option<SnapshotHeights>) -> ChainConfig {
    let defaults = config(ChainSpec::regtest(), Some(dir));
    let (proven_blocks, history) = (ProvenBlocks::Last(2), StateHistory::Last(20));
    ChainConfig { proven_blocks, history, snapshots, ..defaults }
}

fn open(dir: &Path, snapshots: Option<SnapshotHeights>) -> Result<Arc<Chain>, ChainError> {
    Chain::open(settings(dir, snapshots))
}

fn address(number: u64) -> Address {
    Address::from_word(B256::left_padding_from(&((number + 1) << 32 | 1).to_be_bytes()))
}

/// A chain whose state after block 4 has some thousand accounts, slots, and code, also code that several contracts have.
struct Source {
    _dir: tempfile::TempDir,
    chain: Arc<Chain>,
    snapshot: Arc<StateSnapshot>,
    blocks: Vec<Block>,
}

impl Source {
    fn new() -> Source {
        let dir = tempfile::tempdir().unwrap();
        let chain = open(dir.path(), Some(SnapshotHeights { interval: 10, first: PIVOT })).unwrap();
        chain.mine(NOW).unwrap();
        let filled = chain.change_state(|state| {
            for number in 0..3_000 {
                state.set_balance(address(number), I256::try_from(number + 1).unwrap())?;
                state.set_storage_word(address(number % 7), U256::from(number), U256::from(number + 5))?;
            }
            for number in 0..400_u64 {
                let account = address(10_000 + number);
                state.create_account(account)?;
                state.setup_contract(account)?;
                // Two accounts for each code.
                state.save_code(
                    account,
                    Bytes::from(vec![(number / 2 % 250) as u8 + 1; 24_000 + number as usize / 500]),
                )?;
            }
            Ok(())
        });
        filled.unwrap();
        while chain.head().number() < HEAD {
            chain.mine(NOW).unwrap();
        }
        let start = Instant::now();
        let snapshot = loop {
            if let Some(snapshot) = chain.state_snapshot(PIVOT).unwrap() {
                break snapshot;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "no snapshot");
            std::thread::sleep(Duration::from_millis(50));
        };
        let block = |number| chain.main_block(number).unwrap().unwrap().block.clone();
        let blocks = (1..=HEAD).map(block).collect();
        Source { _dir: dir, chain, snapshot, blocks }
    }

    fn chunk(&self, index: u64) -> (Vec<u8>, bool) {
        let chunk = self.snapshot.chunk(index * STATE_CHUNK_BYTES).unwrap().unwrap();
        (chunk.bytes, chunk.is_complete)
    }

    fn add(&self, download: &StateDownload, index: u64) {
        let (chunk, is_complete) = self.chunk(index);
        download.add_chunk(index, &chunk, is_complete).unwrap();
    }

    /// The pivot and the blocks below it, as a peer sends them.
    fn blocks_below(&self) -> Vec<PreparedBlock> {
        let below = self.blocks.iter().filter(|block| block.header.number <= PIVOT).rev();
        below.map(|block| PreparedBlock::new(block.clone())).collect()
    }

    fn difficulty(&self) -> U256 {
        self.chain.main_block(PIVOT).unwrap().unwrap().total_difficulty
    }
}

/// Adds the headers of all blocks.
fn add_headers(chain: &Chain, blocks: &[Block]) {
    let spec = ChainSpec::regtest();
    let compressed = blocks.iter().map(|block| block.header.encode_compressed());
    let header = |bytes: Vec<u8>| Header::from_compressed_item(&rlp::decode_list(&bytes).unwrap(), &spec).unwrap();
    let run = HeaderRun::verify(compressed.map(header).collect(), &spec, NOW).unwrap();
    let genesis = chain.main_hash(0).unwrap().unwrap();
    let parent = chain.headers().find(0, &genesis).unwrap().unwrap();
    let headers = chain.headers().attach(&parent, run).unwrap();
    chain.headers().adopt(&headers).unwrap();
}

fn import(chain: &Chain, blocks: &[Block]) {
    let blocks = blocks.iter().map(|block| Some(((), PreparedBlock::new(block.clone()))));
    let on_block = |(), outcome: ImportOutcome| {
        assert_eq!(outcome.name(), "IMPORTED_BEST");
        ControlFlow::Continue(())
    };
    chain.import_from_peers(blocks, on_block).unwrap();
}

/// Compares a chain with the source, up to its head.
fn expect_same(source: &Source, chain: &Chain) {
    let head = chain.head();
    let expected = source.chain.main_block(head.number()).unwrap().unwrap();
    assert_eq!((head.hash(), head.record.state_root), (expected.hash, expected.state_root));
    assert_eq!(head.record.total_difficulty, expected.total_difficulty);
    let got = chain.verify(with_state(PIVOT + 1, head.number()), |_| ControlFlow::Continue(()));
    let verified = got.unwrap();
    assert_eq!(verified.difference, None);
    assert!(verified.keys > 6_000, "{}", verified.keys);
    assert_eq!(verified.blocks, head.number() - PIVOT);
}

#[test]
fn a_state_is_taken_over_and_the_next_blocks_are_executed_on_it() {
    let source = Source::new();
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path(), None).unwrap();
    assert!(chain.can_take_over(PIVOT) && chain.resume_state_download().unwrap().is_none());
    add_headers(&chain, &source.blocks);
    let pivot = chain.state_pivot(PIVOT).unwrap();
    assert_eq!((pivot.number, pivot.hash), source.snapshot.block());
    let download = Arc::new(chain.begin_state_download(pivot).unwrap());
    assert_eq!((download.missing(9, |_| false), download.is_complete()), (vec![0], false));
    source.add(&download, 0);
    let total = download.progress().total_chunks;
    assert!(total > 150, "{total}");
    // A segment that is complete last, and one chunk twice.
    for index in (1..total).rev() {
        source.add(&download, index);
    }
    source.add(&download, 3);
    assert_eq!((download.missing(9, |_| false), download.is_complete()), (vec![], false));
    let mut blocks = source.blocks_below();
    assert_eq!(download.next_block(), Some((pivot.number, pivot.hash)));
    assert_eq!(download.add_blocks(&blocks[1..]).unwrap(), 0);
    assert!(matches!(chain.take_over_state(&download, U256::ZERO), Err(ChainError::IncompleteState { number: PIVOT })));
    assert_eq!(download.add_blocks(&blocks.split_off(1)).unwrap() + download.add_blocks(&blocks).unwrap(), 1);
    assert_eq!(download.add_blocks(&source.blocks_below()[1..]).unwrap(), 3);
    assert!(download.is_complete());
    // Too low: the right one follows from the blocks, which are there down to the first one.
    chain.take_over_state(&download, source.difficulty() - U256::from(2)).unwrap();

    let expected = source.blocks.iter().find(|block| block.header.number == PIVOT).unwrap();
    assert_eq!(chain.head().hash(), expected.hash());
    assert_eq!((chain.oldest_state(), chain.headers().len()), (PIVOT, 5));
    for number in 0..=PIVOT {
        let (own, block) = (chain.main_block(number).unwrap(), source.chain.main_block(number).unwrap());
        assert_eq!(own.map(|own| own.hash), block.map(|block| block.hash));
    }
    assert!(!dir.path().join("snap").exists());
    import(&chain, &source.blocks[PIVOT as usize..]);
    assert_eq!(chain.head().number(), HEAD);
    expect_same(&source, &chain);
    let (without, genesis) = (expected.hash(), chain.main_hash(0).unwrap().unwrap());
    let not_kept = |error| matches!(error, ChainError::ReceiptsNotKept { number: PIVOT, .. });
    assert!(chain.receipts(&without).is_err_and(not_kept) && chain.logs_in_block(&without).is_err_and(not_kept));
    assert!(chain.receipts(&genesis).unwrap().is_some_and(|receipts| receipts.is_empty()));
    let logs = |from| {
        let visit = &mut |_: FoundLog<'_>| ControlFlow::Continue(());
        chain.visit_logs(&LogFilter::default(), from, HEAD, &Deadline::none(), visit)
    };
    assert!(logs(PIVOT + 1).is_ok());
    let refused = logs(PIVOT);
    let Err(LogSearchError::Chain(ChainError::ReceiptsNotKept { number: PIVOT, first })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(first, PIVOT + 1);
    drop((chain, download));
    let chain = open(dir.path(), None).unwrap();
    expect_same(&source, &chain);
    assert!(chain.resume_state_download().unwrap().is_none());
    chain.mine(NOW).unwrap();
    assert!(!chain.can_take_over(PIVOT));
    let late = Arc::new(chain.begin_state_download(pivot).unwrap());
    assert!(matches!(chain.take_over_state(&late, U256::ZERO), Err(ChainError::HasBlocks)));
}

#[test]
fn a_download_continues_after_a_restart_with_what_is_missing() {
    let source = Source::new();
    let dir = tempfile::tempdir().unwrap();
    let mut total = 0;
    let mut added: Vec<u64> = Vec::new();
    for run in 0.. {
        let chain = open(dir.path(), None).unwrap();
        if run == 0 {
            add_headers(&chain, &source.blocks);
        }
        let resumed = chain.resume_state_download().unwrap();
        let download =
            resumed.unwrap_or_else(|| chain.begin_state_download(chain.state_pivot(PIVOT).unwrap()).unwrap());
        download.finish_segments().unwrap();
        let progress = download.progress();
        assert_eq!(chain.stored_state_progress().unwrap(), Some(progress));
        assert_eq!(progress.bytes, progress.total_bytes.min(progress.chunks * STATE_CHUNK_BYTES));
        if total > 0 {
            assert_eq!((download.progress().chunks, download.progress().total_chunks), (added.len() as u64, total));
        }
        let missing = download.missing(40, |_| false);
        for index in &missing {
            source.add(&download, *index);
            assert!(!added.contains(index), "chunk {index} twice");
            added.push(*index);
        }
        total = download.progress().total_chunks;
        let blocks = source.blocks_below();
        if let Some((number, _)) = download.next_block() {
            let next: Vec<PreparedBlock> =
                blocks.into_iter().filter(|block| block.block().header.number == number).collect();
            assert_eq!(download.add_blocks(&next).unwrap(), 1);
        }
        // A record that a kill has cut off.
        if let Some(log) = fs::read_dir(dir.path().join("snap")).unwrap().find_map(|entry| {
            let path = entry.unwrap().path();
            path.extension().is_some_and(|extension| extension == "chunks").then_some(path)
        }) {
            let mut content = fs::read(&log).unwrap();
            content.extend_from_within(..20_000);
            fs::write(&log, content).unwrap();
        }
        if missing.is_empty() {
            let download = Arc::new(download);
            chain.take_over_state(&download, source.difficulty()).unwrap();
            import(&chain, &source.blocks[PIVOT as usize..]);
            expect_same(&source, &chain);
            break;
        }
    }
    assert_eq!(added.len() as u64, total);
}

#[test]
fn wrong_chunks_and_a_damaged_file_are_asked_for_again() {
    let source = Source::new();
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path(), None).unwrap();
    add_headers(&chain, &source.blocks);
    let download = chain.begin_state_download(chain.state_pivot(PIVOT).unwrap()).unwrap();
    let (chunk, is_complete) = source.chunk(0);
    let refused = |index, chunk: &[u8], is_complete| {
        let result = download.add_chunk(index, chunk, is_complete);
        assert!(matches!(result, Err(StateDownloadError::Chunk(_))), "{result:?}");
    };
    // Of a different place, of a different state, cut, changed, "complete", empty.
    refused(1, &chunk, is_complete);
    refused(
        0,
        &source.chain.state_snapshot(0).unwrap().map_or(vec![], |own| own.chunk(0).unwrap().unwrap().bytes),
        true,
    );
    refused(0, &chunk[..chunk.len() - 1], is_complete);
    let mut changed = chunk.clone();
    changed[1_000] ^= 1;
    refused(0, &changed, is_complete);
    refused(0, &chunk, !is_complete);
    refused(0, &[], is_complete);
    assert_eq!(download.progress().chunks, 0);
    let files = fs::read_dir(dir.path().join("snap")).unwrap().count();
    assert_eq!(files, 1, "nothing but the pivot");

    source.add(&download, 0);
    // The disk changes a chunk of the first segment: all of it is missing again.
    let log = dir.path().join("snap/0000000000.chunks");
    let mut content = fs::read(&log).unwrap();
    content[2_000] ^= 1;
    fs::write(&log, content).unwrap();
    for index in 1..128 {
        source.add(&download, index);
    }
    assert_eq!(download.missing(1, |_| false), [0]);
    for index in 0..download.progress().total_chunks {
        source.add(&download, index);
    }
    assert!(download.missing(1, |_| false).is_empty());
}

#[test]
fn a_takeover_that_was_killed_is_finished_or_given_up_at_the_next_start() {
    let source = Source::new();
    for is_damaged in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let chain = open(dir.path(), None).unwrap();
        add_headers(&chain, &source.blocks);
        let genesis = chain.head().hash();
        let download = chain.begin_state_download(chain.state_pivot(PIVOT).unwrap()).unwrap();
        source.add(&download, 0);
        (1..download.progress().total_chunks).for_each(|index| source.add(&download, index));
        download.add_blocks(&source.blocks_below()).unwrap();
        let folder = dir.path().join("snap");
        if is_damaged {
            fs::remove_file(folder.join("0000000000.trie.sst")).unwrap();
        } else {
            // The blocks cannot be read: the state is taken over, the head is not.
            fs::rename(folder.join("blocks"), folder.join("hidden")).unwrap();
            fs::create_dir(folder.join("blocks")).unwrap();
        }
        chain.take_over_state(&Arc::new(download), source.difficulty()).unwrap_err();
        assert_eq!(chain.head().hash(), genesis);
        drop(chain);
        if !is_damaged {
            fs::remove_dir(folder.join("blocks")).unwrap();
            fs::rename(folder.join("hidden"), folder.join("blocks")).unwrap();
        }
        // A reader finishes it, too.
        let config = ChainConfig { data_dir: DataDir::ReadOnly(dir.path().into()), ..settings(dir.path(), None) };
        let found = Chain::open(config).unwrap().head().number();
        assert_eq!(found, if is_damaged { 0 } else { PIVOT });
        let chain = open(dir.path(), None).unwrap();
        if is_damaged {
            assert_eq!(chain.head().hash(), genesis);
            import(&chain, &source.blocks[..1]);
        } else {
            assert_eq!(chain.head().number(), PIVOT);
            import(&chain, &source.blocks[PIVOT as usize..]);
            expect_same(&source, &chain);
        }
        assert!(!folder.exists());
    }
}
