//! Work on items ahead of their consumer, in order.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::import::priority::lowest_priority;

/// Reads items on all cores ahead of `consume`, which gets them in order on the calling thread until it breaks. At most `ahead`
/// items are under way.
pub(crate) fn read_ahead<T: Send, P: Send, B>(
    items: impl IntoIterator<Item = T>,
    ahead: usize,
    read: impl Fn(T) -> P + Sync,
    mut consume: impl FnMut(P) -> ControlFlow<B>,
) -> Option<B> {
    let mut items = items.into_iter();
    let Some(pool) = thread_pool() else {
        // No threads: one item after another.
        return items.find_map(|item| consume(read(item)).break_value());
    };
    let read = &read;
    pool.in_place_scope(|scope| {
        let mut waiting = VecDeque::new();
        loop {
            while waiting.len() < ahead {
                let Some(item) = items.next() else { break };
                let (sender, receiver) = sync_channel(1);
                // The receiver has closed if the consumer ended.
                scope.spawn(move |_| drop(sender.send(read(item))));
                waiting.push_back(receiver);
            }
            // A missing result means that a task panicked: the scope passes the panic on.
            let result = waiting.pop_front()?.recv().ok()?;
            if let ControlFlow::Break(value) = consume(result) {
                return Some(value);
            }
        }
    })
}

/// Starts separate threads: tasks of the importer in the common pool (the hashing of a trie) must not wait behind items whose turn
/// comes much later.
pub(crate) fn thread_pool() -> Option<ThreadPool> {
    let builder = ThreadPoolBuilder::new().thread_name(|index| format!("prepare-{index}"));
    builder.start_handler(|_index| lowest_priority()).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_arrive_in_order_until_the_consumer_breaks() {
        let mut seen = Vec::new();
        let last = read_ahead(
            0..1000_u32,
            16,
            |item| item * 2,
            |item| {
                seen.push(item);
                if item == 400 { ControlFlow::Break(item) } else { ControlFlow::Continue(()) }
            },
        );
        assert_eq!(last, Some(400));
        assert!(seen.into_iter().eq((0..=400).step_by(2)));
        assert_eq!(read_ahead(0..3, 1, |item| item, |_| ControlFlow::<()>::Continue(())), None);
    }
}
