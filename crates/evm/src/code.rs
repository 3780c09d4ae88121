//! Code made ready for the interpreter, and the cache that spares making it ready again.

use std::sync::{Mutex, OnceLock, PoisonError};

use revm::bytecode::Bytecode;
use rhizome_primitives::{B256, Bytes};

use crate::hash_maps::HashMap;

/// First byte of a code header.
const HEADER: u8 = 0xfc;
/// Code shorter than this has no header.
const HEADER_LENGTH: usize = 4;
const DUPN: u8 = 0xa8;
const SWAPN: u8 = 0xa9;
/// An instruction that skips a byte can land inside the data of a PUSH and execute another PUSH there.
const PADDING: usize = 64;

/// Analysed code. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ExecutableCode {
    /// What runs. Differs from the code of the account if `original` says so.
    pub(crate) bytecode: Bytecode,
    /// Where execution starts; not inside the code if the header is longer than the code.
    pub(crate) start: u32,
    /// The code as contracts see it, where it is not the bytecode that runs.
    pub(crate) original: Option<Bytes>,
}

impl ExecutableCode {
    /// Analyses code. `has_old_opcodes`: DUPN and SWAPN exist (before RSKIP-191).
    pub(crate) fn analyse(code: Bytes, has_old_opcodes: bool) -> ExecutableCode {
        let start = header_length(&code);
        let skips_bytes = has_old_opcodes && code.iter().any(|byte| matches!(*byte, DUPN | SWAPN));
        if start == 0 && !skips_bytes {
            return ExecutableCode { bytecode: Bytecode::new_legacy(code), start: 0, original: None };
        }
        let mut patched = code.to_vec();
        // The analysis must not take the header for instructions; nothing executes or jumps there.
        let header_end = start.min(patched.len());
        patched.iter_mut().take(header_end).for_each(|byte| *byte = 0);
        if skips_bytes {
            patched.resize(patched.len() + PADDING, 0);
        }
        ExecutableCode { bytecode: Bytecode::new_legacy(patched.into()), start: start as u32, original: Some(code) }
    }

    /// Length of the code as contracts see it.
    pub(crate) fn length(&self) -> usize {
        self.original.as_ref().map_or(self.bytecode.len(), |code| code.len())
    }

    /// False if the code ends inside its header: the frame halts at once.
    pub(crate) fn can_start(&self) -> bool {
        self.start == 0 || (self.start as usize) < self.length()
    }
}

/// How many bytes of the code come before the first instruction.
fn header_length(code: &[u8]) -> usize {
    match code {
        [HEADER, _executable, _script, extension, ..] => HEADER_LENGTH + usize::from(*extension),
        _ => 0,
    }
}

const SHARDS: usize = 16;
/// Bytes of code that one shard keeps, counting the jump table as an eighth.
const SHARD_LIMIT: usize = 4 << 20;

type CodeKey = (B256, bool);

/// One part of the cache. Two generations stand in for a list of uses: what is found in the old one moves to the new
/// one, and when that is full it becomes the old one.
#[derive(Default)]
struct Shard {
    new: HashMap<CodeKey, ExecutableCode>,
    old: HashMap<CodeKey, ExecutableCode>,
    new_bytes: usize,
}

impl Shard {
    fn get(&mut self, key: &CodeKey) -> Option<ExecutableCode> {
        if let Some(found) = self.new.get(key) {
            return Some(found.clone());
        }
        let found = self.old.remove(key)?;
        self.insert(*key, found.clone());
        Some(found)
    }

    fn insert(&mut self, key: CodeKey, code: ExecutableCode) {
        let length = code.length();
        self.new_bytes += length + length / 8;
        self.new.insert(key, code);
        if self.new_bytes > SHARD_LIMIT / 2 {
            self.old = std::mem::take(&mut self.new);
            self.new_bytes = 0;
        }
    }
}

fn shard(hash: &B256) -> &'static Mutex<Shard> {
    static CACHE: OnceLock<[Mutex<Shard>; SHARDS]> = OnceLock::new();
    let shards = CACHE.get_or_init(Default::default);
    &shards[usize::from(hash[0]) % SHARDS]
}

/// The analysed code of that hash, if it was used lately.
pub(crate) fn cached(hash: &B256, has_old_opcodes: bool) -> Option<ExecutableCode> {
    let mut shard = shard(hash).lock().unwrap_or_else(PoisonError::into_inner);
    shard.get(&(*hash, has_old_opcodes))
}

/// Analyses code of a known hash and keeps it.
pub(crate) fn analyse_and_cache(hash: B256, code: Bytes, has_old_opcodes: bool) -> ExecutableCode {
    let executable = ExecutableCode::analyse(code, has_old_opcodes);
    let mut shard = shard(&hash).lock().unwrap_or_else(PoisonError::into_inner);
    shard.insert((hash, has_old_opcodes), executable.clone());
    executable
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jumps(code: &ExecutableCode) -> Vec<usize> {
        let table = code.bytecode.legacy_jump_table().unwrap();
        (0..code.bytecode.len()).filter(|pc| table.is_valid(*pc)).collect()
    }

    #[test]
    fn a_header_moves_the_start() {
        let code = ExecutableCode::analyse(Bytes::from_static(&[0xfc, 0x60, 0x5b, 1, 0x60, 0x5b, 0x00]), false);
        assert_eq!((code.start, code.can_start(), jumps(&code)), (5, true, vec![5]));
        assert_eq!(code.original.unwrap().to_vec(), [0xfc, 0x60, 0x5b, 1, 0x60, 0x5b, 0x00]);
    }

    #[test]
    fn a_header_may_be_longer_than_the_code() {
        let code = ExecutableCode::analyse(Bytes::from_static(&[0xfc, 0, 0, 9, 0x5b]), false);
        assert!(!code.can_start() && jumps(&code).is_empty());
        let code = ExecutableCode::analyse(Bytes::from_static(&[0xfc, 0, 0, 0]), false);
        assert!(!code.can_start());
        let code = ExecutableCode::analyse(Bytes::from_static(&[0xfc, 0, 0]), false);
        assert!(code.can_start() && code.start == 0);
    }

    #[test]
    fn code_with_skipping_instructions_is_padded() {
        let raw = Bytes::from_static(&[0xa8, 0x60, 0x7f]);
        assert!(ExecutableCode::analyse(raw.clone(), false).original.is_none());
        let code = ExecutableCode::analyse(raw, true);
        assert_eq!((code.length(), code.bytecode.len()), (3, 3 + PADDING));
    }

    #[test]
    fn the_cache_finds_what_it_was_given() {
        let hash = B256::repeat_byte(0x17);
        assert!(cached(&hash, true).is_none());
        analyse_and_cache(hash, Bytes::from_static(&[0x5b]), true);
        assert!(cached(&hash, true).is_some() && cached(&hash, false).is_none());
    }

    #[test]
    fn a_shard_forgets_what_is_not_used() {
        let mut shard = Shard::default();
        let big = ExecutableCode::analyse(Bytes::from(vec![0x5b; SHARD_LIMIT / 8]), false);
        let key = |byte: u8| (B256::repeat_byte(byte), false);
        for byte in 0..20 {
            shard.insert(key(byte), big.clone());
            assert!(shard.get(&key(0)).is_some() == (byte < 20));
        }
        assert!(shard.get(&key(0)).is_some() && shard.get(&key(3)).is_none());
    }
}
