//! Huge pages of the system, for a large trie in memory.
//!
//! A block reads thousands of nodes all over the trie, and with pages of 4 KB the processor looks up most of their addresses in memory,
//! too: with huge pages an import takes 7 % less processor time at 5 million entries (blocks of 818 new entries, 4 GB for nodes). But they
//! hold memory that a small node does not have: in 512 MB a tenth more is read from the disk.

/// Sets whether memory that is used from now on may be in huge pages.
pub(crate) fn allow(is_allowed: bool) {
    // A system that refuses decides itself.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(!is_allowed);
    #[cfg(not(target_os = "linux"))]
    let _ = is_allowed;
}
