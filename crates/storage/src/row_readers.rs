//! Reads of many rows at once, on several threads.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads that read rows: each waits for the disk most of the time if the database is larger than the memory. An import in 512 MB took
/// 51.9 s with one thread and 31.4 s with 8; 16 bring nothing more (400 blocks of 818 new entries at 4.7 million).
const READING_THREADS: usize = 8;
/// Fewer rows are read by the thread that needs them.
const LEAST_PARALLEL_ROWS: usize = 32;
/// Fewest rows for a thread.
const LEAST_SHARE: usize = 16;
/// Rows that are read first, on the thread that needs them: if they are in memory, other threads only cost more, a tenth of the
/// processor time of an import with memory for all nodes.
const FIRST_ROWS: usize = 4;
/// Time for a row from which rows are read from the disk.
const DISK_READ: Duration = Duration::from_micros(20);
/// Reads that a thread waits for at the same time. A thread of a Rayon pool that waits for another pool takes another job of its pool, which
/// may read rows, too: the difference of thousands of blocks is loaded in thousands of jobs, and without a bound they overflow the stack.
const MOST_NESTED_READS: usize = 4;

thread_local! {
    /// Reads of other threads that this one waits for.
    static NESTED_READS: Cell<usize> = const { Cell::new(0) };
}

/// The reading threads of a database, for all its readers.
#[derive(Default)]
pub(crate) struct RowReaders {
    /// Started by the first read of many rows; `None` if the system refuses threads.
    threads: OnceLock<Option<ThreadPool>>,
}

impl RowReaders {
    /// Reads the rows of `keys`, in their order. `read`: reads those of a part of the keys.
    pub(crate) fn read<K: Sync, R: Send, E: Send>(
        &self,
        keys: &[K],
        read: impl Fn(&[K]) -> Result<Vec<R>, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let Some((first, rest)) = keys.split_at_checked(FIRST_ROWS).filter(|_| keys.len() >= LEAST_PARALLEL_ROWS)
        else {
            return read(keys);
        };
        let began = Instant::now();
        let mut rows = read(first)?;
        let is_on_disk = began.elapsed() >= DISK_READ * FIRST_ROWS as u32;
        let may_wait = NESTED_READS.get() < MOST_NESTED_READS;
        let Some(threads) = (is_on_disk && may_wait).then(|| self.threads.get_or_init(start).as_ref()).flatten() else {
            rows.extend(read(rest)?);
            return Ok(rows);
        };
        let share = rest.len().div_ceil(READING_THREADS).max(LEAST_SHARE);
        NESTED_READS.set(NESTED_READS.get().saturating_add(1));
        let parts = threads.install(|| rest.par_chunks(share).map(&read).collect::<Result<Vec<_>, _>>());
        NESTED_READS.set(NESTED_READS.get().saturating_sub(1));
        rows.extend(parts?.into_iter().flatten());
        Ok(rows)
    }
}

fn start() -> Option<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(READING_THREADS);
    builder.thread_name(|number| format!("read-rows-{number}")).build().ok()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use rhizome_primitives::{B256, Bytes};
    use rhizome_trie::NodeRows;

    use super::*;
    use crate::columns::TRIE;
    use crate::record::FlushedTrie;
    use crate::{ChainIdentity, NodeVersions, Store, StoreOptions};

    #[test]
    fn slow_rows_are_read_by_several_threads_and_in_the_order_of_their_keys() {
        let readers = RowReaders::default();
        for count in [31, 32, 33, 1000] {
            let keys: Vec<u16> = (0..count).collect();
            let read = |keys: &[u16]| {
                thread::sleep(DISK_READ * FIRST_ROWS as u32);
                let reader = thread::current().name().unwrap_or_default().to_owned();
                Ok::<_, ()>(keys.iter().map(|key| (*key, reader.clone())).collect())
            };
            let (rows, readers): (Vec<u16>, Vec<String>) = readers.read(&keys, read).unwrap().into_iter().unzip();
            assert_eq!(rows, keys);
            let others = readers.iter().filter(|reader| reader.starts_with("read-rows-")).count();
            assert_eq!(others, if count < 32 { 0 } else { usize::from(count) - FIRST_ROWS }, "{count}");
        }
    }

    #[test]
    fn reads_in_many_jobs_of_a_pool_are_nested_to_a_bound() {
        thread_local! {
            static DEPTH: Cell<usize> = const { Cell::new(0) };
        }
        let readers = RowReaders::default();
        let keys = [0; LEAST_PARALLEL_ROWS];
        let read = |keys: &[u8]| {
            thread::sleep(DISK_READ * FIRST_ROWS as u32);
            Ok::<_, ()>(keys.to_vec())
        };
        let depth = |_| {
            let depth = DEPTH.get() + 1;
            DEPTH.set(depth);
            assert_eq!(readers.read(&keys, read), Ok(keys.to_vec()));
            DEPTH.set(depth - 1);
            depth
        };
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let depths: Vec<usize> = pool.install(|| (0..200).into_par_iter().with_max_len(1).map(depth).collect());
        let deepest = depths.into_iter().max().unwrap_or_default();
        assert!((2..=MOST_NESTED_READS + 1).contains(&deepest), "{deepest}");
    }

    #[test]
    fn many_rows_are_in_the_order_of_their_keys() {
        let identity = ChainIdentity { chain_id: 33, genesis: B256::repeat_byte(1) };
        let options = StoreOptions { node_versions: NodeVersions::Current, ..StoreOptions::default() };
        let store = Store::open_temporary(&identity, &options).unwrap();
        let key = |number: u16| number.to_be_bytes().to_vec();
        let mut rows = NodeRows::default();
        let present = (0..1000).filter(|number| number % 3 > 0);
        present.for_each(|number| rows.push(&key(number), Some(&[number as u8; 90])));
        store.flush_trie(rows, FlushedTrie { number: 1, hash: B256::ZERO, root: B256::ZERO }).unwrap();
        for count in [1, 31, 32, 33, 1000] {
            let keys: Vec<_> = (0..count).map(key).collect();
            let read = store.database.rows(TRIE, &keys).unwrap();
            let expected = (0..count).map(|number| (number % 3 > 0).then(|| Bytes::from(vec![number as u8; 90])));
            assert!(read.into_iter().eq(expected), "{count}");
        }
    }
}
