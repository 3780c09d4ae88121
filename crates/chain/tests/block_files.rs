use std::ops::ControlFlow;

use rhizome_chain::{BlockFileError, Chain, ChainConfig, LineFault, LineResult};
use rhizome_primitives::ChainSpec;

use crate::corpus::fuzz_corpus;
use crate::mutation::with_random;
use crate::{config, lines, spec, temporary};

const CHAIN: &str = "min-gas";
const FILE: &str = "min-gas.blocks.txt.gz";

fn import(chain: &Chain, lines: &[String]) -> Result<u64, BlockFileError> {
    chain.import_blocks(lines.join("\n").as_bytes(), |_| ControlFlow::Continue(()))
}

/// Imports with the fourth line changed; the three before it must stay.
fn import_damaged(damage: impl Fn(&str) -> String) -> (BlockFileError, u64) {
    let chain = temporary(CHAIN);
    let mut lines = lines(FILE);
    lines[3] = damage(&lines[3]);
    let error = import(&chain, &lines).unwrap_err();
    (error, chain.head().number())
}

#[test]
fn an_export_equals_the_imported_file() {
    let chain = temporary(CHAIN);
    let lines = lines(FILE);
    let mut seen = Vec::new();
    let count = chain.import_blocks(lines.join("\n").as_bytes(), |line| {
        seen.push((line.line, line.number, line.result));
        ControlFlow::Continue(())
    });
    assert_eq!(count.unwrap(), 12);
    assert!(seen.into_iter().eq((1..=12).map(|number| (number, number, LineResult::Best))));
    let mut exported = Vec::new();
    assert_eq!(chain.export_blocks(1, u64::MAX, &mut exported, |_| ControlFlow::Continue(())).unwrap(), 12);
    assert_eq!(String::from_utf8(exported).unwrap(), lines.join("\n") + "\n");
    let known = chain.import_blocks(lines.join("\r\n").as_bytes(), |line| {
        assert_eq!(line.result, LineResult::Known);
        if line.line == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(known.unwrap(), 5);
}

#[test]
fn a_stop_drops_blocks_executed_ahead() {
    let chain = temporary("regtest-basic");
    let lines = lines("regtest-basic.blocks.txt.gz");
    let mut last = 0;
    let stopped = chain.import_blocks(lines.join("\n").as_bytes(), |line| {
        last += 1;
        assert_eq!(line.line, last);
        // The block is on disk when it is reported.
        assert!(chain.head().number() >= line.number);
        if line.line == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let stopped = stopped.unwrap();
    // Blocks that were written until then are reported, too. At most 64 blocks of a source are under way, the sixth first.
    assert!((5..=69).contains(&stopped), "{stopped}");
    assert_eq!((last, chain.head().number(), chain.highest_number().unwrap()), (stopped, stopped, stopped));
    assert_eq!(import(&chain, &lines).unwrap(), 230);
    assert_eq!(chain.head().number(), 230);
}

#[test]
fn stored_blocks_are_known() {
    let chain = temporary(CHAIN);
    let lines = lines(FILE);
    let order = [0, 0, 1, 2, 1, 2, 3, 3, 4];
    let again: Vec<&str> = order.iter().map(|index| lines[*index].as_str()).collect();
    let mut results = Vec::new();
    let count = chain.import_blocks(again.join("\n").as_bytes(), |line| {
        results.push(line.result == LineResult::Best);
        ControlFlow::Continue(())
    });
    assert_eq!(count.unwrap(), 9);
    assert_eq!(results, [true, false, true, true, false, false, true, false, true]);
    assert_eq!(chain.head().number(), 5);
}

/// The importer reads evicted values again, from disk or from a block in flight.
#[test]
fn an_import_works_with_small_caches() {
    for (chain, file, height) in [(CHAIN, FILE, 12), ("testnet-rules", "testnet-rules.blocks.txt.gz", 100)] {
        let dir = tempfile::tempdir().unwrap();
        let small = ChainConfig { cache_bytes: 1024, trie_bytes: 1024, ..config(spec(chain), Some(dir.path())) };
        let chain = Chain::open(small).unwrap();
        import(&chain, &lines(file)).unwrap();
        assert!(chain.head().number() >= height);
    }
}

#[test]
fn a_corrupt_line_is_reported_and_earlier_blocks_stay() {
    let (error, head) = import_damaged(|line| line.replace(',', ";"));
    assert!(matches!(error, BlockFileError { line: 4, fault: LineFault::Fields { count: 1 } }), "{error}");
    assert_eq!(head, 3);
    let (error, head) = import_damaged(|line| line[..line.len() - 2].to_owned());
    assert!(matches!(error, BlockFileError { line: 4, fault: LineFault::Decode(_) }), "{error}");
    assert_eq!(head, 3);
    let (error, head) = import_damaged(|_| String::new());
    assert!(matches!(error, BlockFileError { line: 4, fault: LineFault::Fields { .. } }), "{error}");
    assert_eq!(head, 3);
}

#[test]
fn a_line_that_contradicts_its_block_is_rejected() {
    let change = |field: usize, value: &'static str| {
        move |line: &str| {
            let mut fields: Vec<&str> = line.split(',').collect();
            fields[field] = value;
            fields.join(",")
        }
    };
    let (error, head) = import_damaged(change(0, "5"));
    assert!(matches!(error.fault, LineFault::Number { stated: 5, actual: 4 }), "{error}");
    assert_eq!(head, 3);
    let (error, head) = import_damaged(change(1, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"));
    assert!(matches!(error.fault, LineFault::Hash { .. }), "{error}");
    assert_eq!(head, 3);
    let (error, head) = import_damaged(change(2, "01"));
    assert!(matches!(error.fault, LineFault::TotalDifficulty { .. }), "{error}");
    assert_eq!((error.line, head), (4, 3));
}

#[test]
fn a_file_of_another_chain_is_rejected() {
    let chain = Chain::open(config(ChainSpec::regtest(), None)).unwrap();
    let error = import(&chain, &lines(FILE)).unwrap_err();
    assert!(matches!(error, BlockFileError { line: 1, fault: LineFault::NoParent { number: 1, .. } }), "{error}");
    assert_eq!(chain.head().number(), 0);
}

#[test]
fn a_file_that_begins_too_high_does_not_connect() {
    let error = import(&temporary(CHAIN), &lines(FILE)[1..]).unwrap_err();
    assert!(matches!(error, BlockFileError { line: 1, fault: LineFault::NoParent { number: 2, .. } }), "{error}");
}

/// Every damaged file ends with an error that names the line, and a longer valid prefix stays imported.
#[test]
fn fuzz_damaged_files() {
    let lines = lines(FILE);
    let chain = temporary(CHAIN);
    import(&chain, &lines[..3]).unwrap();
    let head = chain.head().hash();
    with_random(|random| {
        // An import starts threads, which takes its time.
        if random.below(8) != 0 {
            return;
        }
        let mut line = lines[random.below(lines.len())].clone().into_bytes();
        random.mutate(&mut line);
        if random.below(3) == 0 {
            line = random.bytes(300);
            line.iter_mut().for_each(|byte| *byte = b"0123456789abcdef,,\r\n"[usize::from(*byte % 20)]);
        }
        let imported = chain.import_blocks(line.as_slice(), |_| ControlFlow::Continue(()));
        // A blank at the end, another case or a leading zero change nothing about a line.
        if let Err(error) = imported {
            assert!((1..=300).contains(&error.line), "{error}");
        }
        if chain.head().hash() != head {
            chain.rewind(3).unwrap();
        }
    });
    assert_eq!(chain.head().hash(), head);
    assert_eq!(import(&chain, &lines).unwrap(), lines.len() as u64);
}

/// Like `fuzz_damaged_files`, but with files of several lines.
#[test]
fn fuzz_corpus_block_file() {
    let chain = temporary(CHAIN);
    import(&chain, &lines(FILE)[..3]).unwrap();
    let head = chain.head().hash();
    fuzz_corpus("block-file", 1, &[], |file, _| {
        let imported = chain.import_blocks(file, |_| ControlFlow::Continue(()));
        if let Err(error) = imported {
            assert!((1..=file.len() as u64 + 1).contains(&error.line), "{error}");
        }
        if chain.head().hash() != head {
            chain.rewind(3).unwrap();
        }
        assert_eq!(chain.head().hash(), head);
    });
}
