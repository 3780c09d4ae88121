//! Work that runs ahead of the one who consumes it, in order.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Blocks that are prepared ahead.
pub(crate) const BLOCKS_AHEAD: usize = 32;

/// Prepares items on all cores ahead of `consume`, which gets them in order on the calling thread until it breaks off.
/// At most `ahead` items are under way.
///
/// The threads are its own: tasks of the consumer (hashing a trie) in the common pool must not queue behind items
/// whose turn comes much later.
pub(crate) fn run_ahead<T: Send, P: Send, B>(
    mut items: impl Iterator<Item = T>,
    ahead: usize,
    prepare: impl Fn(T) -> P + Sync,
    mut consume: impl FnMut(P) -> ControlFlow<B>,
) -> Option<B> {
    let Some(pool) = pool() else {
        // No threads to be had: one after another.
        return items.find_map(|item| consume(prepare(item)).break_value());
    };
    let prepare = &prepare;
    pool.in_place_scope(|scope| {
        let mut waiting = VecDeque::new();
        loop {
            while waiting.len() < ahead {
                let Some(item) = items.next() else { break };
                let (sender, receiver) = sync_channel(1);
                // The receiver is gone when the consumer broke off.
                scope.spawn(move |_| drop(sender.send(prepare(item))));
                waiting.push_back(receiver);
            }
            // A missing answer means that a task panicked; the scope passes the panic on.
            let prepared = waiting.pop_front()?.recv().ok()?;
            if let ControlFlow::Break(value) = consume(prepared) {
                return Some(value);
            }
        }
    })
}

fn pool() -> Option<ThreadPool> {
    ThreadPoolBuilder::new().thread_name(|index| format!("prepare-{index}")).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order_and_stop_on_demand() {
        let mut seen = Vec::new();
        let last = run_ahead(
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
        assert_eq!(run_ahead(0..3, 1, |item| item, |_| ControlFlow::<()>::Continue(())), None);
    }
}
