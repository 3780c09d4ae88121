//! Code analysed for the interpreter, and a cache of analysed code.

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
/// Bytes of padding: an instruction that skips a byte can continue inside the data of a PUSH and execute a PUSH there.
const PADDING: usize = 64;

/// Analysed code. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ExecutableCode {
    /// The executed code.
    pub(crate) bytecode: Bytecode,
    /// Position of the first instruction. It is beyond the end of the code if the header is longer than the code.
    pub(crate) start: u32,
    /// The code as contracts see it, if it differs from the executed code.
    pub(crate) original: Option<Bytes>,
}

impl ExecutableCode {
    /// Analyses code. `has_old_opcodes`: whether DUPN and SWAPN are active (before RSKIP-191).
    pub(crate) fn analyse(code: Bytes, has_old_opcodes: bool) -> ExecutableCode {
        let start = header_length(&code);
        let skips_bytes = has_old_opcodes && code.iter().any(|byte| matches!(*byte, DUPN | SWAPN));
        if start == 0 && !skips_bytes {
            return ExecutableCode { bytecode: Bytecode::new_legacy(code), start: 0, original: None };
        }
        let mut patched = code.to_vec();
        // The analysis must not read the header as instructions. No instruction or jump reaches it.
        let header_end = start.min(patched.len());
        patched.iter_mut().take(header_end).for_each(|byte| *byte = 0);
        if skips_bytes {
            patched.resize(patched.len() + PADDING, 0);
        }
        ExecutableCode { bytecode: Bytecode::new_legacy(patched.into()), start: start as u32, original: Some(code) }
    }

    /// Returns the length of the code as contracts see it.
    pub(crate) fn length(&self) -> usize {
        self.original.as_ref().map_or(self.bytecode.len(), |code| code.len())
    }

    /// Whether the code continues after its header. Otherwise the frame halts at its start.
    pub(crate) fn can_start(&self) -> bool {
        self.start == 0 || (self.start as usize) < self.length()
    }
}

/// Returns the number of bytes before the first instruction.
fn header_length(code: &[u8]) -> usize {
    match code {
        [HEADER, _executable, _script, extension, ..] => HEADER_LENGTH + usize::from(*extension),
        _ => 0,
    }
}

const SHARDS: usize = 16;
/// Largest size of a shard in bytes. The jump table counts as an eighth of the code.
const SHARD_LIMIT: usize = 4 << 20;

type CodeKey = (B256, bool);

/// A part of the cache with its own lock. An entry that is found in the old generation moves to the new one. When the new
/// generation is full, it replaces the old one.
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

/// Returns the analysed code of a hash if the cache has it.
pub(crate) fn cached(hash: &B256, has_old_opcodes: bool) -> Option<ExecutableCode> {
    let mut shard = shard(hash).lock().unwrap_or_else(PoisonError::into_inner);
    shard.get(&(*hash, has_old_opcodes))
}

/// Analyses the code of a hash and adds it to the cache.
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
    fn a_header_precedes_the_first_instruction() {
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
    fn the_cache_returns_inserted_code() {
        let hash = B256::repeat_byte(0x17);
        assert!(cached(&hash, true).is_none());
        analyse_and_cache(hash, Bytes::from_static(&[0x5b]), true);
        assert!(cached(&hash, true).is_some() && cached(&hash, false).is_none());
    }

    #[test]
    fn a_shard_evicts_unused_code() {
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
