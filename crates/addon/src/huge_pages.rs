//! Huge pages of the system, for a large trie in memory.
//!
//! A block reads thousands of nodes all over the trie, and with pages of 4 KB the processor looks up most of their addresses in memory,
//! too: with huge pages an import takes 7 % less processor time at 5 million entries (blocks of 818 new entries, 4 GB for nodes). But they
//! hold memory that a small node does not have: in 512 MB a tenth more is read from the disk.

/// Memory for nodes from which huge pages are used.
#[cfg(target_os = "linux")]
const LEAST_TRIE_BYTES: usize = 1 << 30;

/// Sets whether memory that is used from now on may be in huge pages.
pub(crate) fn set_for_trie(trie_bytes: usize) {
    // A system that refuses decides itself.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(trie_bytes < LEAST_TRIE_BYTES);
    #[cfg(not(target_os = "linux"))]
    let _ = trie_bytes;
}
